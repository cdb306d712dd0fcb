package stoa.peers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import stoa.bench.remote.RemoteContender;
import stoa.programs.BackgroundProcess;

/// A broker of RabbitMQ with a folder of its own, from Debian's package, and the process `epmd`
/// that each node of Erlang needs.
final class RabbitServer implements AutoCloseable {
  private static final Path PROGRAMS = Path.of("/usr/lib/rabbitmq/lib");
  private static final String EPMD = "epmd";
  private static final long END_SECONDS_MAX = 20;

  private final BackgroundProcess process;
  private final BackgroundProcess names;
  private final int port;

  private RabbitServer(BackgroundProcess process, BackgroundProcess names, int port) {
    this.process = process;
    this.names = names;
    this.port = port;
  }

  /// Starts a broker.
  ///
  /// @param folder an empty folder for its data
  /// @throws RemoteContender.Missing when RabbitMQ is not installed
  static RabbitServer start(Path folder)
      throws IOException, InterruptedException, RemoteContender.Missing {
    Path program = program();
    Path config = folder.resolve("rabbitmq.conf");
    List<Integer> ports = FreePorts.some(3);
    int port = ports.getFirst();
    Files.writeString(
        config,
        """
        listeners.tcp.1 = 127.0.0.1:%d
        distribution.listener.interface = 127.0.0.1
        log.console = true
        log.console.level = info
        log.file = false
        """
            .formatted(port));
    int namesPort = ports.get(1);
    var environment =
        Map.ofEntries(
            Map.entry("HOME", folder.toString()), // for the cookie of Erlang
            Map.entry("ERL_EPMD_PORT", Integer.toString(namesPort)),
            Map.entry("ERL_EPMD_ADDRESS", "127.0.0.1"),
            Map.entry("RABBITMQ_NODENAME", "stoa@localhost"),
            Map.entry("RABBITMQ_DIST_PORT", Integer.toString(ports.getLast())),
            Map.entry("RABBITMQ_CONFIG_FILE", config.toString()),
            Map.entry("RABBITMQ_MNESIA_BASE", folder.resolve("data").toString()),
            Map.entry("RABBITMQ_LOG_BASE", folder.resolve("log").toString()),
            Map.entry("RABBITMQ_ENABLED_PLUGINS_FILE", folder.resolve("plugins").toString()),
            Map.entry("RABBITMQ_PID_FILE", folder.resolve("pid").toString()));
    var names = BackgroundProcess.start(List.of(EPMD), environment);
    try {
      var process = BackgroundProcess.start(List.of(program.toString()), environment);
      try {
        String _ = process.await("Server startup complete");
      } catch (IllegalStateException | InterruptedException failed) {
        process.close();
        throw failed;
      }
      return new RabbitServer(process, names, port);
    } catch (IOException | RuntimeException | InterruptedException failed) {
      names.close();
      throw failed;
    }
  }

  private static Path program() throws IOException, RemoteContender.Missing {
    if (Files.isDirectory(PROGRAMS)) {
      try (var versions = Files.list(PROGRAMS)) {
        for (Path version : versions.sorted().toList().reversed()) {
          Path program = version.resolve("sbin/rabbitmq-server");
          if (Files.isExecutable(program)) return program;
        }
      }
    }
    throw new RemoteContender.Missing(
        "RabbitMQ is not installed; install it: apt install rabbitmq-server");
  }

  int port() {
    return port;
  }

  /// Returns the processor time of its processes that are alive.
  Duration processorTime() {
    return process.processorTimeOfAll();
  }

  /// Ends all its processes. Does not wait when the caller is interrupted.
  @Override
  public void close() {
    var below =
        ProcessHandle.of(process.id()).map(ProcessHandle::descendants).stream()
            .flatMap(each -> each)
            .toList();
    process.close();
    names.close();
    for (var each : below) {
      try {
        each.onExit().get(END_SECONDS_MAX, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException e) {
        each.destroyForcibly();
      }
    }
  }
}
