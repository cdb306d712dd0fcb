package stoa.peers;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.infinispan.client.hotrod.RemoteCache;
import org.jspecify.annotations.Nullable;
import stoa.bench.maps.MapContender;
import stoa.bench.maps.OpenMap;
import stoa.bench.maps.ServedMaps;
import stoa.bench.remote.RemoteContender.Persistence;

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
      return new Client(InfinispanClient.start(folder, Persistence.SYNCED, HEAP, _ -> {}));
    }
  }

  private static final class Client implements OpenMap {
    private final InfinispanClient client;
    private final RemoteCache<byte[], byte[]> values;

    Client(InfinispanClient client) {
      this.client = client;
      values = client.bytes(InfinispanServer.VALUES);
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
      client.close();
    }
  }
}
