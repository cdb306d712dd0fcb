package stoa.store.leading;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import stoa.base.Key;
import stoa.base.Latency;
import stoa.base.Measures;
import stoa.base.Tops;
import stoa.log.Entry;

/// Counts events of a store for its metrics. Thread-safe.
public final class Tally {
  private static final int OBJECTS_MAX = 100;
  private static final int OBJECTS_TOLD_MAX = 20;

  private final Latency batches = new Latency();

  private final LongAdder entries = new LongAdder();
  private final LongAdder bytes = new LongAdder();

  private final LongAdder takenBack = new LongAdder();
  private final LongAdder loaded = new LongAdder();
  private final LongAdder evicted = new LongAdder();
  private final Tops conflicts = new Tops(OBJECTS_MAX);

  /// Begins with zero counts.
  public Tally() {}

  /// Notes that a batch begins to become durable.
  ///
  /// @return the weight for [#durable]
  public int batch() {
    return batches.begin();
  }

  /// Counts a durable batch.
  public void durable(int weight, long tookMicros, List<Entry> batch) {
    if (weight > 0) batches.end(weight, tookMicros * 1_000);
    entries.add(batch.size());
    long sum = 0;
    for (Entry entry : batch) sum += entry.payload().length;
    bytes.add(sum);
  }

  /// Counts a transaction that was aborted because of a key.
  public void conflict(Key key) {
    conflicts.count(key.toString());
  }

  /// Counts a logged call that a verdict takes back.
  public void takenBack() {
    takenBack.increment();
  }

  /// Counts a key that comes into memory.
  public void loaded() {
    loaded.increment();
  }

  /// Counts a key that leaves memory.
  public void evicted() {
    evicted.increment();
  }

  /// Reports the counts.
  public void measure(Measures out) {
    out.latency(
        "stoa.batches",
        "Batches of the log, from the first address to durable on the disk or on a majority.",
        batches);
    out.count("stoa.entries", Measures.NO_UNIT, "Entries of durable batches.", entries.sum());
    out.count(
        "stoa.entries.payload",
        Measures.BYTES,
        "Bytes of calls, answers and checkpoints in these entries.",
        bytes.sum());
    out.count(
        "stoa.calls.taken.back",
        Measures.NO_UNIT,
        "Logged calls that were taken back, because they took too long, failed or were canceled.",
        takenBack.sum());
    out.count(
        "stoa.objects.loaded", Measures.NO_UNIT, "Objects that came into memory.", loaded.sum());
    out.count(
        "stoa.objects.evicted",
        Measures.NO_UNIT,
        "Objects that left memory to make room.",
        evicted.sum());
    out.count(
        "stoa.conflicts",
        Measures.NO_UNIT,
        "Commits that were refused, because another call had changed an object.",
        conflicts.total());
    for (Tops.Top top : conflicts.most(OBJECTS_TOLD_MAX)) {
      out.gauge(
          "stoa.conflicts.object",
          Measures.NO_UNIT,
          "Refused commits by the object that had changed, of the 20 objects with most; at most so"
              + " many.",
          (double) top.count(),
          "object",
          top.what());
    }
  }
}
