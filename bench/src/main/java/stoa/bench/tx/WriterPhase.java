package stoa.bench.tx;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import stoa.Stoa;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.bench.cluster.OpenStoa;
import stoa.bench.load.Counter;
import stoa.bench.load.Latencies;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.place.StorePlace;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.remote.RemoteContender.Persistence;
import stoa.bench.remote.StoaServer;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.coordination.SharedReadWriteLock;
import stoa.programs.BackgroundProcess;

/// One writer of transactions beside readers of transactions (vCorfu, Figure 14), here and with
/// two-phase locking.
final class WriterPhase {
  /*
   * In the paper every read is a message to another machine, and a reader keeps its locks
   * meanwhile. Here a reader waits READ_NANOS after each read instead. The writer begins a
   * transaction every PERIOD_NANOS, the paper's target rate, or as soon as it can if it is behind.
   */
  private static final int PER_TRANSACTION = 10;
  private static final int CALLERS = 64;
  private static final long READ_NANOS = 3_000_000;
  private static final long PERIOD_NANOS = 200_000;

  private static final String STOA = "Stoa";
  private static final String LOCKED = "2PL";
  private static final String SERVED = "2PL, lock service";

  // The share of the writer's aborted transactions in the paper, beside 200 readers.
  private static final double PAPER_ABORTS = 0.92;

  /// The objects of the transactions.
  private interface Objects extends AutoCloseable {
    /// Adds to some objects; returns whether it committed.
    boolean write(int[] objects) throws Exception;

    /// Reads some objects, waiting after each; returns whether it committed.
    boolean read(int[] objects) throws Exception;

    @Override
    void close() throws IOException;
  }

  private final Context<TxScale> context;
  private final StorePlace place;
  private final TxScale scale;

  WriterPhase(Context<TxScale> context, StorePlace place) {
    this.context = context;
    this.place = place;
    scale = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    Map<String, Samples.Probe> probes = new LinkedHashMap<>();
    Map<String, Objects> all = new LinkedHashMap<>();
    try {
      all.put(STOA, new Shared());
      all.put(LOCKED, new Locked());
      if (scale.lockService()) all.put(SERVED, new Served(context.folder().resolve("locks")));
      for (int readers : scale.readers()) {
        all.forEach((kind, objects) ->
            probes.put(name(kind, readers), samples -> sample(samples, objects, kind, readers)));
      }
      tell(findings, Samples.interleaved(scale.rounds(), probes, context.progress()));
    } finally {
      for (var each : all.values()) each.close();
    }
  }

  /// Objects of a store in memory.
  private final class Shared implements Objects {
    private final OpenStoa opened;
    private final Stoa stoa;
    private final List<Counter> counters;

    Shared() throws Exception {
      opened = place.openInMemory(context.folder().resolve("writer"));
      stoa = opened.stoa();
      counters =
          IntStream.range(0, scale.objects())
              .mapToObj(i -> stoa.get(Counter.class, "object " + i))
              .toList();
      Parallel.run(CALLERS, counters.size(), i -> counters.get(i).add(1));
      if (place != StorePlace.EMBEDDED) {
        paced(this, scale.servedWarmUp(), new SplittableRandom(14));
      }
    }

    @Override
    public boolean write(int[] objects) {
      return end(TxOptions.STANDARD, objects, false);
    }

    @Override
    public boolean read(int[] objects) {
      return end(TxOptions.reading(), objects, true);
    }

    private boolean end(TxOptions options, int[] objects, boolean reads) {
      try (Transaction transaction = stoa.begin(options)) {
        for (int object : objects) {
          Counter counter = transaction.on(counters.get(object));
          if (reads) {
            if (counter.value() == 0) throw new IllegalStateException("an object is missing");
            LockSupport.parkNanos(READ_NANOS);
          } else {
            counter.add(1);
          }
        }
        return transaction.commit() instanceof Transaction.Outcome.Committed;
      }
    }

