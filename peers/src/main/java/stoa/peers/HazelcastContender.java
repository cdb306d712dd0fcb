package stoa.peers;

import static java.util.Objects.requireNonNull;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.collection.IQueue;
import com.hazelcast.config.InMemoryFormat;
import com.hazelcast.config.NearCacheConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import com.hazelcast.scheduledexecutor.IScheduledExecutorService;
import com.hazelcast.scheduledexecutor.TaskUtils;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import stoa.bench.machine.ServerJava;
import stoa.bench.remote.Meeting;
import stoa.bench.remote.RemoteContender;
import stoa.programs.BackgroundProcess;

/// Hazelcast, one member and a client. Its free edition keeps nothing on a disk, and has no
/// `IAtomicLong`: counters are values of a map, added to by an entry processor.
public final class HazelcastContender implements RemoteContender {
  /// The contender.
  public HazelcastContender() {}

  @Override
  public String name() {
    return "Hazelcast";
  }

  @Override
  public Set<Operation> operations(Persistence persistence) {
    return persistence == Persistence.SYNCED ? Set.of() : EnumSet.allOf(Operation.class);
  }

  @Override
  public boolean meets() {
    return true;
  }

  @Override
  public Connection start(Path folder, Persistence persistence) throws Exception {
    var server =
        BackgroundProcess.java(HazelcastServer.class.getName(), ServerJava.HEAP, List.of());
    try {
      String address = server.await(HazelcastServer.LISTENING);
      var config = new ClientConfig();
      config.setProperty("hazelcast.logging.type", "slf4j");
      config.getNetworkConfig().addAddress(address);
      config
          .getSerializationConfig()
          .addDataSerializableFactory(Increment.FACTORY, Increment.factory());
      config.addNearCacheConfig(
          new NearCacheConfig("published").setInMemoryFormat(InMemoryFormat.OBJECT));
      return new Client(server, HazelcastClient.newHazelcastClient(config));
    } catch (Exception e) {
      server.close();
      throw e;
    }
  }

  private static final class Client implements Connection {
    private static final Increment INCREMENT = new Increment();

    private final BackgroundProcess server;
    private final HazelcastInstance client;
    private final IMap<String, byte[]> values;
    private final IMap<Integer, Long> counters;
    private final IQueue<Long> queue;
    private final IMap<String, Long> published;

    Client(BackgroundProcess server, HazelcastInstance client) {
      this.server = server;
      this.client = client;
      values = client.getMap("values");
      counters = client.getMap("counters");
      queue = client.getQueue("queue");
      published = client.getMap("published");
      published.set("number", 0L);
    }

    @Override
    public Duration serverProcessorTime() {
      return server.processorTime();
    }

    @Override
    public void put(byte[] value) {
      values.set("value", value);
    }

    @Override
    public byte[] value() {
      return requireNonNull(values.get("value"));
    }

    @Override
    public long increment(int counter) {
      return counters.executeOnKey(counter, INCREMENT);
    }

    @Override
    public long count(int counter) {
      return counters.getOrDefault(counter, 0L);
    }

    @Override
    public void enqueue(long element) {
      queue.add(element);
    }

    @Override
    public long dequeue() {
      Long element = queue.poll();
      if (element == null) throw new IllegalStateException("the queue is empty");
      return element;
    }

    @Override
    public void publish(long number) {
      published.set("number", number);
    }

    @Override
    public long cached() {
      return requireNonNull(published.get("number"));
    }

    @Override
    public Meeting meeting() {
      return new Met(client);
    }

    @Override
    public void close() {
      try (server) {
        client.shutdown();
      }
    }
  }

  /// The lock of a map's key, a queue and a scheduled executor. Fenced locks, latches and barriers
  /// are in its CP subsystem, which its free edition lacks.
  private static final class Met implements Meeting {
    private final IMap<String, Long> locks;
    private final IQueue<Long> queue;
    private final IScheduledExecutorService timers;
    private final IMap<Integer, Long> counters;

    Met(HazelcastInstance client) {
      locks = client.getMap("locks");
      queue = client.getQueue("handed over");
      timers = client.getScheduledExecutorService(Ring.TIMERS);
      counters = client.getMap(Ring.COUNTERS);
    }

    @Override
    public long lock() {
      locks.lock("lock", 30, TimeUnit.SECONDS);
      return 0;
    }

    @Override
    public void unlock(long token) {
      locks.unlock("lock");
    }

    @Override
    public void offer(long element) throws InterruptedException {
      queue.put(element);
    }

    @Override
    public long take() throws InterruptedException {
      return queue.take();
    }

    @Override
    public boolean hasBarrier() {
      return false;
    }

    @Override
    public void pass(int party, int parties, long round) {
      throw new UnsupportedOperationException("no barrier");
    }

    @Override
    public void setTimer(Duration after) {
      Runnable ring = TaskUtils.autoDisposable(new Ring());
      var _ = timers.schedule(ring, after.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public long rings() {
      return counters.getOrDefault(Ring.RUNG, 0L);
    }
  }
}
