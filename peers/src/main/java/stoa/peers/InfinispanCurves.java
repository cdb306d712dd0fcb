package stoa.peers;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.infinispan.client.hotrod.DataFormat;
import org.infinispan.client.hotrod.RemoteCache;
import org.infinispan.client.hotrod.RemoteCacheManager;
import org.infinispan.client.hotrod.RemoteCounterManagerFactory;
import org.infinispan.client.hotrod.configuration.ClientIntelligence;
import org.infinispan.client.hotrod.configuration.ConfigurationBuilder;
import org.infinispan.commons.marshall.IdentityMarshaller;
import org.infinispan.counter.api.SyncStrongCounter;
import org.jspecify.annotations.Nullable;
import stoa.bench.machine.ServerJava;
import stoa.bench.curves.CurveContender;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.programs.BackgroundProcess;

/// Infinispan under the curves: one Hot Rod server and a client, as in [InfinispanContender].
public abstract class InfinispanCurves implements CurveContender {
  private final Persistence persistence;

  private InfinispanCurves(Persistence persistence) {
    this.persistence = persistence;
  }

  /// A file store with synced writes.
  public static final class Synced extends InfinispanCurves {
    /// The contender.
    public Synced() {
      super(Persistence.SYNCED);
    }
  }

  /// Nothing stored.
  public static final class InMemory extends InfinispanCurves {
    /// The contender.
    public InMemory() {
      super(Persistence.NONE);
    }
  }

  @Override
  public String name() {
    return "Infinispan, " + persistence;
  }

  @Override
  public Target start(Path folder) throws Exception {
    var server =
        BackgroundProcess.java(
            InfinispanServer.class.getName(),
            ServerJava.HEAP,
            List.of(persistence.name(), folder.toString()));
    try {
      int port = Integer.parseInt(server.await(InfinispanServer.LISTENING));
      var configuration = new ConfigurationBuilder();
      configuration
          .addServer()
          .host("127.0.0.1")
          .port(port)
          .clientIntelligence(ClientIntelligence.BASIC);
      return new Client(server, new RemoteCacheManager(configuration.build()), persistence);
    } catch (Exception e) {
      server.close();
      throw e;
    }
  }

  private static final class Client implements Target {
    private static final DataFormat BYTES =
        DataFormat.builder()
            .keyMarshaller(IdentityMarshaller.INSTANCE)
            .valueMarshaller(IdentityMarshaller.INSTANCE)
            .build();

    private final BackgroundProcess server;
    private final RemoteCacheManager client;
    private final RemoteCache<byte[], byte[]> values;
    private final RemoteCache<byte[], byte[]> stored;
    private final RemoteCache<String, Long> tasks;
    // Empty where counters are stored.
    private final List<SyncStrongCounter> counters;

    Client(BackgroundProcess server, RemoteCacheManager client, Persistence persistence) {
      this.server = server;
      this.client = client;
      values = client.<byte[], byte[]>getCache(InfinispanServer.VALUES).withDataFormat(BYTES);
      stored = client.<byte[], byte[]>getCache(InfinispanServer.COUNTERS).withDataFormat(BYTES);
      tasks = client.getCache(InfinispanServer.PUBLISHED);
      var manager = RemoteCounterManagerFactory.asCounterManager(client);
      counters =
          persistence == Persistence.SYNCED
              ? List.of()
              : IntStream.range(0, OBJECTS_MAX)
                  .mapToObj(i -> InfinispanContender.counter(manager, i))
                  .toList();
    }

    private @Nullable Long task(String name, long argument) {
      return tasks.execute(name, Map.of(InfinispanServer.Tasks.ARGUMENT, argument));
    }

    private static long of(int queue) {
      return (long) queue << InfinispanServer.Tasks.ELEMENT_BITS;
    }

    @Override
    public void put(int key, byte[] value) {
      values.put(InfinispanServer.bytes(key), value);
    }

    @Override
    public long increment(int counter) {
      return counters.isEmpty()
          ? requireNonNull(task(InfinispanServer.Tasks.INCREMENT, counter))
          : counters.get(counter).incrementAndGet();
    }

    @Override
    public long count(int counter) {
      if (!counters.isEmpty()) return counters.get(counter).getValue();
      byte[] value = stored.get(InfinispanServer.bytes(counter));
      return value == null ? 0 : InfinispanServer.number(value);
    }

    @Override
    public void enqueue(int queue, long element) {
      task(InfinispanServer.Tasks.ENQUEUE, of(queue) | element);
    }

    @Override
    public long dequeue(int queue) {
      Long element = task(InfinispanServer.Tasks.DEQUEUE, of(queue));
      if (element == null) throw new IllegalStateException("the queue is empty");
      return element - of(queue);
    }

    @Override
    public void close() {
      try (server) {
        client.stop();
      }
    }
  }
}
