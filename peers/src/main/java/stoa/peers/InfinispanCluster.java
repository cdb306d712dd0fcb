package stoa.peers;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.infinispan.client.hotrod.Flag;
import org.infinispan.client.hotrod.RemoteCache;
import org.infinispan.client.hotrod.RemoteCacheManager;
import org.infinispan.client.hotrod.RemoteCounterManagerFactory;
import org.infinispan.client.hotrod.exceptions.TransportException;
import org.infinispan.counter.api.CounterManager;
import org.infinispan.counter.api.SyncStrongCounter;
import org.jspecify.annotations.Nullable;
import stoa.bench.cluster.ClusterContender;
import stoa.bench.cluster.NumberedKeys;
import stoa.bench.cluster.Records;
import stoa.bench.remote.RemoteContender.Persistence;

/// Infinispan: servers in processes of their own that keep two copies of everything, and its Hot
/// Rod client, which asks the owner of a key.
///
/// Counters are its strong counters, which it cannot force to a disk. On disk, a counter is an
/// entry that the client replaces if it is as the client has read it. A record is a value of bytes;
/// replacing some of its fields takes two calls of the client, a read and a put, without isolation
/// from other clients.
public class InfinispanCluster implements ClusterContender {
  private static final int COUNTERS = 100;
  private static final int FIRST_USES = 12;
  private static final int FIRST_FAILURES = 100;

  private final Persistence persistence;

  /// The contender.
  public InfinispanCluster() {
    this(Persistence.NONE);
  }

  private InfinispanCluster(Persistence persistence) {
    this.persistence = persistence;
  }

  /// Infinispan whose servers force each change to their disks.
  public static final class OnDisk extends InfinispanCluster {
    /// The contender.
    public OnDisk() {
      super(Persistence.SYNCED);
    }
  }

  @Override
  public String name() {
    return persistence == Persistence.SYNCED ? "Infinispan, on disk" : "Infinispan";
  }

  @Override
  public String guarantee() {
    return persistence == Persistence.SYNCED
        ? "forced to the disks of 2 of 3 servers"
        : "in the memory of 2 of 3 servers, on no disk; two servers lost at once lose it";
  }

  @Override
  public Running start(Path folder, int servers) throws Exception {
    return new Client(name(), persistence, InfinispanClient.start(folder, persistence, servers));
  }

  /// Returns strong counters that every server knows.
  static List<SyncStrongCounter> strong(RemoteCacheManager client) {
    CounterManager manager = RemoteCounterManagerFactory.asCounterManager(client);
    // The first use of a counter at a server may report that it is undefined: all are used before
    // the measurements.
    return IntStream.range(0, COUNTERS).mapToObj(i -> used(manager, i)).toList();
  }

  private static SyncStrongCounter used(CounterManager manager, int number) {
    SyncStrongCounter counter = InfinispanContender.counter(manager, number);
    for (int uses = 0, failures = 0; uses < FIRST_USES; uses++) {
      try {
        counter.getValue();
      } catch (TransportException e) {
        if (++failures == FIRST_FAILURES) throw e;
        uses = 0;
      }
    }
    return counter;
  }

  private static final class Client implements Running {
    private final String name;
    private final InfinispanClient client;
    private final Records records;
    private final Counters counters;

    Client(String name, Persistence persistence, InfinispanClient client) {
      this.name = name;
      this.client = client;
      records = new Values(client.bytes(InfinispanServer.VALUES));
      counters =
          persistence == Persistence.SYNCED
              ? new Entries(client.bytes(InfinispanServer.COUNTERS))
              : new Strong(strong(client.manager()));
    }

    @Override
    public Duration processorTime() {
      return client.processorTime();
    }

    @Override
    public Map<String, Counters> counters() {
      return Map.of(name, counters);
    }

    @Override
    public Optional<Records> records() {
      return Optional.of(records);
    }

    @Override
    public Optional<Records> orderedRecords() {
      return Optional.of(records);
    }

    @Override
    public void close() {
      client.close();
    }
  }

  /// Its strong counters.
  private record Strong(List<SyncStrongCounter> counters) implements Counters {
    @Override
    public long increment(int counter) {
      return counters.get(counter).incrementAndGet();
    }

    @Override
    public long value(int counter) {
      return counters.get(counter).getValue();
    }
  }

  /// Counters as entries of a cache.
  private record Entries(RemoteCache<byte[], byte[]> cache) implements Counters {
    @Override
    public long increment(int counter) {
      byte[] key = InfinispanServer.bytes(counter);
      while (true) {
        var now = cache.getWithMetadata(key);
        long next = now == null ? 1 : InfinispanServer.number(now.getValue()) + 1;
        if (now == null) {
          if (cache
                  .withFlags(Flag.FORCE_RETURN_VALUE)
                  .putIfAbsent(key, InfinispanServer.bytes(next))
              == null) {
            return next;
          }
        } else if (cache.replaceWithVersion(key, InfinispanServer.bytes(next), now.getVersion())) {
          return next;
        }
      }
    }

    @Override
    public long value(int counter) {
      byte[] found = cache.get(InfinispanServer.bytes(counter));
      return found == null ? 0 : InfinispanServer.number(found);
    }
  }

  /// Records as values of a cache.
  private record Values(RemoteCache<byte[], byte[]> cache) implements Records {
    @Override
    public void insert(String key, Map<String, byte[]> fields) {
      cache.put(bytes(key), encoded(fields));
    }

    @Override
    public Map<String, byte[]> read(String key) {
      return decoded(cache.get(bytes(key)));
    }

    @Override
    public void update(String key, Map<String, byte[]> fields) {
      Map<String, byte[]> all = decoded(cache.get(bytes(key)));
      all.putAll(fields);
      cache.put(bytes(key), encoded(all));
    }

    /// Scans. The cache has no order (see [NumberedKeys]); the client asks for all keys at once.
    @Override
    public int scan(String from, int most) {
      Set<byte[]> keys = Collections.newSetFromMap(new IdentityHashMap<>());
      for (String key : NumberedKeys.from(from, most)) keys.add(bytes(key));
      int read = 0;
      for (byte[] value : cache.getAll(keys).values()) {
        if (!decoded(value).isEmpty()) read++;
      }
      return read;
    }

    private static byte[] bytes(String key) {
      return key.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] encoded(Map<String, byte[]> fields) {
      var bytes = new ByteArrayOutputStream();
      try (var out = new DataOutputStream(bytes)) {
        out.writeInt(fields.size());
        for (var field : fields.entrySet()) {
          out.writeUTF(field.getKey());
          out.writeInt(field.getValue().length);
          out.write(field.getValue());
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return bytes.toByteArray();
    }

    private static Map<String, byte[]> decoded(byte @Nullable [] bytes) {
      var fields = new TreeMap<String, byte[]>();
      if (bytes == null) return fields;
      try (var in = new DataInputStream(new ByteArrayInputStream(bytes))) {
        for (int left = in.readInt(); left > 0; left--) {
          String name = in.readUTF();
          fields.put(name, in.readNBytes(in.readInt()));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return fields;
    }
  }
}
