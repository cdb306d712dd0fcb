package stoa.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import stoa.programs.ChildProcess;

/// A Stoa server in a process of its own, on this machine.
///
/// Owned by one thread.
public final class ServerProcess implements AutoCloseable {
  private static final String LISTENING = "listening on ";
  private static final String HTTP = "http on ";
  private static final String READY = "ready";
  private static final int ANY_PORT = 0;
  private static final long STOPPING_MILLIS_MAX = 60_000;

  /// Where on this machine servers run.
  ///
  /// @param host the address that they listen on
  /// @param before a command that becomes the server's, for example in a network namespace
  /// @param flags of its Java, beside those of this process
  /// @param classPath the program of its first start
  public record Site(String host, List<String> before, List<String> flags, String classPath) {
    public static final Site LOOPBACK = new Site("127.0.0.1", List.of(), List.of());

    public Site(String host, List<String> before, List<String> flags) {
      this(host, before, flags, ChildProcess.classPath());
    }

    /// Returns this site with a program of another release.
    public Site withRelease(String otherClassPath) {
      return new Site(host, before, flags, otherClassPath);
    }

    /// Returns this site with other [#flags()].
    public Site with(List<String> others) {
      return new Site(host, before, others, classPath);
    }

    /// Returns whether the first start is of another release, whose store may have no secret.
    public boolean isOfOtherRelease() {
      return !classPath.equals(ChildProcess.classPath());
    }

    public boolean isLoopback() {
      return host.equals(LOOPBACK.host);
    }
  }

  private final ChildProcess child;
  private final Site site;
  private final List<String> options;
  private final int port;

  // Empty when it has no door for HTTP.
  private final String http;

  private ServerProcess(
      ChildProcess child, Site site, List<String> options, int port, String http) {
    this.child = child;
    this.site = site;
    this.options = options;
    this.port = port;
    this.http = http;
  }

  /// Starts a server on a directory, at a free port, and waits until it is ready.
  ///
  /// @throws IllegalStateException when it ends before
  public static ServerProcess start(Path directory) throws IOException {
    return start(directory, List.of());
  }

  /// Starts a server as [#start(Path)], with further options of the command.
  public static ServerProcess start(Path directory, List<String> further) throws IOException {
    return start(directory, ANY_PORT, further);
  }

  /// Starts a server on a directory, and waits until it is ready.
  ///
  /// @param port 0 for any
  /// @param further options of the command
  public static ServerProcess start(Path directory, int port, List<String> further)
      throws IOException {
    return start(Site.LOOPBACK, directory, port, further);
  }

  /// Starts a server as [#start(Path, int, List)], at a site.
  public static ServerProcess start(Site site, Path directory, int port, List<String> further)
      throws IOException {
    var options = new ArrayList<>(List.of("--data", directory.toString()));
    options.addAll(further);
    return start(site, options, port);
  }

  /// Starts the server again on the same directory, at the same port, with the program of this
  /// process.
  public ServerProcess startAgain() throws IOException {
    return start(site.withRelease(ChildProcess.classPath()), options, port);
  }

  private static ServerProcess start(Site site, List<String> options, int port) throws IOException {
    var command = new ArrayList<>(List.of("serve", "--listen", site.host() + ":" + port));
    command.addAll(options);
    var child =
        ChildProcess.start(
            ChildProcess.command(
                site.before(), Main.class.getName(), site.flags(), site.classPath(), command));
    try {
      int bound = port;
      String http = "";
      for (var line = child.line(); line.isPresent(); line = child.line()) {
        if (line.get().startsWith(LISTENING)) {
          bound = ListenAddress.of(line.get().substring(LISTENING.length())).port();
        }
        if (line.get().startsWith(HTTP)) http = line.get().substring(HTTP.length());
        if (line.get().equals(READY)) {
          drain(child);
          return new ServerProcess(child, site, options, bound, http);
        }
      }
    } catch (IOException | RuntimeException e) {
      child.close();
      throw e;
    }
    child.close();
    throw new IllegalStateException(
        "the server ended before it was ready; what it said stands above");
  }

  /// Reads its later output, which no other code does, so that it can go on writing.
  private static void drain(ChildProcess child) {
    Thread.ofPlatform()
        .daemon()
        .name("server-output")
        .start(() -> {
          try {
            while (child.line().isPresent()) {}
          } catch (IOException _) {
            // It has ended.
          }
        });
  }

  /// Returns the URL for clients.
  public String url() {
    return "stoa://" + address();
  }

  /// Returns its host and port.
  public String address() {
    return site.host() + ":" + port;
  }

  /// Returns the host and port of its door for HTTP; empty when it was started without `--http`.
  public String http() {
    return http;
  }

  /// Returns its port.
  public int port() {
    return port;
  }

  /// Returns the operating system's number of its process.
  public long id() {
    return child.id();
  }

  /// Returns its data directory.
  public String directory() {
    return options.get(options.indexOf("--data") + 1);
  }

  /// Returns the options with which another server joins this one.
  List<String> joining() {
    var options = new ArrayList<>(List.of("--join", address()));
    options.addAll(ServersSecret.options(Path.of(directory())));
    return options;
  }

  /// Returns a future that completes when it has ended.
  public CompletableFuture<Void> ended() {
    return ProcessHandle.of(id())
        .map(process -> process.onExit().thenAccept(_ -> {}))
        .orElseGet(() -> CompletableFuture.completedFuture(null));
  }

  /// Returns whether it is still running.
  public boolean isAlive() {
    return child.isAlive();
  }

  /// Waits until it ends by itself.
  ///
  /// @return its exit code
  int await() throws InterruptedException {
    return child.await();
  }

  /// Kills it at once, and waits for its end.
  public void kill() throws InterruptedException {
    child.kill();
    child.await();
    child.close();
  }

  /// Stops it with SIGSTOP, like a machine that hangs; its connections stay.
  public void pause() throws IOException, InterruptedException {
    signal("STOP");
  }

  /// Continues it after [#pause].
  public void resume() throws IOException, InterruptedException {
    signal("CONT");
  }

  private void signal(String name) throws IOException, InterruptedException {
    int code = new ProcessBuilder("kill", "-" + name, Long.toString(id())).start().waitFor();
    if (code != 0) throw new IllegalStateException("process " + id() + " took no signal " + name);
  }

  /// Ends it in an orderly way.
  ///
  /// @return whether it ended so
  public boolean stop() throws InterruptedException {
    child.stop();
    boolean ended = child.endsWithin(STOPPING_MILLIS_MAX);
    child.close();
    return ended;
  }

  @Override
  public void close() {
    child.close();
  }
}
