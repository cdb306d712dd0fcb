package stoa.bench.changes;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import stoa.Change;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Subscription;
import stoa.bench.load.Counter;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;

/// Measures a durable subscriber to the changes of objects in this process: how fast it reads what
/// was logged while it was away, and how much slower writers are while it follows them, in windows
/// that take turns with windows in which nobody reads: writers that use the whole machine, and
/// writers at half of that rate.
public final class ChangesBenchmark implements Benchmark<ChangesScale> {
  private static final int CALLERS = 64;
  private static final double READ_MIN = 100_000;
  private static final double RATIO_MIN = 0.95;
  private static final long ACKNOWLEDGE_NANOS = 100_000_000;

  private static final String READ = "changes read by a subscriber that was away";
  private static final String STATES = "the same with states";
  private static final String ALONE = "calls while nobody reads";
  private static final String FOLLOWED = "calls while a subscriber follows";
  private static final String TOLD = "changes that it gets meanwhile";
  private static final String PACED_ALONE = "calls at half that rate while nobody reads";
  private static final String PACED_FOLLOWED = "calls at half that rate while a subscriber follows";
  private static final String PACED_TOLD = "changes that it gets at half that rate";

  // A caller at a rate makes so many calls without a pause.
  private static final int BURST = 16;

  /// Makes the benchmark.
  public ChangesBenchmark() {}

  @Override
  public String name() {
    return "changes";
  }

  @Override
  public String description() {
    return "a durable subscriber to changes: how fast it reads, and what it costs writers";
  }

  @Override
  public ChangesScale full() {
    return ChangesScale.full();
  }

  @Override
  public ChangesScale smoke() {
    return ChangesScale.smoke();
  }

  @Override
  public Outcome run(Context<ChangesScale> context) throws Exception {
    var findings = new Findings(context.sizes(), ChangesScale.full());
    var samples = new Samples();
    Path folder = Files.createDirectories(context.folder().resolve("changes"));
    try (Stoa stoa = Stoa.open(StoaConfig.of("file:" + folder))) {
      var load = new Load(stoa, context, samples);
      var _ = load.call(context.scale().warmUp());
      for (int round = 1; round <= context.scale().rounds(); round++) {
        load.readAfterwards(round);
        for (int window = 0; window < context.sizes().windows(); window++) {
          context.progress().accept("round %d, window %d".formatted(round, window + 1));
          if (window % 2 == 0) load.measureAlone();
          load.measureFollowed();
          if (window % 2 != 0) load.measureAlone();
          load.measurePaced(window % 2 == 0);
        }
      }
    }
    findings.section(
        "durable calls of %,d objects, %d callers".formatted(context.sizes().objects(), CALLERS),
        List.of(
            Result.of(samples, READ, "changes/s"),
            Result.of(samples, STATES, "changes/s").beside(READ, samples.median(READ)),
            Result.of(samples, ALONE, "calls/s"),
            Result.of(samples, FOLLOWED, "calls/s").beside(ALONE, samples.median(ALONE)),
            Result.of(samples, TOLD, "changes/s").beside(FOLLOWED, samples.median(FOLLOWED)),
            Result.of(samples, PACED_ALONE, "calls/s"),
            Result.of(samples, PACED_FOLLOWED, "calls/s")
                .beside(PACED_ALONE, samples.median(PACED_ALONE)),
            Result.of(samples, PACED_TOLD, "changes/s")
                .beside(PACED_FOLLOWED, samples.median(PACED_FOLLOWED))));
    findings.atLeast(
        "changes read in a second, at least %,.0f".formatted(READ_MIN),
        READ_MIN,
        samples.median(READ));
    findings.atLeast(
        "calls while a subscriber follows ÷ calls while nobody reads, at least " + RATIO_MIN,
        RATIO_MIN,
        samples.medianRatio(FOLLOWED, ALONE));
    findings.atLeast(
        "the same with writers at half of the rate, at least " + RATIO_MIN,
        RATIO_MIN,
        samples.medianRatio(PACED_FOLLOWED, PACED_ALONE));
    return findings.outcome();
  }

  private static final class Load {
    private final Context<ChangesScale> context;
    private final Samples samples;
    private final Subscription subscription;
    private final Stoa stoa;
    private final List<Counter> counters;

    private Load(Stoa stoa, Context<ChangesScale> context, Samples samples) {
      this.stoa = stoa;
      this.context = context;
      this.samples = samples;
      counters =
          IntStream.range(0, context.sizes().objects())
              .mapToObj(i -> stoa.get(Counter.class, "c" + i, "c" + i))
              .toList();
      subscription = stoa.subscribe("benchmark", Duration.ofDays(1));
    }