    @Override
    public void close() throws IOException {
      opened.close();
    }
  }

  /// Plain objects under locks, taken in the order of use; a transaction that cannot get one gives
  /// up.
  private final class Locked implements Objects {
    private final LockedObjects locked = new LockedObjects(scale.objects());

    @Override
    public boolean write(int[] objects) {
      return locked.write(objects, 1);
    }

    @Override
    public boolean read(int[] objects) {
      return locked.read(objects, () -> LockSupport.parkNanos(READ_NANOS));
    }

    @Override
    public void close() {}
  }

  /// Plain objects whose locks are at a lock service, as in the paper: a server of this engine,
  /// which keeps them in memory, over the loopback interface.
  private final class Served implements Objects {
    private static final Duration LEASE = Duration.ofMinutes(1);

    private final BackgroundProcess server;
    private final Stoa stoa;
    private final AtomicLongArray values = new AtomicLongArray(scale.objects());
    private final List<SharedReadWriteLock> locks;

    private Served(Path folder) throws Exception {
      server = StoaServer.serve(folder, Persistence.NONE);
      try {
        stoa = Stoa.open("stoa://" + StoaServer.address(server));
      } catch (Exception e) {
        server.close();
        throw e;
      }
      locks =
          IntStream.range(0, scale.objects())
              .mapToObj(i -> stoa.get(SharedReadWriteLock.class, i))
              .toList();
    }

    @Override
    public boolean write(int[] objects) {
      return end(objects, false);
    }

    @Override
    public boolean read(int[] objects) {
      return end(objects, true);
    }

    private boolean end(int[] some, boolean reads) {
      var held = new LinkedHashMap<SharedReadWriteLock, Long>();
      try {
        for (int object : some) {
          var lock = locks.get(object);
          long token = reads ? lock.tryReadLock(LEASE) : lock.tryWriteLock(LEASE);
          if (token == 0) return false;
          held.put(lock, token);
          if (reads) LockSupport.parkNanos(READ_NANOS);
          else values.incrementAndGet(object);
        }
        return true;
      } finally {
        held.forEach((lock, token) -> {
          if (!lock.unlock(token)) throw new IllegalStateException("a lease has ended");
        });
      }
    }

    @Override
    public void close() {
      try (server) {
        stoa.close();
      }
    }
  }

