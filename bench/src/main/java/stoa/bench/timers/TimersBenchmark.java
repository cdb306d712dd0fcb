package stoa.bench.timers;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import stoa.Limits;
import stoa.Schedule;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.machine.Memory;
import stoa.bench.report.Benchmark;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Outcome;
import stoa.bench.report.Result;
import stoa.objects.EmbeddedEngine;
import stoa.storage.disk.FileDisk;
import stoa.store.threads.Threads;

/// Measures many timers of a store in this process: how fast they are scheduled, their memory, and
/// how fast they fire when all are due. Beside them, durable calls of the same objects by programs.
///
/// The benchmark moves the store's clock. Until then, no timer is due.
public final class TimersBenchmark implements Benchmark<TimersScale> {
  private static final int CALLERS = 64;
  private static final String CALLS = "calls by programs, 64 callers";
  private static final String SCHEDULED = "timers scheduled, 64 callers";
  private static final String BYTES = "memory of a timer";
  private static final String FIRED = "timers fired";

  /// Makes the benchmark.
  public TimersBenchmark() {}

  @Override
  public String name() {
    return "timers";
  }

  @Override
  public String description() {
    return "a million timers: their memory, and how fast they fire";
  }

  @Override
  public TimersScale full() {
    return TimersScale.full();
  }

  @Override
  public TimersScale smoke() {
    return TimersScale.smoke();
  }

  @Override
  public Outcome run(Context<TimersScale> context) throws Exception {
    var findings = new Findings(context.sizes(), TimersScale.full());
    var samples = new Samples();
    var moved = new AtomicLong();
    Clock machine = Clock.system();
    Path folder = Files.createDirectories(context.folder().resolve("timers"));
    var config =
        StoaConfig.of("file:" + folder)
            .withLimits(Limits.standard().withResidentBytesMax(4L << 30));
    try (Stoa stoa =
        EmbeddedEngine.open(
            config,
            new FileDisk(folder),
            () -> machine.nowMicros() + moved.get(),
            Threads.real())) {
      var load = new Load(stoa, context, samples);
      load.call();
      load.schedule();
      long[] rings = load.rings();
      moved.addAndGet(ChronoUnit.DAYS.getDuration().toNanos() / 1_000);
      load.fire(rings);
    }
    findings.section(
        "%,d timers of %,d objects".formatted(context.sizes().timers(), context.sizes().targets()),
        List.of(
            Result.of(samples, CALLS, "calls/s"),
            Result.of(samples, SCHEDULED, "timers/s").beside(CALLS, samples.median(CALLS)),
            Result.of(samples, BYTES, "bytes"),
            Result.of(samples, FIRED, "timers/s").beside(CALLS, samples.median(CALLS))));
    return findings.outcome();
  }

  private static final class Load {
    private final Stoa stoa;
    private final Context<TimersScale> context;
    private final Samples samples;
    private final List<Rung> targets;
    private final int timers;

    private Load(Stoa stoa, Context<TimersScale> context, Samples samples) {
      this.stoa = stoa;
      this.context = context;
      this.samples = samples;
      this.timers = context.sizes().timers();
      this.targets =
          IntStream.range(0, context.sizes().targets())
              .mapToObj(i -> stoa.get(Rung.class, "r" + i))
              .toList();
    }

    private void call() throws Exception {
      context.progress().accept("calls by programs");
      Parallel.run(CALLERS, targets.size(), i -> targets.get(i).ring());
      long began = System.nanoTime();
      int calls = Math.max(targets.size(), timers / 10);
      Parallel.run(CALLERS, calls, i -> targets.get(i % targets.size()).ring());
      samples.add(CALLS, calls * 1e9 / (System.nanoTime() - began));
    }

    private void schedule() throws Exception {
      context.progress().accept("scheduling");
      Instant due = Instant.now().plus(12, ChronoUnit.HOURS);
      long before = Memory.liveHeap();
      long began = System.nanoTime();
      Parallel.run(
          CALLERS,
          timers,
          i ->
              stoa.timers()
                  .schedule(Schedule.at(due.plusNanos(1_000L * i)), targets.get(i % targets.size()))
                  .ring());
      samples.add(SCHEDULED, timers * 1e9 / (System.nanoTime() - began));
      samples.add(BYTES, (double) (Memory.liveHeap() - before) / timers);
    }

    private void fire(long[] rings) throws Exception {
      context.progress().accept("firing");
      long began = System.nanoTime();
      int each = timers / targets.size();
      Parallel.run(CALLERS, targets.size(), i -> targets.get(i).await(rings[i] + each));
      samples.add(FIRED, timers * 1e9 / (System.nanoTime() - began));
    }

    private long[] rings() {
      return targets.stream().mapToLong(Rung::rings).toArray();
    }
  }
}