    private void step(int i) {
      var _ = counters.get(i % counters.size()).add(1);
    }

    /// Has all callers call for some time, as fast as they can; returns how often they did.
    private long call(Duration time) throws Exception {
      return call(time, 0);
    }

    /// Has all callers call for some time; returns how often they did.
    ///
    /// @param restNanos the time from the beginning of a caller's burst to that of its next one; a
    ///   caller that is late catches up
    private long call(Duration time, long restNanos) throws Exception {
      long begin = System.nanoTime();
      long end = begin + time.toNanos();
      var calls = new LongAdder();
      Parallel.run(
          CALLERS,
          CALLERS,
          caller -> {
            long due = begin + caller * restNanos / CALLERS;
            int turn = caller;
            for (long now = begin; now < end; now = System.nanoTime()) {
              if (now < due) {
                LockSupport.parkNanos(due - now);
                continue;
              }
              due += restNanos;
              for (int i = 0; i < BURST; i++, turn += CALLERS) step(turn);
              calls.add(BURST);
            }
          });
      return calls.sum();
    }

    private void readAfterwards(int round) throws Exception {
      context.progress().accept("round %d, reading".formatted(round));
      subscription.acknowledge(stoa.streams().tail());
      int changes = context.sizes().changes();
      Parallel.run(CALLERS, changes, this::step);
      LogAddress begin = subscription.position();
      measureReading(STATES, Changes.of(Counter.class).withStates().after(begin), changes / 10);
      measureReading(READ, Changes.of(Counter.class).after(begin), changes);
    }

    private void measureReading(String measure, Changes<Counter> what, int count)
        throws InterruptedException {
      long began = System.nanoTime();
      try (ChangeStream<Counter> changes = stoa.changes(what)) {
        long acknowledged = began;
        for (int i = 0; i < count; i++) {
          Change<Counter> _ = changes.next();
          if ((i & 1_023) != 0) continue;
          acknowledged = acknowledge(changes, acknowledged);
        }
      }
      samples.add(measure, count * 1e9 / (System.nanoTime() - began));
    }

    /// Acknowledges some times a second, as a subscriber does.
    private long acknowledge(ChangeStream<Counter> changes, long last) {
      long now = System.nanoTime();
      if (now - last < ACKNOWLEDGE_NANOS) return last;
      subscription.acknowledge(changes.token());
      return now;
    }

    private void measureAlone() throws Exception {
      Duration time = context.scale().time();
      samples.add(ALONE, call(time) * 1e9 / time.toNanos());
    }

    private void measureFollowed() throws Exception {
      measureFollowed(FOLLOWED, TOLD, 0);
    }

    /// Measures writers that leave half of the machine to others.
    private void measurePaced(boolean isAloneFirst) throws Exception {
      long restNanos = Math.round(2e9 * CALLERS * BURST / samples.median(ALONE));
      if (!isAloneFirst) measureFollowed(PACED_FOLLOWED, PACED_TOLD, restNanos);
      Duration time = context.scale().time();
      samples.add(PACED_ALONE, call(time, restNanos) * 1e9 / time.toNanos());
      if (isAloneFirst) measureFollowed(PACED_FOLLOWED, PACED_TOLD, restNanos);
    }

    private void measureFollowed(String calls, String changes, long restNanos) throws Exception {
      var over = new AtomicBoolean();
      var failure = new AtomicReference<Throwable>();
      var told = new LongAdder();
      LogAddress now = stoa.streams().tail();
      Thread reader = Thread.ofVirtual().start(() -> follow(now, over, told, failure));
      Duration time = context.scale().time();
      samples.add(calls, call(time, restNanos) * 1e9 / time.toNanos());
      samples.add(changes, told.sum() * 1e9 / time.toNanos());
      over.set(true);
      reader.join();
      Throwable failed = failure.get();
      if (failed != null) throw new IllegalStateException("the subscriber failed", failed);
    }

    private void follow(
        LogAddress from, AtomicBoolean over, LongAdder told, AtomicReference<Throwable> failure) {
      try (ChangeStream<Counter> changes = stoa.changes(Changes.of(Counter.class).after(from))) {
        long acknowledged = System.nanoTime();
        while (!over.get()) {
          if (changes.next(Duration.ofMillis(10)).isPresent()) told.increment();
          acknowledged = acknowledge(changes, acknowledged);
        }
      } catch (InterruptedException | RuntimeException failed) {
        failure.set(failed);
      }
    }
  }
}
