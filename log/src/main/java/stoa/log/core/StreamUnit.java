package stoa.log.core;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.core.StreamEntry.Sort;

/// The materialized streams of a shard: dense, without gaps, and readable at any stream address
/// (vCorfu, sections 3.2 and 3.4: the stream replica).
///
/// One owner, the [Shard] or a log in one process.
public final class StreamUnit {
  /*
   * Entries are taken in any order, and more than once. One that is taken is as durable as the
   * command that brought it, but it is materialized, and so readable, when all below it are.
   *
   * Invariants:
   * (1) The materialized part of a stream has every address from its first to its last, and rising
   *     log addresses.
   * (2) A stream address is taken once: what is materialized or pending is never replaced.
   * (3) The last entry and the last change of a stream are never trimmed, so that its row can be
   *     told, and found again in the log.
   */

  /// What the sequencer knows about a stream.
  ///
  /// @param last the last stream address, 0 when there is none
  /// @param log its log address; [#NONE] when there is none
  /// @param change the log address of the last change; [#NONE] when there is none
  public record Row(long last, LogAddress log, LogAddress change) {}

  /// How far a stream reaches at a log address.
  public sealed interface Extent {
    /// Everything at or below the log address is here.
    ///
    /// @param last the last stream address at or below it, 0 when there is none
    record UpTo(long last) implements Extent {}

    /// Something at or below the log address may be under way.
    record NotYet() implements Extent {}

    /// What the stream was then is trimmed.
    ///
    /// @param first the oldest stream address that can be read
    record TooOld(long first) implements Extent {}
  }

  /// Below every log address.
  public static final LogAddress NONE = new LogAddress(0, 0);

  private final Versions versions;
  private final SortedMap<StreamId, NavigableMap<Long, StreamEntry>> pending = new TreeMap<>();
  private long epoch;

  /// The unit over its streams.
  public StreamUnit(Versions versions) {
    this.versions = versions;
  }

  /// The materialized streams.
  public Versions versions() {
    return versions;
  }

  /// Takes no batch of an older epoch from now on.
  public void seal(long newEpoch) {
    epoch = Math.max(epoch, newEpoch);
  }

  /// Takes a batch of the shard's leader, whole or not at all.
  ///
  /// @return whether it was taken; if not, its epoch is over or its addresses were given up
  public boolean append(List<StreamEntry> entries) {
    for (var entry : entries) {
      if (entry.log().epoch() != epoch || isTaken(entry.stream(), entry.address())) return false;
    }
    entries.forEach(this::take);
    return true;
  }

  /// Takes an entry. A repeat changes nothing.
  public void take(StreamEntry entry) {
    if (isTaken(entry.stream(), entry.address())) return;
    pending.computeIfAbsent(entry.stream(), _ -> new TreeMap<>()).put(entry.address(), entry);
    materialize(entry.stream());
  }

  /// Whether an address has an entry, readable or not, or had one.
  public boolean isTaken(StreamId stream, long address) {
    if (address <= versions.last(stream)) return true;
    var waiting = pending.get(stream);
    return waiting != null && waiting.containsKey(address);
  }

  /// The entry that was taken at an address, readable or not; null when there is none or it was
  /// trimmed.
  public @Nullable StreamEntry taken(StreamId stream, long address) {
    var waiting = pending.get(stream);
    StreamEntry entry = waiting == null ? null : waiting.get(address);
    return entry == null ? versions.find(stream, address) : entry;
  }

  private void materialize(StreamId stream) {
    var waiting = pending.get(stream);
    if (waiting == null) return;
    while (!waiting.isEmpty() && waiting.firstKey() == versions.last(stream) + 1) {
      versions.add(waiting.pollFirstEntry().getValue());
    }
    if (waiting.isEmpty()) pending.remove(stream);
  }

