package stoa.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// Another process of this program, with its own JVM on the same class path. It does not outlive
/// this one.
///
/// One thread reads its lines; any thread may write to it, kill it or end it.
final class Child implements AutoCloseable {
  /// The exit code of a process that was killed.
  static final int KILLED = 128 + 9;

  private final Process process;
  // Process.destroyForcibly would close the pipe, with what is still in it.
  private final ProcessHandle handle;
  private final Thread orphan;
  private final BufferedReader lines;
  private final Writer input;

  private Child(Process process) {
    this.process = process;
    this.handle = process.toHandle();
    this.lines = process.inputReader();
    this.input = process.outputWriter();
    // Nothing is left running when this process is ended from outside.
    this.orphan = new Thread(process::destroyForcibly);
    Runtime.getRuntime().addShutdownHook(orphan);
  }

  /// Starts a command of this program.
  static Child start(List<String> arguments) throws IOException {
    return start(List.of(), List.of(), classPath(), arguments);
  }

  /// Starts a command of this program.
  ///
  /// @param before a command that becomes the one behind it, as `ip netns exec` does
  /// @param flags of Java, beside those of this process
  /// @param classPath with the program
  static Child start(
      List<String> before, List<String> flags, String classPath, List<String> arguments)
      throws IOException {
    var command = new ArrayList<>(before);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (var flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (!flag.startsWith("-agentlib:jdwp")) command.add(flag);
    }
    command.addAll(flags);
    command.addAll(List.of("-cp", classPath, Main.class.getName()));
    command.addAll(arguments);
    return new Child(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /// The class path of this process.
  static String classPath() {
    return System.getProperty("java.class.path");
  }

  /// The operating system's number of the process.
  long id() {
    return process.pid();
  }

  /// Whether it has not ended.
  boolean isAlive() {
    return process.isAlive();
  }

  /// The next line of its output that was written to its end; empty when there is none.
  Optional<String> line() throws IOException {
    var line = new StringBuilder();
    for (int c = lines.read(); c >= 0; c = lines.read()) {
      if (c == '\n') return Optional.of(line.toString());
      line.append((char) c);
    }
    return Optional.empty();
  }

  /// Writes a line to its input. A process that has ended does not get it.
  void write(String line) {
    try {
      input.write(line + "\n");
      input.flush();
    } catch (IOException _) {
      // Whoever reads its output sees that it has ended.
    }
  }

  /// Ends its input.
  void endInput() {
    try {
      input.close();
    } catch (IOException _) {
      // It has ended.
    }
  }

  /// Kills it at once, as the end of a machine would. What it wrote before can still be read.
  void kill() {
    handle.destroyForcibly();
  }

  /// Asks it to end in an orderly way.
  void stop() {
    handle.destroy();
  }

  /// Waits for its end, but not longer than that.
  ///
  /// @return whether it has ended
  boolean endsWithin(long millis) throws InterruptedException {
    return process.waitFor(millis, TimeUnit.MILLISECONDS);
  }

  /// Waits for its end.
  ///
  /// @return its exit code; [#KILLED] when it was killed
  int await() throws InterruptedException {
    return process.waitFor();
  }

  /// Kills it if it is still there, and waits for its end: it may hold what is taken away next.
  @Override
  public void close() {
    process.destroyForcibly();
    var _ = process.onExit().join();
    Runtime.getRuntime().removeShutdownHook(orphan);
  }
}
