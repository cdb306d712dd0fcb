package stoa.cassandra;

import java.io.File;
import java.io.IOException;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import stoa.bench.remote.RemoteContender;
import stoa.peers.FreePorts;
import stoa.programs.BackgroundProcess;

/// Nodes of Cassandra on the loopback device, each in a process and a folder of its own. They have
/// one address and different ports.
final class CassandraNodes implements AutoCloseable {
  /// When a node forces its commit log to the disk.
  enum Sync {
    /// Before it answers; changes that arrive meanwhile share the next one.
    BATCH("batch", "commitlog_sync: batch"),
    /// Every ten seconds.
    PERIODIC("periodic", "commitlog_sync: periodic\ncommitlog_sync_period: 10000ms");

    final String text;
    private final String setting;

    Sync(String text, String setting) {
      this.text = text;
      this.setting = setting;
    }
  }

  private static final String MAIN = "org.apache.cassandra.service.CassandraDaemon";
  private static final String READY = "Startup complete";
  private static final String HOST = "127.0.0.1";
  private static final String CONFIGURATION = "cassandra.yaml";
  private static final String LOGGING = "logback.xml";

  // The settings of the file jvm17-server.options of its distribution; its assertions stay off.
  private static final List<String> OPTIONS =
      List.of(
          "-XX:+UseG1GC",
          "-XX:+ParallelRefProcEnabled",
          "-XX:MaxTenuringThreshold=1",
          "-XX:MaxGCPauseMillis=300",
          "-XX:+PerfDisableSharedMem",
          "-Xss256k",
          "-Djava.net.preferIPv4Stack=true",
          "-Djdk.attach.allowAttachSelf=true",
          "-Dio.netty.tryReflectionSetAccessible=true",
          "-Dio.netty.allocator.useCacheForAllThreads=true",
          "-Dio.netty.allocator.maxOrder=11",
          // A node waits so long for others before it joins.
          "-Dcassandra.ring_delay_ms=5000",
          "-Dcassandra.skip_wait_for_gossip_to_settle=0",
          "-Dcassandra.superuser_setup_delay_ms=0");

  private static final List<String> EXPORTS =
      List.of(
          "java.base/jdk.internal.misc",
          "java.base/java.lang.ref",
          "java.management.rmi/com.sun.jmx.remote.internal.rmi",
          "java.rmi/sun.rmi.registry",
          "java.rmi/sun.rmi.server",
          "java.sql/java.sql",
          "jdk.unsupported/sun.misc");

  private static final List<String> OPENS =
      List.of(
          "java.base/java.io",
          "java.base/java.lang",
          "java.base/java.lang.module",
          "java.base/java.lang.reflect",
          "java.base/java.nio",
          "java.base/java.util",
          "java.base/java.util.concurrent",
          "java.base/java.util.concurrent.atomic",
          "java.base/jdk.internal.loader",
          "java.base/jdk.internal.math",
          "java.base/jdk.internal.module",
          "java.base/jdk.internal.ref",
          "java.base/jdk.internal.reflect",
          "java.base/jdk.internal.util.jar",
          "java.base/sun.nio.ch",
          "jdk.management/com.sun.management.internal");

  // Each node has one token; the tokens divide the ring of the Murmur3 partitioner evenly.
  private static final BigInteger RING = BigInteger.ONE.shiftLeft(64);

  private static final String LOGBACK =
      """
      <configuration>
        <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
          <encoder><pattern>%-5level %logger{0} %msg%n</pattern></encoder>
        </appender>
        <logger name="org.apache.cassandra.service.CassandraDaemon" level="INFO"/>
        <root level="WARN"><appender-ref ref="OUT"/></root>
      </configuration>
      """;

  private final List<BackgroundProcess> processes = new ArrayList<>();
  private final List<InetSocketAddress> addresses = new ArrayList<>();

  private CassandraNodes() {}