  private void sample(Samples samples, Objects objects, String kind, int readers) throws Exception {
    var failure = new AtomicReference<Throwable>();
    var readTransactions = new AtomicLong();
    var readAborts = new AtomicLong();
    var stop = new CountDownLatch(1);
    var threads = new ArrayList<Thread>();
    var seeds = new SplittableRandom(readers + 1);
    for (int i = 0; i < readers; i++) {
      SplittableRandom random = seeds.split();
      threads.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  while (stop.getCount() > 0) {
                    boolean committed = objects.read(some(random));
                    (committed ? readTransactions : readAborts).incrementAndGet();
                  }
                } catch (Throwable e) {
                  failure.compareAndSet(null, e);
                }
              }));
    }
    try {
      SplittableRandom random = seeds.split();
      paced(objects, scale.warmUp(), random);
      readTransactions.set(0);
      readAborts.set(0);
      long start = System.nanoTime();
      Written written = paced(objects, scale.time(), random);
      double seconds = (System.nanoTime() - start) / 1e9;
      samples.add(name(kind, readers), written.committed / seconds);
      samples.add(
          aborts(kind, readers), (double) written.aborted / (written.aborted + written.committed));
      samples.add(name(kind, readers) + ", p99", written.latencies.quantile(0.99) / 1e3);
      samples.add(reads(kind, readers), readTransactions.get() / seconds);
      long ended = readTransactions.get() + readAborts.get();
      samples.add(readAborts(kind, readers), ended == 0 ? 0 : (double) readAborts.get() / ended);
    } finally {
      stop.countDown();
      for (Thread thread : threads) thread.join();
    }
    Throwable failed = failure.get();
    if (failed != null) throw new IllegalStateException("a reader failed: " + failed, failed);
  }

  private record Written(long committed, long aborted, Latencies latencies) {}

  private Written paced(Objects objects, Duration time, SplittableRandom random) throws Exception {
    long start = System.nanoTime();
    long next = start;
    long committed = 0;
    long aborted = 0;
    var latencies = new Latencies();
    while (System.nanoTime() - start < time.toNanos()) {
      long began = System.nanoTime();
      if (objects.write(some(random))) committed++;
      else aborted++;
      latencies.add(System.nanoTime() - began);
      next += PERIOD_NANOS;
      long wait = next - System.nanoTime();
      if (wait > 0) LockSupport.parkNanos(wait);
    }
    return new Written(committed, aborted, latencies);
  }

  private int[] some(SplittableRandom random) {
    return random.ints(0, scale.objects()).distinct().limit(PER_TRANSACTION).toArray();
  }

  private void tell(Findings findings, Samples samples) {
    var results = new ArrayList<Result>();
    for (int readers : scale.readers()) {
      String alone = name(STOA, scale.readers().getFirst());
      results.add(
          Result.of(samples, name(STOA, readers), "1/s").beside(alone, samples.median(alone)));
      results.add(Result.of(samples, name(STOA, readers) + ", p99", "µs"));
      results.add(Result.of(samples, aborts(STOA, readers), "of all"));
      results.add(Result.of(samples, reads(STOA, readers), "1/s"));
      results.add(Result.of(samples, readAborts(STOA, readers), "of all"));
      for (String kind : List.of(LOCKED, SERVED)) {
        if (!samples.has(name(kind, readers))) continue;
        String first = name(kind, scale.readers().getFirst());
        results.add(
            Result.of(samples, name(kind, readers), "1/s").beside(first, samples.median(first)));
        Result lost = Result.of(samples, aborts(kind, readers), "of all");
        results.add(readers == 200 ? lost.beside("2PL in the paper", PAPER_ABORTS) : lost);
      }
    }
    findings.section(
        "one writer of %d of %,d objects, 5,000 times a second, beside readers of %d, %s (Figure 14)"
            .formatted(PER_TRANSACTION, scale.objects(), PER_TRANSACTION, place),
        results);
    int most = scale.readers().getLast();
    findings.atLeast(
        "writer beside %d reading transactions ÷ alone: at least 0.95".formatted(most),
        0.95,
        samples.medianRatio(name(STOA, most), name(STOA, scale.readers().getFirst())));
    findings.atMost(
        "aborts of the writer beside %d reading transactions: none (2PL in the paper: 0.92)"
            .formatted(most),
        0,
        samples.median(aborts(STOA, most)));
    var lines =
        List.of(
            new Lines.Line(STOA, readers -> name(STOA, readers)),
            new Lines.Line(LOCKED, readers -> name(LOCKED, readers)),
            new Lines.Line(SERVED, readers -> name(SERVED, readers)));
    findings.figure(
        "figure-14-readers.svg",
        new Chart(
            "A writer beside readers",
            "the writer tries 5,000 transactions a second; a reader waits 3 ms after each read",
            "committed transactions of the writer per second",
            "reading transactions",
            List.of(Lines.panel("", samples, scale.readers(), lines, 1))));
  }

  private static String name(String kind, int readers) {
    return "writer beside %d readers, %s".formatted(readers, kind);
  }

  private static String aborts(String kind, int readers) {
    return "aborts of the writer beside %d readers, %s".formatted(readers, kind);
  }

  private static String reads(String kind, int readers) {
    return "read by %d readers, %s".formatted(readers, kind);
  }

  private static String readAborts(String kind, int readers) {
    return "aborts of %d readers, %s".formatted(readers, kind);
  }
}
