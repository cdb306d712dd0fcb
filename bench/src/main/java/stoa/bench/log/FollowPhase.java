package stoa.bench.log;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import stoa.LogSlot;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.bench.cluster.ClusterServers;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.machine.DiskLimits;
import stoa.bench.place.StorePlace;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Reads the whole log of a store in some place in order: by following it, by a scan, and stream by
/// stream.
final class FollowPhase {
  private static final int CALLERS = 240;
  private static final int STREAMS = 1_000;
  private static final String FILES = "read and checksum the files";
  private static final String FOLLOW = "follow the log";
  private static final String SCAN = "scan the log";
  private static final String STREAM = "read stream by stream";

  private final Context<LogScale> context;
  private final StorePlace place;
  private final LogScale scale;

  FollowPhase(Context<LogScale> context, StorePlace place) {
    this.context = context;
    this.place = place;
    scale = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    int entries = scale.followEntries();
    Path folder = context.folder().resolve("follow");
    var samples = new Samples();
    List<StreamKey> keys = PlacedReadPhase.keys(STREAMS);
    // The log of several servers also has entries of theirs.
    var own = Set.copyOf(keys);
    try (var opened = place.open(folder)) {
      StreamStore store = opened.stoa().streams();
      context.progress().accept("writing a log of %,d entries".formatted(entries));
      byte[] data = new byte[AppendLog.ENTRY_BYTES];
      Parallel.run(
          CALLERS,
          entries,
          i -> {
            var _ = store.append(keys.get(i % STREAMS), data);
          });
      for (int round = 0; round < scale.rounds(); round++) {
        context.progress().accept("reading a log of %,d entries".formatted(entries));
        samples.add(FILES, entries * copies() / DiskLimits.readAll(folder));
        samples.add(FOLLOW, rate(entries, () -> follow(store, own, entries)));
        samples.add(SCAN, rate(entries, () -> scan(store, own)));
        samples.add(STREAM, rate(entries, () -> streams(store, keys)));
      }
    } finally {
      Directories.delete(folder);
    }
    var results = new ArrayList<Result>();
    results.add(Result.of(samples, FILES, "entries/s"));
    for (String way : List.of(FOLLOW, SCAN, STREAM)) {
      results.add(Result.of(samples, way, "entries/s").beside(FILES, samples.median(FILES)));
    }
    findings.section(
        "read of a log of %,d entries of %d bytes in %,d streams, %s"
            .formatted(entries, AppendLog.ENTRY_BYTES, STREAMS, place),
        results);
  }

  /// Returns how many servers have the log in the folder.
  private double copies() {
    return place == StorePlace.CLUSTER ? ClusterServers.SERVERS : 1;
  }

  /// Reads a log and counts its entries.
  @FunctionalInterface
  private interface Reading {
    long count() throws Exception;
  }

  private static double rate(int entries, Reading reading) throws Exception {
    long start = System.nanoTime();
    long read = reading.count();
    double seconds = (System.nanoTime() - start) / 1e9;
    if (read != entries) {
      throw new IllegalStateException("read %,d of %,d entries".formatted(read, entries));
    }
    return entries / seconds;
  }

  private static long follow(StreamStore store, Set<StreamKey> own, int entries)
      throws InterruptedException {
    long count = 0;
    try (var follower = store.follow(StreamStore.BEGINNING)) {
      while (count < entries) {
        var next = follower.next(Duration.ofSeconds(10));
        if (next.isEmpty()) break;
        count += count(next.get(), own);
      }
    }
    return count;
  }

  private static long scan(StreamStore store, Set<StreamKey> own) {
    long[] count = {0};
    store.scan(
        StreamStore.BEGINNING,
        store.tail(),
        slot -> {
          count[0] += count(slot, own);
          return true;
        });
    return count[0];
  }

  private static long streams(StreamStore store, List<StreamKey> keys) {
    long count = 0;
    for (StreamKey key : keys) count += store.readAll(key).size();
    return count;
  }

  private static long count(LogSlot.Written slot, Set<StreamKey> own) {
    return slot.entries().stream().filter(entry -> own.contains(entry.stream())).count();
  }
}
