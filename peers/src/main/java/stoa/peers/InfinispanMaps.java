package stoa.peers;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.infinispan.client.hotrod.DataFormat;
import org.infinispan.client.hotrod.RemoteCache;
import org.infinispan.client.hotrod.RemoteCacheManager;
import org.infinispan.client.hotrod.configuration.ClientIntelligence;
import org.infinispan.client.hotrod.configuration.ConfigurationBuilder;
import org.infinispan.commons.marshall.IdentityMarshaller;
import org.jspecify.annotations.Nullable;
import stoa.bench.maps.MapContender;
import stoa.bench.maps.OpenMap;
import stoa.bench.maps.ServedMaps;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.programs.BackgroundProcess;

/// The records of `./stoa bench records` in a cache of one Infinispan server.
public final class InfinispanMaps implements ServedMaps {
  // It keeps all records in memory, and on the disk.
  private static final List<String> HEAP = List.of("-Xms4g", "-Xmx4g");

  /// The maps.
  public InfinispanMaps() {}

  @Override
  public List<MapContender> contenders() {
    return List.of(new Durable());
  }

  private static final class Durable implements MapContender {
    @Override
    public String name() {
      return "Infinispan";
    }

    @Override
    public String how() {
      return "one server with a soft-index file store and syncWrites, and a heap of 4 GB";
    }

    @Override
    public OpenMap open(Path folder) throws Exception {
      var server =
          BackgroundProcess.java(
              InfinispanServer.class.getName(),
              HEAP,
              List.of(Persistence.SYNCED.name(), folder.toString()));
      try {
        int port = Integer.parseInt(server.await(InfinispanServer.LISTENING));
        var configuration = new ConfigurationBuilder();
        configuration
            .addServer()
            .host("127.0.0.1")
            .port(port)
            .clientIntelligence(ClientIntelligence.BASIC);
        return new Client(server, new RemoteCacheManager(configuration.build()));
      } catch (Exception e) {
        server.close();
        throw e;
      }
    }
  }

  private static final class Client implements OpenMap {
    private static final DataFormat BYTES =
        DataFormat.builder()
            .keyMarshaller(IdentityMarshaller.INSTANCE)
            .valueMarshaller(IdentityMarshaller.INSTANCE)
            .build();

    private final BackgroundProcess server;
    private final RemoteCacheManager client;
    private final RemoteCache<byte[], byte[]> values;

    Client(BackgroundProcess server, RemoteCacheManager client) {
      this.server = server;
      this.client = client;
      values = client.<byte[], byte[]>getCache(InfinispanServer.VALUES).withDataFormat(BYTES);
    }

    @Override
    public byte @Nullable [] get(String key) {
      return values.get(key.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void put(String key, byte[] value) {
      values.put(key.getBytes(StandardCharsets.UTF_8), value);
    }

    @Override
    public void close() {
      try (server) {
        client.stop();
      }
    }
  }
}
