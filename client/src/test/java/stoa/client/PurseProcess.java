package stoa.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import stoa.Reads;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.UnknownOutcome;

/// A client in a process of its own, which does what it is told line by line. One thread uses it.
final class PurseProcess implements AutoCloseable {
  /* The views that the process has had made. */
  private static final List<Object> VIEWS = new ArrayList<>();

  private final Process process;
  private final BufferedReader answers;

  PurseProcess(int port, String kind) throws IOException {
    String java = System.getProperty("java.home") + "/bin/java";
    process =
        new ProcessBuilder(
                List.of(
                    java,
                    "--sun-misc-unsafe-memory-access=allow",
                    "--enable-native-access=ALL-UNNAMED",
                    "-Xmx64m",
                    "-XX:TieredStopAtLevel=1",
                    "-cp",
                    System.getProperty("java.class.path"),
                    PurseProcess.class.getName(),
                    Integer.toString(port),
                    kind))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    answers =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /// Does it, and answers what came of it.
  String does(String what) throws IOException {
    say(what);
    return answer();
  }

  void say(String what) throws IOException {
    process.getOutputStream().write((what + "\n").getBytes(StandardCharsets.UTF_8));
    process.getOutputStream().flush();
  }

  String answer() throws IOException {
    return Objects.requireNonNull(answers.readLine(), "the process has ended");
  }

  /// Ends it as `kill -9` does.
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  /// Has it do nothing at all until it is to go on.
  void signal(String name) throws IOException, InterruptedException {
    var sent = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
    if (sent.waitFor() != 0) throw new IOException("no signal " + name);
  }

  @Override
  public void close() throws IOException {
    try {
      process.getOutputStream().close();
      if (!process.waitFor(20, TimeUnit.SECONDS)) process.destroyForcibly();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      process.destroyForcibly();
    }
  }

  /// The process.
  public static void main(String[] args) throws IOException {
    var membership = args[1].equals("inner") ? TreeMembership.inner() : TreeMembership.leaf();
    var config = StoaConfig.of("stoa://127.0.0.1:" + args[0]).withMembership(membership);
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (var stoa = Stoa.open(config)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        IO.println(done(stoa, line.split(" ")));
      }
    }
  }

  private static String done(Stoa stoa, String[] words) {
    if (words[0].equals("lent")) {
      var view = RemoteLendingTest.lent(stoa, words[1], Reads.STRICT);
      if (!VIEWS.contains(view)) VIEWS.add(view);
      return Long.toString(view.add(Long.parseLong(words[2])));
    }
    var purse = stoa.get(MigratingTest.Purse.class, words[1], 100L);
    try {
      return switch (words[0]) {
        case "add" -> Long.toString(purse.add(Long.parseLong(words[2])));
        case "balance" -> Long.toString(purse.balance());
        case "flush" -> {
          stoa.flush();
          yield "flushed";
        }
        default -> "nobody knows how to " + words[0];
      };
    } catch (UnknownOutcome lost) {
      return "lost";
    }
  }
}