  /// Starts nodes, one after the other, since each asks the first one for the others.
  ///
  /// @param folder an empty folder
  /// @param heap the options of Java of each node
  /// @throws RemoteContender.Missing when they cannot run on this machine
  static CassandraNodes start(Path folder, int count, Sync sync, List<String> heap)
      throws IOException, InterruptedException, RemoteContender.Missing {
    Path java = CassandraJava.find();
    String classPath = CassandraLibraries.classPath();
    List<Integer> ports = FreePorts.some(2 * count);
    var nodes = new CassandraNodes();
    try {
      for (int i = 0; i < count; i++) {
        Path own = Files.createDirectory(folder.resolve("node" + i));
        int nativePort = ports.get(2 * i + 1);
        Files.writeString(
            own.resolve(CONFIGURATION),
            configuration(own, i, count, ports.get(2 * i), nativePort, ports.getFirst(), sync));
        Files.writeString(own.resolve(LOGGING), LOGBACK);
        var process = BackgroundProcess.start(command(java, classPath, own, heap), Map.of());
        nodes.processes.add(process);
        process.await(READY);
        nodes.addresses.add(new InetSocketAddress(InetAddress.getLoopbackAddress(), nativePort));
      }
      return nodes;
    } catch (IOException | InterruptedException | RuntimeException failed) {
      nodes.close();
      throw failed;
    }
  }

  private static List<String> command(Path java, String classPath, Path folder, List<String> heap) {
    var command = new ArrayList<>(List.of(java.toString()));
    command.addAll(heap);
    command.addAll(OPTIONS);
    for (String each : EXPORTS) command.addAll(List.of("--add-exports", each + "=ALL-UNNAMED"));
    for (String each : OPENS) command.addAll(List.of("--add-opens", each + "=ALL-UNNAMED"));
    Stream.of(classPath.split(File.pathSeparator, -1))
        .filter(jar -> String.valueOf(Path.of(jar).getFileName()).startsWith("jamm-"))
        .forEach(jar -> command.add("-javaagent:" + jar));
    command.addAll(
        List.of(
            "-Dcassandra.config=" + folder.resolve(CONFIGURATION).toUri(),
            "-Dlogback.configurationFile=" + folder.resolve(LOGGING).toUri(),
            "-Dcassandra.storagedir=" + folder,
            "-Dcassandra.logdir=" + folder.resolve("logs"),
            "-Djava.io.tmpdir=" + folder,
            "-Djna.tmpdir=" + folder,
            "-Dcassandra-foreground=yes",
            "-cp",
            classPath,
            MAIN));
    return command;
  }

  private static String configuration(
      Path folder, int node, int nodes, int port, int nativePort, int seedPort, Sync sync) {
    BigInteger token =
        RING.multiply(BigInteger.valueOf(node))
            .divide(BigInteger.valueOf(nodes))
            .subtract(RING.shiftRight(1))
            .add(BigInteger.ONE);
    return """
    cluster_name: stoa-bench
    num_tokens: 1
    initial_token: '%s'
    auto_bootstrap: false
    partitioner: org.apache.cassandra.dht.Murmur3Partitioner
    endpoint_snitch: SimpleSnitch
    seed_provider:
      - class_name: org.apache.cassandra.locator.SimpleSeedProvider
        parameters:
          - seeds: '%s:%d'
    listen_address: %s
    rpc_address: %s
    storage_port: %d
    native_transport_port: %d
    data_file_directories: ['%s']
    commitlog_directory: '%s'
    saved_caches_directory: '%s'
    hints_directory: '%s'
    cdc_raw_directory: '%s'
    auto_snapshot: false
    %s
    # A busy machine makes answers late. It does not make them failures.
    read_request_timeout: 60s
    range_request_timeout: 60s
    write_request_timeout: 60s
    request_timeout: 60s
    native_transport_timeout: 60s
    """
        .formatted(
            token,
            HOST,
            seedPort,
            HOST,
            HOST,
            port,
            nativePort,
            folder.resolve("data"),
            folder.resolve("commitlog"),
            folder.resolve("caches"),
            folder.resolve("hints"),
            folder.resolve("cdc"),
            sync.setting);
  }

  /// Returns the addresses at which clients reach them.
  List<InetSocketAddress> addresses() {
    return List.copyOf(addresses);
  }

  /// Returns the processor time that they have used so far.
  Duration processorTime() {
    return BackgroundProcess.processorTime(processes);
  }

  @Override
  public void close() {
    BackgroundProcess.closeAll(processes);
  }
}
