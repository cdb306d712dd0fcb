package stoa.bench.remote;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import stoa.KeyValueStore;
import stoa.Schedule;
import stoa.SharedBlockingQueue;
import stoa.Stoa;
import stoa.View;
import stoa.bench.load.Counter;
import stoa.bench.load.Fifo;
import stoa.bench.machine.ServerJava;
import stoa.bench.timers.Rung;
import stoa.coordination.SharedBarrier;
import stoa.coordination.SharedLock;
import stoa.programs.BackgroundProcess;

/// This engine: `stoa serve` in a Java process of its own, and a client of it.
public final class StoaServer implements RemoteContender {
  public static final String NAME = "Stoa";

  private static final String MAIN = "stoa.cli.Main";
  private static final String LISTENING = "listening on ";
  private static final String READY = "ready";
  private static final String KEY = "key";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Set<Operation> operations(Persistence persistence) {
    return EnumSet.allOf(Operation.class);
  }

  @Override
  public boolean meets() {
    return true;
  }

  @Override
  public Connection start(Path folder, Persistence persistence) throws Exception {
    BackgroundProcess server = serve(folder, persistence);
    try {
      return new Client(server, Stoa.open("stoa://" + address(server)));
    } catch (Exception e) {
      server.close();
      throw e;
    }
  }

  /// Starts a server.
  public static BackgroundProcess serve(Path folder, Persistence persistence) throws Exception {
    return serve(folder, persistence, ServerJava.HEAP);
  }

  /// Starts a server with a heap of another size.
  ///
  /// @param heap options of Java
  public static BackgroundProcess serve(Path folder, Persistence persistence, List<String> heap)
      throws Exception {
    String data = persistence == Persistence.SYNCED ? folder.toString() : "memory:";
    return BackgroundProcess.java(
        MAIN, heap, List.of("serve", "--data", data, "--listen", "127.0.0.1:0"));
  }

  /// Returns the address of a server, once it is ready.
  public static String address(BackgroundProcess server) throws Exception {
    String address = server.await(LISTENING);
    server.await(READY);
    return address;
  }

  private static final class Client implements Connection {
    private final BackgroundProcess server;
    private final Stoa stoa;
    private final KeyValueStore store;
    private final List<Counter> counters;
    private final Fifo queue;
    private final Counter published;
    private final Counter copy;

    Client(BackgroundProcess server, Stoa stoa) {
      this.server = server;
      this.stoa = stoa;
      store = stoa.store();
      counters =
          IntStream.range(0, RemoteLoad.COUNTERS_MAX)
              .mapToObj(i -> stoa.get(Counter.class, "counter " + i))
              .toList();
      queue = stoa.get(Fifo.class, "queue");
      published = stoa.get(Counter.class, "published");
      published.add(0); // an object that does not exist yet has no state to copy
      copy = stoa.view(Counter.class, stoa.ref(published), new View.Cached());
    }

    @Override
    public Duration serverProcessorTime() {
      return server.processorTime();
    }

    @Override
    public void put(byte[] value) {
      store.put(KEY, value);
    }

    @Override
    public byte[] value() {
      return (byte[]) Objects.requireNonNull(store.get(KEY));
    }

    @Override
    public long increment(int counter) {
      return counters.get(counter).add(1);
    }

    @Override
    public long count(int counter) {
      return counters.get(counter).value();
    }

    @Override
    public void enqueue(long element) {
      queue.enqueue(element);
    }

    @Override
    public long dequeue() {
      Long element = queue.dequeue();
      if (element == null) throw new IllegalStateException("the queue is empty");
      return element;
    }

    @Override
    public void publish(long number) {
      published.add(number - published.value());
    }

    @Override
    public long cached() {
      return copy.value();
    }

    @Override
    public Meeting meeting() {
      return new Met(stoa);
    }

    @Override
    public void close() {
      try (server) {
        stoa.close();
      }
    }
  }

  private static final class Met implements Meeting {
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final Stoa stoa;
    private final SharedLock lock;
    private final SharedBlockingQueue<Long> queue;

    // The objects that timers call, one after the other.
    private final List<Rung> rungs;
    private final AtomicInteger timers = new AtomicInteger();

    private volatile @Nullable SharedBarrier barrier;

    Met(Stoa stoa) {
      this.stoa = stoa;
      lock = stoa.get(SharedLock.class, "lock");
      queue = stoa.blockingQueue("handed over", Long.class, 1_000);
      rungs = IntStream.range(0, 16).mapToObj(i -> stoa.get(Rung.class, "rung " + i)).toList();
    }

    @Override
    public long lock() {
      return lock.lock(LEASE);
    }

    @Override
    public void unlock(long token) {
      if (!lock.unlock(token)) throw new IllegalStateException("the lease has ended");
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
      return true;
    }

    @Override
    public void pass(int party, int parties, long round) throws BrokenBarrierException {
      SharedBarrier known = barrier;
      if (known == null) {
        known = stoa.get(SharedBarrier.class, "barrier", parties);
        barrier = known;
      }
      var _ = SharedBarrier.await(known, LEASE);
    }

    @Override
    public void setTimer(Duration after) {
      Rung next = rungs.get(Math.floorMod(timers.getAndIncrement(), rungs.size()));
      stoa.timers().schedule(Schedule.after(after), next).ring();
    }

    @Override
    public long rings() {
      return rungs.stream().mapToLong(Rung::rings).sum();
    }
  }
}
