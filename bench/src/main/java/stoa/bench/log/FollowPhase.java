package stoa.bench.log;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import stoa.LogSlot;
import stoa.Stoa;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.bench.load.Parallel;
import stoa.bench.load.Samples;
import stoa.bench.machine.DiskLimits;
import stoa.bench.report.Context;
import stoa.bench.report.Findings;
import stoa.bench.report.Result;
import stoa.programs.Directories;

/// Reads a whole log in order: by following it, by a scan, and stream by stream.
final class FollowPhase {
  private static final int CALLERS = 240;
  private static final int STREAMS = 1_000;
  private static final String FILES = "read and checksum the files";
  private static final String FOLLOW = "follow the log";
  private static final String SCAN = "scan the log";
  private static final String STREAM = "read stream by stream";

  private final Context<LogScale> context;
  private final LogScale scale;

  FollowPhase(Context<LogScale> context) {
    this.context = context;
    scale = context.sizes();
  }

  void measure(Findings findings) throws Exception {
    int entries = scale.followEntries();
    Path folder = context.folder().resolve("follow");
    var samples = new Samples();
    List<StreamKey> keys = new ArrayList<>();
    for (int i = 0; i < STREAMS; i++) keys.add(StreamKey.of("stream " + i));
    try (var stoa = Stoa.open("file:" + folder)) {
      StreamStore store = stoa.streams();
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
        samples.add(FILES, entries / DiskLimits.readAll(folder));
        samples.add(FOLLOW, rate(entries, () -> follow(store, entries)));
        samples.add(SCAN, rate(entries, () -> scan(store)));
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
        "read of a log of %,d entries of %d bytes in %,d streams"
            .formatted(entries, AppendLog.ENTRY_BYTES, STREAMS),
        results);
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

  private static long follow(StreamStore store, int entries) throws InterruptedException {
    long count = 0;
    try (var follower = store.follow(StreamStore.BEGINNING)) {
      while (count < entries) {
        var next = follower.next(Duration.ofSeconds(10));
        if (next.isEmpty()) break;
        count += data(next.get());
      }
    }
    return count;
  }

  private static long scan(StreamStore store) {
    long[] count = {0};
    store.scan(
        StreamStore.BEGINNING,
        store.tail(),
        slot -> {
          count[0] += data(slot);
          return true;
        });
    return count[0];
  }

  private static long streams(StreamStore store, List<StreamKey> keys) {
    long count = 0;
    for (StreamKey key : keys) count += store.readAll(key).size();
    return count;
  }

  private static long data(LogSlot.Written slot) {
    return slot.entries().stream().filter(entry -> entry.kind() == StreamEntry.Kind.DATA).count();
  }
}
