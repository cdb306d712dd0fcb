package stoa.bench;

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

/// Snapshot transactions that read random objects at random past log addresses (vCorfu, Figure 13).
final class PastPhase {
  private static final int READS = 3;
  private static final double AIM = 50_000;

  /// The paper's rate, with remote views.
  private static final double PAPER = 10_000;

  private final Context context;
  private final TxScale scale;

  PastPhase(Context context) {
    this.context = context;
    scale = context.scale().tx();
  }

  void measure(Findings findings) throws Exception {
    try (var stoa = Stoa.open("memory:")) {
      List<Counter> objects =
          IntStream.range(0, scale.pastObjects())
              .mapToObj(i -> stoa.get(Counter.class, "past " + i))
              .toList();
      context.progress().accept("making a past");
      objects.forEach(object -> object.add(1));
      LogAddress from = now(stoa);
      var random = new SplittableRandom(13);
      for (long i = (long) objects.size() * scale.pastCalls(); i > 0; i--) {
        objects.get(random.nextInt(objects.size())).add(1);
      }
      LogAddress to = now(stoa);

      Map<String, Samples.Probe> probes = new LinkedHashMap<>();
      for (int views : scale.views()) {
        for (String kind : List.of("remote", "local", "present")) {
          String name = name(kind, views);
          probes.put(
              name,
              samples -> {
                var randoms = new SplittableRandom[views];
                var seeds = new SplittableRandom(views);
                for (int i = 0; i < views; i++) randoms[i] = seeds.split();
                var load = new Load(views, Load.Threads.PLATFORM, scale.warmUp(), scale.time());
                samples.add(
                    name,
                    load.run((caller, _) -> {
                      SplittableRandom own = randoms[caller];
                      LogAddress at = between(from, to, own);
                      switch (kind) {
                        case "remote" -> read(stoa, TxOptions.readingAt(at), objects, own);
                        case "local" -> playBack(stoa, at, objects, own);
                        default -> read(stoa, TxOptions.reading(), objects, own);
                      }
                    }));
              });
        }
      }
      tell(findings, Samples.interleaved(scale.rounds(), probes, context.progress()));
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

  /// What a local view does in the paper: the caller plays each object's stream up to the address.
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

  private void tell(Findings findings, Samples samples) {
    var results = new ArrayList<Result>();
    double best = 0;
    for (int views : scale.views()) {
      String remote = name("remote", views);
      String present = name("present", views);
      String local = name("local", views);
      results.add(
          Result.of(samples, present, "1/s").beside("the paper, remote views of the past", PAPER));
      results.add(Result.of(samples, remote, "1/s").beside(present, samples.median(present)));
      results.add(Result.of(samples, remote + ", p99", "µs"));
      results.add(Result.of(samples, local, "1/s").beside(remote, samples.median(remote)));
      best = Math.max(best, samples.median(remote));
    }
    findings.section(
        "snapshot transactions that read %d of %,d objects, with %d calls each (Figure 13)"
            .formatted(READS, scale.pastObjects(), scale.pastCalls()),
        results);
    findings.atLeast(
        "snapshot transactions at random past addresses, 1/s: at least 50,000 (the paper: 10,000)",
        AIM,
        best);
    var lines =
        List.of(
            new Lines.Line("past, remote", views -> name("remote", views)),
            new Lines.Line("past, played back", views -> name("local", views)),
            new Lines.Line("present", views -> name("present", views)));
    findings.figure(
        "figure-13-snapshots.svg",
        new Chart(
            "Snapshot transactions",
            "each reads %d random objects as of one log address; in memory".formatted(READS),
            "transactions per second",
            "callers",
            List.of(Lines.panel("", samples, scale.views(), lines, 1))));
  }

  private static String name(String kind, int views) {
    String what =
        switch (kind) {
          case "remote" -> "at a past address";
          case "local" -> "at a past address, played back by the caller";
          default -> "at the present";
        };
    return "%s, %d caller%s".formatted(what, views, views == 1 ? "" : "s");
  }
}
