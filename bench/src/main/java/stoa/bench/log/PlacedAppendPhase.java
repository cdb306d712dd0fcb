package stoa.bench.log;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.bench.load.Load;
import stoa.bench.load.Samples;
import stoa.bench.machine.DiskLimits;
import stoa.bench.place.StorePlace;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Appends by many callers to few streams and to many of a store in some place, to one stream and
/// to two at once (vCorfu, Figure 7). Every append is durable.
final class PlacedAppendPhase {
  private static final int CALLERS = 240;
  private static final String BARE = "bare group commit, %d callers".formatted(CALLERS);

  private final Context<LogScale> context;
  private final StorePlace place;
  private final LogScale scale;

  PlacedAppendPhase(Context<LogScale> context, StorePlace place) {
    this.context = context;
    this.place = place;
    scale = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    Path folder = context.folder().resolve("appends");
    Path bare = Files.createDirectories(context.folder().resolve("bare"));
    context.progress().accept("appends: opening a store " + place);
    Samples samples;
    try (var opened = place.open(folder)) {
      Map<String, Load.Body> bodies = bodies(opened.stoa().streams());
      // Once before anything counts: a server has just started.
      for (Load.Body body : bodies.values()) {
        var _ = load().run(body);
      }
      Map<String, Samples.Probe> probes = new LinkedHashMap<>();
      probes.put(BARE, taken -> taken.add(BARE, DiskLimits.groupCommit(bare, load())));
      bodies.forEach((name, body) -> probes.put(name, taken -> taken.add(name, load().run(body))));
      samples = Samples.interleaved(scale.rounds(), probes, context.progress());
    } finally {
      Directories.delete(folder);
      Directories.delete(bare);
    }
    tell(findings, samples);
  }

  /// Returns a turn of a caller for each measure.
  private Map<String, Load.Body> bodies(StreamStore store) {
    byte[] data = new byte[AppendLog.ENTRY_BYTES];
    Map<String, Load.Body> bodies = new LinkedHashMap<>();
    for (int streams : scale.streams()) {
      List<StreamKey> keys = PlacedReadPhase.keys(streams);
      SplittableRandom[] randoms = load().randoms(streams);
      bodies.put(
          one(streams),
          (caller, _) -> {
            var _ = store.append(keys.get(randoms[caller].nextInt(streams)), data);
          });
      bodies.put(
          two(streams),
          (caller, _) -> {
            int first = randoms[caller].nextInt(streams);
            int second = (first + 1 + randoms[caller].nextInt(streams - 1)) % streams;
            var _ = store.append(Map.of(keys.get(first), data, keys.get(second), data));
          });
    }
    return bodies;
  }

  private Load load() {
    return new Load(CALLERS, Load.Threads.VIRTUAL, scale.warmUp(), scale.time());
  }

  private void tell(Findings findings, Samples samples) {
    var results = new ArrayList<Result>();
    results.add(Result.of(samples, BARE, "1/s"));
    for (int streams : scale.streams()) {
      String one = one(streams);
      results.add(Result.of(samples, one, "1/s").beside(BARE, samples.median(BARE)));
      results.add(Result.of(samples, one + ", p50", "µs"));
      results.add(Result.of(samples, two(streams), "1/s").beside(one, samples.median(one)));
    }
    findings.section(
        "durable appends of %d bytes %s, %d callers (Figure 7)"
            .formatted(AppendLog.ENTRY_BYTES, place, CALLERS),
        results);
  }

  private static String one(int streams) {
    return "appends to a stream, %,d streams".formatted(streams);
  }

  private static String two(int streams) {
    return "appends to two streams at once, %,d streams".formatted(streams);
  }
}
