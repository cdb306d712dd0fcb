package stoa.bench.ycsb;

import java.nio.file.Path;
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
import stoa.ShardedMap;
import stoa.Stoa;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.View;
import stoa.bench.csmr.Bucket;
import stoa.bench.load.Load;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.place.StorePlace;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.Directories;
import stoa.programs.Words;

/// Transactions that read three records of the composed map as of a random past log address
/// (vCorfu, Figure 13).
final class SnapshotsRun {
  private static final int READS = 3;
  private static final int RECORD_BYTES = 1_000;
  private static final int LOADERS = 240;

  // The rate of the paper's remote views.
  private static final double PAPER = 10_000;

  private final Context<YcsbScale> context;
  private final YcsbScale.Snapshots sizes;
  private final StorePlace place;

  SnapshotsRun(Context<YcsbScale> context, StorePlace place) {
    this.context = context;
    this.place = place;
    sizes = context.sizes().snapshots();
  }

  /// The kinds of reads.
  private enum Kind {
    PRESENT("remote view, at the present"),
    PAST("remote view, at a past address"),
    LOCAL("local view, at the present, a moment each"),
    PLAYED("played back by the caller, at a past address");

    private final String text;

    Kind(String text) {
      this.text = text;
    }
  }

  void measure(Findings findings) throws Exception {
    Path folder = context.folder().resolve("snapshots");
    try (var opened = place.open(folder)) {
      var past = Past.make(context, opened.stoa(), sizes);
      int most = sizes.callers().getLast();
      for (Kind kind : Kind.values()) {
        context.progress().accept("warming up: " + kind.text);
        var _ = past.run(kind, new Load(most, Load.Threads.PLATFORM, Duration.ZERO, sizes.heat()));
      }
      Map<String, Samples.Probe> probes = new LinkedHashMap<>();
      for (int callers : sizes.callers()) {
        var load = new Load(callers, Load.Threads.PLATFORM, sizes.warmUp(), sizes.time());
        for (Kind kind : Kind.values()) {
          String name = name(kind, callers);
          probes.put(name, samples -> samples.add(name, past.run(kind, load)));
        }
      }
      tell(findings, Samples.interleaved(sizes.rounds(), probes, context.progress()));
    } finally {
      Directories.delete(folder);
    }
  }

  /// The records twice, in the composed map and in as many plain objects around a hash map, whose
  /// calls a caller can play back. Both have a past between two log addresses.
  private record Past(
      Stoa stoa,
      ShardedMap<Integer, byte[]> map,
      Map<?, ?> copy,
      List<Bucket> buckets,
      int records,
      LogAddress from,
      LogAddress to) {
    static Past make(Context<YcsbScale> context, Stoa stoa, YcsbScale.Snapshots sizes)
        throws Exception {
      ShardedMap<Integer, byte[]> map =
          stoa.shardedMap("snapshots", Integer.class, byte[].class, YcsbScale.CHILDREN);
      List<Bucket> buckets =
          IntStream.range(0, YcsbScale.CHILDREN)
              .mapToObj(child -> stoa.get(Bucket.class, child))
              .toList();
      int records = sizes.records();
      context.progress().accept("making a past of " + Words.count(records, "record"));
      put(map, buckets, records);
      LogAddress from = now(stoa);
      for (int i = 0; i < sizes.puts(); i++) put(map, buckets, records);
      Map<?, ?> copy = stoa.view(ShardedMap.class, stoa.ref(map), new View.Local());
      return new Past(stoa, map, copy, buckets, records, from, now(stoa));
    }

    private static void put(ShardedMap<Integer, byte[]> map, List<Bucket> buckets, int records)
        throws Exception {
      Parallel.run(
          LOADERS,
          records,
          key -> {
            map.fastPut(key, new byte[RECORD_BYTES]);
            bucket(buckets, key).put(key, new byte[RECORD_BYTES]);
          });
    }

    private static Bucket bucket(List<Bucket> buckets, int key) {
      return buckets.get(Math.floorMod(key * 0x9e3779b9, buckets.size()));
    }

    private static LogAddress now(Stoa stoa) {
      try (Transaction transaction = stoa.begin(TxOptions.reading())) {
        return transaction.at();
      }
    }

    Load.Seen run(Kind kind, Load load) throws Exception {
      SplittableRandom[] randoms = load.randoms(load.callers());
      return load.run((caller, _) -> {
        SplittableRandom random = randoms[caller];
        var at = new LogAddress(from.epoch(), random.nextLong(from.counter(), to.counter() + 1));
        switch (kind) {
          case PRESENT -> read(TxOptions.reading(), random);
          case PAST -> read(TxOptions.readingAt(at), random);
          case LOCAL -> {
            for (int i = 0; i < READS; i++) check(copy.get(random.nextInt(records)));
          }
          case PLAYED -> {
            for (int i = 0; i < READS; i++) check(played(random.nextInt(records), at));
          }
        }
      });
    }

    private void read(TxOptions options, SplittableRandom random) {
      var _ =
          stoa.transact(
              options,
              () -> {
                for (int i = 0; i < READS; i++) check(map.get(random.nextInt(records)));
                return true;
              });
    }

    /// Returns the value of a key at an address, from the calls on its object up to there.
    private @Nullable Object played(int key, LogAddress at) {
      History<Bucket> history = stoa.history(bucket(buckets, key));
      @Nullable Object value = null;
      for (History.Entry entry : history.entries(1, history.version())) {
        if (entry.address().compareTo(at) > 0) break;
        if (entry.event() instanceof History.Event.Called called
            && called.arguments().size() == 2
            && Integer.valueOf(key).equals(called.arguments().getFirst())) {
          value = called.arguments().getLast();
        }
      }
      return value;
    }

    private static void check(@Nullable Object value) {
      if (!(value instanceof byte[] bytes) || bytes.length != RECORD_BYTES) {
        throw new IllegalStateException("a record is not as it was put");
      }
    }
  }

  private void tell(Findings findings, Samples samples) {
    var results = new ArrayList<Result>();
    for (int callers : sizes.callers()) {
      String past = name(Kind.PAST, callers);
      for (Kind kind : Kind.values()) {
        Result result = Result.of(samples, name(kind, callers), "1/s");
        results.add(
            kind == Kind.PAST
                ? result.beside("the paper, remote views", PAPER)
                : result.beside(past, samples.median(past)));
        results.add(Result.of(samples, name(kind, callers) + ", p99", "µs"));
      }
    }
    findings.section(
        "transactions that read %d of %,d records of 1 KB in %,d children, %s (Figure 13)"
            .formatted(READS, sizes.records(), YcsbScale.CHILDREN, place),
        results);
  }

  private static String name(Kind kind, int callers) {
    return "%s, %s".formatted(kind.text, Words.count(callers, "caller"));
  }
}
