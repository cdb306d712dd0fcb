package stoa.bench.log;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import stoa.Stoa;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.bench.load.Load;
import stoa.bench.load.Samples;
import stoa.bench.machine.DiskLimits;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Appends through the stream store with many callers, to one shard and to several, to one stream
/// and to two at once.
final class ShardPhase {
  private static final int CALLERS = 240;
  private static final int STREAMS = 1_000;
  private static final String BARE = "bare group commit, %d callers".formatted(CALLERS);

  private final Context<LogScale> context;
  private final LogScale scale;
  private final List<StreamKey> keys = new ArrayList<>();

  ShardPhase(Context<LogScale> context) {
    this.context = context;
    scale = context.sizes();
    for (int i = 0; i < STREAMS; i++) keys.add(StreamKey.of("stream " + i));
  }

  void measure(Findings findings) throws Exception {
    Map<String, Samples.Probe> probes = new LinkedHashMap<>();
    probes.put(
        BARE, samples -> samples.add(BARE, DiskLimits.groupCommit(context.folder(), load())));
    for (boolean durable : new boolean[] {true, false}) {
      for (int shards : scale.shards()) {
        for (int streams : List.of(1, 2)) {
          String name = name(durable, shards, streams);
          probes.put(name, samples -> sample(samples, name, durable, shards, streams));
        }
      }
    }
    var samples = Samples.interleaved(scale.rounds(), probes, context.progress());
    var results = new ArrayList<Result>();
    results.add(Result.of(samples, BARE, "1/s"));
    for (boolean durable : new boolean[] {true, false}) {
      String one = name(durable, scale.shards().getFirst(), 1);
      for (int shards : scale.shards()) {
        for (int streams : List.of(1, 2)) {
          String name = name(durable, shards, streams);
          String beside = name.equals(one) ? BARE : one;
          Result result = Result.of(samples, name, "1/s");
          results.add(
              name.equals(one) && !durable
                  ? result
                  : result.beside(beside, samples.median(beside)));
        }
      }
    }
    findings.section(
        "append through the stream store, %d callers, %,d streams (Figure 7: more logging units)"
            .formatted(CALLERS, STREAMS),
        results);
  }

  private Load load() {
    return new Load(CALLERS, Load.Threads.VIRTUAL, scale.warmUp(), scale.time());
  }

  private void sample(Samples samples, String name, boolean durable, int shards, int streams)
      throws Exception {
    Path folder = context.folder().resolve("shards");
    String place = durable ? "file:" + folder : "memory:";
    try (var stoa = Stoa.open(shards == 1 ? place : place + "?shards=" + shards)) {
      StreamStore store = stoa.streams();
      byte[] data = new byte[AppendLog.ENTRY_BYTES];
      SplittableRandom[] randoms = load().randoms(shards);
      samples.add(
          name,
          load()
              .run((caller, _) -> {
                int first = randoms[caller].nextInt(STREAMS);
                if (streams == 1) {
                  var _ = store.append(keys.get(first), data);
                } else {
                  int second = (first + 1 + randoms[caller].nextInt(STREAMS - 1)) % STREAMS;
                  var _ = store.append(Map.of(keys.get(first), data, keys.get(second), data));
                }
              }));
    } finally {
      Directories.delete(folder);
    }
  }

  private static String name(boolean durable, int shards, int streams) {
    return "appends to %s, %s, %d shard%s"
        .formatted(
            streams == 1 ? "a stream" : "two streams at once",
            durable ? "durable" : "in memory",
            shards,
            shards == 1 ? "" : "s");
  }
}
