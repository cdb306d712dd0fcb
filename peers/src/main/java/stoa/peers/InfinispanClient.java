package stoa.peers;

import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.infinispan.client.hotrod.DataFormat;
import org.infinispan.client.hotrod.RemoteCache;
import org.infinispan.client.hotrod.RemoteCacheManager;
import org.infinispan.client.hotrod.configuration.ClientIntelligence;
import org.infinispan.client.hotrod.configuration.ConfigurationBuilder;
import org.infinispan.commons.marshall.IdentityMarshaller;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.programs.BackgroundProcess;

/// One Hot Rod server in a process of its own, and a client of it.
///
/// @param server the process
/// @param manager the client
record InfinispanClient(BackgroundProcess server, RemoteCacheManager manager)
    implements AutoCloseable {
  private static final DataFormat BYTES =
      DataFormat.builder()
          .keyMarshaller(IdentityMarshaller.INSTANCE)
          .valueMarshaller(IdentityMarshaller.INSTANCE)
          .build();

  /// Starts both.
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
      int port = Integer.parseInt(server.await(InfinispanServer.LISTENING));
      var configuration = new ConfigurationBuilder();
      configuration
          .addServer()
          .host("127.0.0.1")
          .port(port)
          .clientIntelligence(ClientIntelligence.BASIC);
      more.accept(configuration);
      return new InfinispanClient(server, new RemoteCacheManager(configuration.build()));
    } catch (Exception e) {
      server.close();
      throw e;
    }
  }

  /// Returns a cache whose keys and values are bytes.
  RemoteCache<byte[], byte[]> bytes(String cache) {
    return manager.<byte[], byte[]>getCache(cache).withDataFormat(BYTES);
  }

  @Override
  public void close() {
    try (server) {
      manager.stop();
    }
  }
}
