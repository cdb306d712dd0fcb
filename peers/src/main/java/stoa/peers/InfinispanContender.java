package stoa.peers;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.infinispan.client.hotrod.RemoteCache;
import org.infinispan.client.hotrod.RemoteCounterManagerFactory;
import org.infinispan.client.hotrod.configuration.NearCacheMode;
import org.infinispan.counter.api.CounterConfiguration;
import org.infinispan.counter.api.CounterManager;
import org.infinispan.counter.api.CounterType;
import org.infinispan.counter.api.SyncStrongCounter;
import org.jspecify.annotations.Nullable;
import stoa.bench.machine.ServerJava;
import stoa.bench.remote.RemoteContender;

/// Infinispan, a Hot Rod server and a client: durable with its file store and synced writes.
///
/// Counters are its strong counters where nothing is stored. Their own storage does not force what
/// it writes, so durable counters are values that a task in the server computes.
public final class InfinispanContender implements RemoteContender {
  private static final int COUNTERS = 100;

  /// The contender.
  public InfinispanContender() {}

  @Override
  public String name() {
    return "Infinispan";
  }

  @Override
  public Set<Operation> operations(Persistence persistence) {
    return EnumSet.allOf(Operation.class);
  }

  @Override
  public Connection start(Path folder, Persistence persistence) throws Exception {
    return new Client(
        InfinispanClient.start(
            folder,
            persistence,
            ServerJava.HEAP,
            configuration ->
                configuration
                    .remoteCache(InfinispanServer.PUBLISHED)
                    .nearCacheMode(NearCacheMode.INVALIDATED)
                    .nearCacheMaxEntries(100)),
        persistence);
  }

  /// Returns a counter, after defining it.
  static SyncStrongCounter counter(CounterManager manager, int number) {
    String name = "counter " + number;
    manager.defineCounter(name, CounterConfiguration.builder(CounterType.UNBOUNDED_STRONG).build());
    return manager.getStrongCounter(name).sync();
  }

  private static final class Client implements Connection {
    private static final byte[] KEY = {1};
    private final InfinispanClient client;
    private final RemoteCache<byte[], byte[]> values;
    private final RemoteCache<byte[], byte[]> stored;
    // Empty where counters are stored.
    private final List<SyncStrongCounter> counters;
    private final RemoteCache<String, Long> published;

    Client(InfinispanClient client, Persistence persistence) {
      this.client = client;
      values = client.bytes(InfinispanServer.VALUES);
      stored = client.bytes(InfinispanServer.COUNTERS);
      published = client.manager().getCache(InfinispanServer.PUBLISHED);
      published.put("number", 0L);
      CounterManager manager = RemoteCounterManagerFactory.asCounterManager(client.manager());
      counters =
          persistence == Persistence.SYNCED
              ? List.of()
              : IntStream.range(0, COUNTERS).mapToObj(i -> counter(manager, i)).toList();
    }

    private @Nullable Long task(String name, long argument) {
      // Any cache will do whose client marshals numbers; tasks know their own.
      return published.execute(name, Map.of(InfinispanServer.Tasks.ARGUMENT, argument));
    }

    @Override
    public Duration serverProcessorTime() {
      return client.processorTime();
    }

    @Override
    public void put(byte[] value) {
      values.put(KEY, value);
    }

    @Override
    public byte[] value() {
      return requireNonNull(values.get(KEY));
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
    public void enqueue(long element) {
      task(InfinispanServer.Tasks.ENQUEUE, element);
    }

    @Override
    public long dequeue() {
      Long element = task(InfinispanServer.Tasks.DEQUEUE, 0);
      if (element == null) throw new IllegalStateException("the queue is empty");
      return element;
    }

    @Override
    public void publish(long number) {
      published.put("number", number);
    }

    @Override
    public long cached() {
      return requireNonNull(published.get("number"));
    }

    @Override
    public void close() {
      client.close();
    }
  }
}
