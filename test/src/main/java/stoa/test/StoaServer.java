package stoa.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.storage.disk.SimulatedDisk;

/// A server in this process, with faults: one that keeps its store alone, or one of a
/// [StoaCluster]. It is the server that `./stoa serve` starts, on a disk in memory, behind a port
/// of the loopback device that stays the same over restarts.
///
/// In one process a server is killed by taking its disk and its connections away before it is
/// closed: it can write nothing more, and answers no client. A paused server goes on to run, but
/// nothing comes in or goes out, and its disk does not answer.
///
/// Clients of a server that was restarted go on: they repeat calls in progress, and the server
/// executes each once.
///
/// Thread-safe, except that one thread at a time ends and starts it.
public final class StoaServer implements AutoCloseable {
  private static final String DEVICE = "store";

  private final String name;
  private final StoaConfig config;
  private final StoaClock clock;
  private final StoaDisk disk;
  private final Front front;
  private final Program program;
  private final Supplier<String> url;
  private final Clients clients;
  private volatile boolean running;
  private volatile boolean paused;
  private volatile boolean cut;

  StoaServer(
      String name,
      StoaConfig config,
      StoaClock clock,
      StoaDisk disk,
      Front front,
      Program program,
      Supplier<String> url) {
    this.name = name;
    this.config = config;
    this.clock = clock;
    this.disk = disk;
    this.front = front;
    this.program = program;
    this.url = url;
    this.clients = new Clients(config, url);
  }

  /// Starts a server with an empty store and the standard configuration, which the caller closes.
  public static StoaServer start() {
    return start(TestDefaults.standard());
  }

  /// Starts a server with an empty store, which the caller closes.
  ///
  /// @param config the types, limits and [StoaConfig#keep()] of the store, and the limits of
  ///   clients; the server ignores its URL
  public static StoaServer start(StoaConfig config) {
    return start(config, new StoaClock());
  }

  static StoaServer start(StoaConfig config, StoaClock clock) {
    var disk = new StoaDisk();
    var front = new Front();
    var program = new Alone(config.withUrl("memory:"), clock, disk);
    var server =
        new StoaServer(
            "server", config, clock, disk, front, program, () -> "stoa://" + front.address());
    try {
      server.begin();
      return server;
    } catch (RuntimeException | Error failed) {
      front.close();
      throw failed;
    }
  }

  /// A server that keeps its store alone.
  private static final class Alone implements Program {
    private final StoaConfig config;
    private final StoaClock clock;
    private final StoaDisk disk;
    private final ClassLoader loader = Loaders.ofTest();
    private @Nullable Server server;

    private Alone(StoaConfig config, StoaClock clock, StoaDisk disk) {
      this.config = config;
      this.clock = clock;
      this.disk = disk;
    }

    @Override
    public int start() throws IOException {
      Stoa store =
          Loaders.within(
              loader,
              () ->
                  EmbeddedEngine.open(
                      config, () -> disk.open(DEVICE), clock.clock(), clock.threads()));
      try {
        var started =
            Server.start(ServerConfig.of("127.0.0.1", 0), ObjectService.of(store, _ -> true));
        server = started;
        return started.port();
      } catch (IOException | RuntimeException | Error failed) {
        store.close();
        throw failed;
      }
    }

    @Override
    public void halt() {
      Server ended = server;
      server = null;
      if (ended != null) ended.halt();
    }

    @Override
    public void stop() {
      Server ended = server;
      server = null;
      if (ended != null) ended.close();
    }
  }

  /// Starts the program behind the port.
  void begin() {
    try {
      front.leadsTo(program.start());
      running = true;
    } catch (IOException failed) {
      throw new UncheckedIOException(name + " cannot be started", failed);
    }
  }

  // ---- what it is

  /// Returns its name among the servers of its cluster.
  public String name() {
    return name;
  }

  /// Returns the URL by which programs open its store, `stoa://HOST:PORT`: of a server of a
  /// cluster, that of the whole cluster.
  public String url() {
    return url.get();
  }

  /// Returns a client of the store, which all callers of this share. The server closes it.
  public Stoa client() {
    return clients.shared();
  }

  /// Opens another client of the store, with a session of its own. The server closes it, unless the
  /// caller has.
  public Stoa openClient() {
    return clients.open();
  }

  /// Returns its disk.
  public StoaDisk disk() {
    return disk;
  }

  /// Returns its clock, which all servers of a cluster share.
  public StoaClock clock() {
    return clock;
  }

  /// Returns whether it runs: it was started, and neither killed nor stopped since. A paused server
  /// runs.
  public boolean isRunning() {
    return running;
  }

  // ---- its end

  /// Ends the server as the end of its process does: what it has written stays on its disk, it
  /// writes nothing more, and its connections end.
  ///
  /// @throws IllegalStateException when it does not run
  public void kill() {
    end(disk::kill);
  }

  /// Ends the server as a power failure does: what it has synced stays on its disk. Of what it has
  /// written since, each sector stays or is lost. (The log by which the servers of a cluster agree
  /// is in a directory of files, and keeps what it has written.)
  ///
  /// @throws IllegalStateException when it does not run
  public void losePower() {
    end(disk::losePower);
  }

  private void end(Runnable fate) {
    requireRunning();
    running = false;
    front.leadsTo(0);
    fate.run();
    Abrupt.run(program::halt);
    resume();
  }

  /// Ends the server in good order: it answers the calls in progress, and hands its leaderships to
  /// other servers.
  ///
  /// @throws IllegalStateException when it does not run
  public void stop() {
    requireRunning();
    resume();
    program.stop();
    running = false;
    front.leadsTo(0);
  }

  private void requireRunning() {
    if (!running) throw new IllegalStateException(name + " does not run; call restart() first");
  }

  /// Starts the server again on what its disk has, after [#kill()], [#losePower()] or [#stop()], or
  /// after a failure of its disk. Clients find it where it was.
  ///
  /// @throws IllegalStateException when it runs
  /// @throws Unavailable when it cannot open its store, for example because its disk fails
  public void restart() {
    if (running) {
      throw new IllegalStateException(name + " runs; call kill(), losePower() or stop() first");
    }
    begin();
  }

  // ---- its network

  /// Pauses the server, until [#resume()]: no message reaches the server or leaves it, and its disk
  /// does not answer. Its connections stay. The other servers of a cluster elect another leader
  /// meanwhile. Unlike those of a stopped process, the threads of the server continue to run.
  ///
  /// @throws IllegalStateException when it does not run
  public void pause() {
    requireRunning();
    paused = true;
    disk.pause();
    front.hold();
  }

  /// Ends a pause.
  public void resume() {
    paused = false;
    disk.resume();
    if (!cut) front.open();
  }

  /// Cuts the clients off, until [#connectClients()]: their connections end, and they cannot
  /// connect again. Servers of a cluster still reach each other; see [StoaCluster#partition].
  public void cutClients() {
    cut = true;
    front.cut();
  }

  /// Lets clients connect again.
  public void connectClients() {
    cut = false;
    if (!paused) front.open();
  }

  boolean isPaused() {
    return paused;
  }

  Front front() {
    return front;
  }

  /// Returns a copy of the disk as it is now, of a server that keeps its store alone.
  SimulatedDisk copy() {
    return disk.copy(DEVICE);
  }

  StoaConfig config() {
    return config;
  }

  /// Ends the server at once, and the clients that were opened here.
  @Override
  public void close() {
    Closing.all(
        List.of(
            clients,
            this::resume,
            () -> {
              if (running) disk.close(program::halt);
              running = false;
            },
            front));
  }
}