  /// Makes stored empty versions of all gaps: what they were issued for was given up.
  public void close() {
    for (var stream : List.copyOf(pending.keySet())) {
      var waiting = pending.get(stream);
      while (waiting != null && !waiting.isEmpty()) {
        StreamEntry next = waiting.firstEntry().getValue();
        for (long gap = versions.last(stream) + 1; gap < next.address(); gap++) {
          versions.add(StreamEntry.empty(stream, gap, next.log()));
        }
        materialize(stream);
        waiting = pending.get(stream);
      }
    }
  }

  /// Begins each stream of a shard that is rebuilt where its first entry is that was not trimmed.
  ///
  /// @param floors up to where streams were trimmed, as far as it is known
  void begin(SortedMap<StreamId, Long> floors) {
    for (var stream : List.copyOf(pending.keySet())) {
      var waiting = pending.get(stream);
      if (waiting == null) continue;
      long floor = floors.getOrDefault(stream, 0L);
      if (versions.last(stream) > 0 && versions.last(stream) >= floor) continue;
      waiting.headMap(floor + 1).clear();
      if (!waiting.isEmpty()) versions.begin(waiting.pollFirstEntry().getValue());
      materialize(stream);
    }
    floors.forEach((stream, floor) -> {
      if (versions.last(stream) > floor) versions.trim(stream, floor + 1);
    });
  }

  /// How many entries wait for others below them.
  public int waiting() {
    int count = 0;
    for (var waiting : pending.values()) count += waiting.size();
    return count;
  }

  /// Visits every entry that is kept, stream by stream.
  void forEach(java.util.function.Consumer<StreamEntry> visitor) {
    for (var stream : versions.streams()) {
      for (long at = versions.first(stream); at <= versions.last(stream); at++) {
        visitor.accept(versions.read(stream, at));
      }
    }
    for (var waiting : pending.values()) waiting.values().forEach(visitor);
  }

  /// Up to where a stream is to be read that is read at a log address.
  ///
  /// @param bound the last stream address that the sequencer had issued at some time after `at`
  public Extent extent(StreamId stream, LogAddress at, long bound) {
    long last = versions.last(stream);
    boolean beyond = last > 0 && versions.read(stream, last).log().compareTo(at) > 0;
    if (last < bound && !beyond) return new Extent.NotYet();
    long to = floor(stream, at);
    long first = versions.first(stream);
    return to < first && first > 1 ? new Extent.TooOld(first) : new Extent.UpTo(to);
  }

  /* Log order is stream order, (1). */
  private long floor(StreamId stream, LogAddress at) {
    long low = versions.first(stream) - 1;
    long high = versions.last(stream);
    while (low < high) {
      long middle = (low + high + 1) >>> 1;
      if (versions.read(stream, middle).log().compareTo(at) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /// What the sequencer needs to know of a stream that has nothing unsettled; null when it has:
  /// then the question is an old one.
  public @Nullable Row row(StreamId stream) {
    if (pending.containsKey(stream)) return null;
    long last = versions.last(stream);
    if (last == 0) return new Row(0, NONE, NONE);
    long change = lastChange(stream);
    return new Row(
        last,
        versions.read(stream, last).log(),
        change == 0 ? NONE : versions.read(stream, change).log());
  }

  /* The last change that is kept, 0 when there is none. */
  private long lastChange(StreamId stream) {
    for (long at = versions.last(stream); at >= versions.first(stream); at--) {
      if (versions.read(stream, at).sort() == Sort.CHANGE) return at;
    }
    return 0;
  }

  /// Drops entries below an address, at most `entriesMax` of them, and keeps (3).
  ///
  /// @return what was dropped
  public List<StreamEntry> trim(StreamId stream, long before, int entriesMax) {
    long first = versions.first(stream);
    long end = Math.min(before, versions.last(stream));
    long change = lastChange(stream);
    if (change > 0) end = Math.min(end, change);
    end = Math.min(end, first + entriesMax);
    List<StreamEntry> dropped = new ArrayList<>();
    for (long at = first; at < end; at++) dropped.add(versions.read(stream, at));
    if (end > first) versions.trim(stream, end);
    return dropped;
  }
}
