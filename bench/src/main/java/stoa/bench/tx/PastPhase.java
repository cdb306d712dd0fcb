package stoa.bench.tx;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import stoa.History;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.bench.load.Counter;
import stoa.bench.load.Load;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.place.StorePlace;
import stoa.bench.plot.Chart;
import stoa.bench.plot.Lines;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;

/// Snapshot transactions that read random objects at random past log addresses (vCorfu, Figure 13).
final class PastPhase {
  private static final int READS = 3;
  private static final int CALLERS = 64;
  private static final double AIM = 50_000;

  // The paper's rate, with remote views.
  private static final double PAPER = 10_000;

  private final Context<TxScale> context;
  private final StorePlace place;
  private final TxScale scale;

  PastPhase(Context<TxScale> context, StorePlace place) {
    this.context = context;
    this.place = place;
    scale = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    try (var opened = place.openInMemory(context.folder().resolve("past"))) {
      var stoa = opened.stoa();
      List<Counter> objects =
          IntStream.range(0, scale.pastObjects())
              .mapToObj(i -> stoa.get(Counter.class, "past " + i))
              .toList();
      context.progress().accept("making a past");
      Parallel.run(CALLERS, objects.size(), i -> objects.get(i).add(1));
      LogAddress from = now(stoa);
      Parallel.run(
          CALLERS,
          objects.size() * scale.pastCalls(),
          i -> objects.get(new SplittableRandom(i).nextInt(objects.size())).add(1));
      LogAddress to = now(stoa);

      var past = new Past(stoa, objects, from, to);
      var first = new Load(1, Load.Threads.PLATFORM, scale.warmUp(), scale.time());
      double cold = past.run(Kind.PAST, first).callsPerSecond();
      Map<String, Samples.Probe> probes = new LinkedHashMap<>();
      for (int views : scale.views()) {
        context.progress().accept("warming up: " + name(Kind.PAST, views));
        var warming = new Load(views, Load.Threads.PLATFORM, Duration.ZERO, scale.pastWarmUp());
        var _ = past.run(Kind.PAST, warming);
        var load = new Load(views, Load.Threads.PLATFORM, scale.warmUp(), scale.time());
        for (Kind kind : Kind.values()) {
          String name = name(kind, views);
          probes.put(name, samples -> samples.add(name, past.run(kind, load)));
        }
      }
      tell(findings, Samples.interleaved(scale.rounds(), probes, context.progress()), cold);
    }
  }

  /// The kinds of reads of a transaction.
  private enum Kind {
    PRESENT("at the present"),
    PAST("at a past address"),
    PLAYED("at a past address, played back by the caller");

    private final String text;

    Kind(String text) {
      this.text = text;
    }
  }

  /// Objects with a past between two log addresses.
  private record Past(Stoa stoa, List<Counter> objects, LogAddress from, LogAddress to) {
    Load.Seen run(Kind kind, Load load) throws Exception {
      SplittableRandom[] randoms = load.randoms(load.callers());
      return load.run((caller, _) -> {
        SplittableRandom own = randoms[caller];
        LogAddress at = between(from, to, own);
        switch (kind) {
          case PRESENT -> read(stoa, TxOptions.reading(), objects, own);
          case PAST -> read(stoa, TxOptions.readingAt(at), objects, own);
          case PLAYED -> playBack(stoa, at, objects, own);
        }
      });
    }
  }

  private static LogAddress now(Stoa stoa) {
    try (Transaction transaction = stoa.begin(TxOptions.reading())) {
      return transaction.at();
    }
  }

  private static LogAddress between(LogAddress from, LogAddress to, SplittableRandom random) {
    return new LogAddress(from.epoch(), random.nextLong(from.counter(), to.counter() + 1));
  }

  private static void read(
      Stoa stoa, TxOptions options, List<Counter> objects, SplittableRandom random) {
    long sum =
        stoa.transact(
            options,
            () -> {
              long read = 0;
              for (int i = 0; i < READS; i++) {
                read += objects.get(random.nextInt(objects.size())).value();
              }
              return read;
            });
    if (sum < READS) throw new IllegalStateException("an object was read before it began");
  }

  /// Reads as the paper's local views do: the caller plays each object's stream up to the address.
  private static void playBack(
      Stoa stoa, LogAddress at, List<Counter> objects, SplittableRandom random) {
    long sum = 0;
    for (int i = 0; i < READS; i++) {
      History<Counter> history = stoa.history(objects.get(random.nextInt(objects.size())));
      for (History.Entry entry : history.entries(1, history.version())) {
        if (entry.address().compareTo(at) > 0) break;
        if (entry.event() instanceof History.Event.Called called) {
          sum += first(called.arguments());
        }
      }
    }
    if (sum < READS) throw new IllegalStateException("an object was read before it began");
  }

  private static long first(List<? extends @Nullable Object> arguments) {
    return arguments.getFirst() instanceof Long number ? number : 0;
  }

  private void tell(Findings findings, Samples samples, double cold) {
    var results = new ArrayList<Result>();
    results.add(Result.alone("at a past address, 1 caller, the first ones", cold, "1/s"));
    double best = 0;
    for (int views : scale.views()) {
      String remote = name(Kind.PAST, views);
      String present = name(Kind.PRESENT, views);
      String local = name(Kind.PLAYED, views);
      results.add(
          Result.of(samples, present, "1/s").beside("the paper, remote views of the past", PAPER));
      results.add(Result.of(samples, remote, "1/s").beside(present, samples.median(present)));
      results.add(Result.of(samples, remote + ", p99", "µs"));
      results.add(Result.of(samples, local, "1/s").beside(remote, samples.median(remote)));
      best = Math.max(best, samples.median(remote));
    }
    findings.section(
        "snapshot transactions that read %d of %,d objects, with %d calls each, %s (Figure 13)"
            .formatted(READS, scale.pastObjects(), scale.pastCalls(), place),
        results);
    findings.atLeast(
        "snapshot transactions at random past addresses, 1/s: at least 50,000 (the paper: 10,000)",
        AIM,
        best);
    var lines =
        List.of(
            new Lines.Line("past, remote", views -> name(Kind.PAST, views)),
            new Lines.Line("past, played back", views -> name(Kind.PLAYED, views)),
            new Lines.Line("present", views -> name(Kind.PRESENT, views)));
    findings.figure(
        "figure-13-snapshots.svg",
        new Chart(
            "Snapshot transactions",
            "each reads %d random objects as of one log address; in memory".formatted(READS),
            "transactions per second",
            "callers",
            List.of(Lines.panel("", samples, scale.views(), lines, 1))));
  }

  private static String name(Kind kind, int views) {
    return "%s, %d caller%s".formatted(kind.text, views, views == 1 ? "" : "s");
  }
}
