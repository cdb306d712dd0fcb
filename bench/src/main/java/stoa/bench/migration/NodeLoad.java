package stoa.bench.migration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import stoa.bench.load.Latencies;
import stoa.bench.load.Pause;

/// The load of the self-service paper (section 8.1): each node has one update and one read in
/// progress at any time, on objects that it chooses at random. Nodes join in a random order, so
/// that each seed has another tree.
///
/// Each node has two virtual threads: while they wait they use no processor. They yield after each
/// operation, since no scheduler interrupts them, and the nodes share few processors.
///
/// @param nodes the number of nodes
/// @param leave the probability that a node leaves the tree and comes back after an update
/// @param blocks the times at which nodes leave
/// @param begin the time within which they begin to call, each at a random moment
/// @param seed of these times, of the order of joining, and of the choice of objects
/// @param mix the operations
/// @param warmUp how long they call before it counts
/// @param time how long it counts
record NodeLoad(
    int nodes,
    double leave,
    Blocks blocks,
    Duration begin,
    long seed,
    Mix mix,
    Duration warmUp,
    Duration time) {
  /// The operations of a load.
  enum Mix {
    /// Each node has an update and a read in progress.
    UPDATES_AND_READS,
    /// Each node has a read in progress.
    READS
  }

  /// Creates the load of nodes that stay, and begin at once.
  NodeLoad(int nodes, long seed, Duration warmUp, Duration time) {
    this(nodes, 0, Blocks.NONE, Duration.ZERO, seed, Mix.UPDATES_AND_READS, warmUp, time);
  }

  /// Returns this load with other operations.
  NodeLoad with(Mix other) {
    return new NodeLoad(nodes, leave, blocks, begin, seed, other, warmUp, time);
  }

  /// One node. Two threads call its update and its read.
  interface Node extends AutoCloseable {
    void update(SplittableRandom random) throws Exception;

    void read(SplittableRandom random) throws Exception;

    /// Works between two reads, outside of the measured time.
    default void pause() {}

    /// Leaves and comes back. Its reader waits meanwhile.
    default void rejoin() {}

    @Override
    default void close() {}
  }

  /// Creates the nodes, one after the other.
  interface Nodes {
    Node node(int number) throws Exception;
  }

  /// The counts of one kind of operations.
  ///
  /// @param count their number
  /// @param perSecond of all nodes together, per time in the tree
  record Kind(long count, double perSecond, double meanMillis, double p5Millis, double p95Millis) {
    private Kind faster(int times) {
      return new Kind(
          count, perSecond * times, meanMillis / times, p5Millis / times, p95Millis / times);
    }

    private static Kind of(Latencies all, double seconds) {
      return new Kind(
          all.count(),
          all.count() / seconds,
          all.mean() / 1e6,
          all.quantile(0.05) / 1e6,
          all.quantile(0.95) / 1e6);
    }
  }

  /// The counts.
  ///
  /// @param leaves how often nodes left and came back
  /// @param awayMillis how long that took on average
  /// @param blocks the counts of each block
  public record Seen(
      Kind updates, Kind reads, int leaves, double awayMillis, List<Blocks.Block> blocks) {
    /// Returns the counts as if all had taken a fraction of the time.
    Seen faster(int times) {
      return new Seen(
          updates.faster(times), reads.faster(times), leaves, awayMillis / times, blocks);
    }
  }

  /// One node's part. Its two threads count for themselves.
  private static final class Part {
    private final Node node;
    private final Blocks.Counts updating;
    private final Blocks.Counts reading;
    private final Latencies updates = new Latencies();
    private final Latencies reads = new Latencies();
    private long awayNanos;
    private int leaves;
    private final ReentrantLock tree = new ReentrantLock(true);

    private Part(Node node, Blocks blocks) {
      this.node = node;
      updating = blocks.new Counts();
      reading = blocks.new Counts();
    }
  }

  /// Runs it to its end, and closes the nodes.
  ///
  /// @throws Exception the failure of the first node that failed
  Seen run(Nodes made) throws Exception {
    var places = new Part[nodes];
    for (int number : order()) places[number] = new Part(made.node(number), blocks);
    var parts = List.of(places);
    var failure = new AtomicReference<Throwable>();
    boolean updates = mix == Mix.UPDATES_AND_READS;
    var ready = new CountDownLatch(updates ? 2 * nodes : nodes);
    var go = new CompletableFuture<Long>();
    List<Thread> threads = new ArrayList<>();
    var beginning = new SplittableRandom(seed);
    for (int i = 0; i < nodes; i++) {
      var part = parts.get(i);
      long after = beginning.nextLong(begin.toNanos() + 1);
      var updating = new SplittableRandom(2 * (seed * nodes + i));
      var reading = new SplittableRandom(2 * (seed * nodes + i) + 1);
      if (updates) {
        threads.add(start(failure, ready, go, after, begin -> update(part, begin, updating)));
      }
      threads.add(start(failure, ready, go, after, begin -> read(part, begin, reading)));
    }
    ready.await();
    go.complete(System.nanoTime());
    for (var thread : threads) thread.join();
    for (var part : parts) part.node.close();
    Throwable failed = failure.get();
    if (failed != null) throw new IllegalStateException("a node failed: " + failed, failed);
    return seen(parts);
  }

  /// Returns the numbers of the nodes in the order in which they join.
  private List<Integer> order() {
    var numbers = new ArrayList<Integer>();
    for (int i = 0; i < nodes; i++) numbers.add(i);
    Collections.shuffle(numbers, new Random(seed));
    return numbers;
  }

  private Seen seen(List<Part> parts) {
    var updates = new Latencies();
    var reads = new Latencies();
    var counts = blocks.new Counts();
    long awayNanos = 0;
    int leaves = 0;
    for (var part : parts) {
      updates.add(part.updates);
      reads.add(part.reads);
      counts.add(part.updating);
      counts.add(part.reading);
      awayNanos += part.awayNanos;
      leaves += part.leaves;
    }
    double seconds = (time.toNanos() - (double) awayNanos / nodes) / 1e9;
    double awayMillis = leaves == 0 ? 0 : awayNanos / 1e6 / leaves;
    return new Seen(
        Kind.of(updates, seconds),
        Kind.of(reads, seconds),
        leaves,
        awayMillis,
        counts.blocks(nodes));
  }

  private interface Work {
    void run(long begin) throws Exception;
  }

  private static Thread start(
      AtomicReference<Throwable> failure,
      CountDownLatch ready,
      CompletableFuture<Long> go,
      long afterNanos,
      Work work) {
    return Thread.ofVirtual()
        .start(() -> {
          try {
            ready.countDown();
            long begin = go.get();
            Pause.AT_CLIENT.accept(afterNanos);
            work.run(begin);
          } catch (Throwable e) {
            failure.compareAndSet(null, e);
          }
        });
  }

  @SuppressWarnings("ThreadPriorityCheck") // Justification: only how nodes share processors
  private static void rest() {
    Thread.yield();
  }

  /// Updates. Only operations that end within the time count; the thread waits for the one in
  /// progress at its end.
  private void update(Part part, long start, SplittableRandom random) throws Exception {
    long from = start + warmUp.toNanos();
    long until = from + time.toNanos();
    while (true) {
      long began = System.nanoTime();
      if (began - until >= 0) return;
      part.node.update(random);
      long end = System.nanoTime();
      if (end - from >= 0 && end - until < 0) {
        part.updates.add(end - began);
        part.updating.update(end - from);
      }
      rest();
      if (leave == 0 || !blocks.isOn(end - from) || random.nextDouble() >= leave) continue;
      part.tree.lock();
      try {
        long left = System.nanoTime();
        part.node.rejoin();
        long back = System.nanoTime();
        long away = Math.min(back, until) - Math.max(left, from);
        if (away > 0) {
          part.awayNanos += away;
          part.updating.away(left - from, back - from);
          part.leaves++;
        }
      } finally {
        part.tree.unlock();
      }
    }
  }

  private void read(Part part, long start, SplittableRandom random) throws Exception {
    long from = start + warmUp.toNanos();
    long until = from + time.toNanos();
    while (true) {
      part.tree.lock();
      try {
        long began = System.nanoTime();
        if (began - until >= 0) return;
        part.node.read(random);
        long end = System.nanoTime();
        if (end - from >= 0 && end - until < 0) {
          part.reads.add(end - began);
          part.reading.read(end - from);
        }
      } finally {
        part.tree.unlock();
      }
      part.node.pause();
      rest();
    }
  }
}
