package stoa.trials;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Runs commands of the operating system that only root may run.
final class Root {
  private Root() {}

  /// Refuses to continue without root.
  ///
  /// @param scenario the scenario that needs it
  /// @param what the purpose
  /// @throws IllegalStateException naming the remedy
  static void require(String scenario, String what) throws IOException, InterruptedException {
    if (run("id", "-u").equals("0")) return;
    throw new IllegalStateException(
        "the scenario "
            + scenario
            + " needs root on Linux, to make "
            + what
            + "; run it with sudo, or in a container of its own");
  }

  /// Runs a command; returns its output.
  ///
  /// @throws IllegalStateException when it fails
  static String run(String... command) throws IOException, InterruptedException {
    var process = new ProcessBuilder(command).redirectErrorStream(true).start();
    var said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    int code = process.waitFor();
    if (code == 0) return said;
    throw new IllegalStateException(String.join(" ", List.of(command)) + ": " + said);
  }
}
