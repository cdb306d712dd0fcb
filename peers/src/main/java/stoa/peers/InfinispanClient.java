package stoa.peers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.infinispan.client.hotrod.DataFormat;
import org.infinispan.client.hotrod.RemoteCache;
import org.infinispan.client.hotrod.RemoteCacheManager;
import org.infinispan.client.hotrod.configuration.ClientIntelligence;
import org.infinispan.client.hotrod.configuration.ConfigurationBuilder;
import org.infinispan.client.hotrod.configuration.ServerConfigurationBuilder;
import org.infinispan.commons.marshall.IdentityMarshaller;
import stoa.bench.machine.ServerJava;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.programs.BackgroundProcess;

/// Hot Rod servers in processes of their own, and a client of them.
///
/// @param servers the processes
/// @param manager the client
record InfinispanClient(List<BackgroundProcess> servers, RemoteCacheManager manager)
    implements AutoCloseable {
  private static final int ANSWER_TIMEOUT_MS = 60_000;

  static {
    // Before its first class: its client logs to the same place as everything here.
    System.setProperty("org.jboss.logging.provider", "slf4j");
  }

  private static final DataFormat BYTES =
      DataFormat.builder()
          .keyMarshaller(IdentityMarshaller.INSTANCE)
          .valueMarshaller(IdentityMarshaller.INSTANCE)
          .build();

  /// Starts one server and a client.
  ///
  /// @param folder an empty folder for the server's data
  /// @param heap options of Java for the server
  /// @param more adds to the configuration of the client
  static InfinispanClient start(
      Path folder, Persistence persistence, List<String> heap, Consumer<ConfigurationBuilder> more)
      throws Exception {
    var server =
        BackgroundProcess.java(
            InfinispanServer.class.getName(), heap, List.of(persistence.name(), folder.toString()));
    try {
      var configuration = new ConfigurationBuilder();
      add(server, configuration).clientIntelligence(ClientIntelligence.BASIC);
      more.accept(configuration);
      return new InfinispanClient(List.of(server), new RemoteCacheManager(configuration.build()));
    } catch (Exception e) {
      server.close();
      throw e;
    }
  }

  /// Starts several servers, of which two have each entry, and a client that asks an owner of the
  /// entry.
  ///
  /// @param folder an empty folder for the servers' data
  static InfinispanClient start(Path folder, Persistence persistence, int count) throws Exception {
    Path members = Files.createDirectories(folder.resolve("members"));
    var servers = new ArrayList<BackgroundProcess>();
    try {
      // A cold server on a busy machine may need longer than its client waits by default (2 s).
      var configuration = new ConfigurationBuilder().socketTimeout(ANSWER_TIMEOUT_MS).maxRetries(0);
      for (int i = 0; i < count; i++) {
        Path data = Files.createDirectories(folder.resolve("node" + i));
        servers.add(
            BackgroundProcess.java(
                InfinispanNode.class.getName(),
                ServerJava.HEAP,
                List.of(persistence.name(), data.toString(), members.toString())));
        // One after the other: each finds the earlier ones.
        var _ = add(servers.getLast(), configuration);
      }
      return new InfinispanClient(
          List.copyOf(servers), new RemoteCacheManager(configuration.build()));
    } catch (Exception e) {
      BackgroundProcess.closeAll(servers);
      throw e;
    }
  }

  /// Adds a server to a configuration when the server listens.
  private static ServerConfigurationBuilder add(
      BackgroundProcess server, ConfigurationBuilder configuration) throws InterruptedException {
    int port = Integer.parseInt(server.await(InfinispanServer.LISTENING));
    return configuration.addServer().host("127.0.0.1").port(port);
  }

  /// Returns a cache whose keys and values are bytes.
  RemoteCache<byte[], byte[]> bytes(String cache) {
    return manager.<byte[], byte[]>getCache(cache).withDataFormat(BYTES);
  }

  /// Returns the processor time that the servers have used so far.
  Duration processorTime() {
    return BackgroundProcess.processorTime(servers);
  }

  @Override
  public void close() {
    try {
      manager.stop();
    } finally {
      BackgroundProcess.killAll(servers);
    }
  }
}
