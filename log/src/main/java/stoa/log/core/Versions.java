package stoa.log.core;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.base.Check;
import stoa.base.StreamId;

/// Where a [StreamUnit] keeps its materialized streams: over a device, or in the replicated memory
/// of a shard. One owner. What is put is durable when the command under which it was put is.
public interface Versions {
  /// The last address of a stream, 0 when it has none.
  long last(StreamId stream);

  /// The lowest address that can be read, above the last when there is none.
  long first(StreamId stream);

  /// The entry at an address from first to last.
  ///
  /// @throws RuntimeException when there is none
  StreamEntry read(StreamId stream, long address);

  /// Adds the entry behind the last one.
  void add(StreamEntry entry);

  /// Adds the entry with which a stream begins that was trimmed before it was lost.
  void begin(StreamEntry entry);

  /// Drops the entries below an address.
  void trim(StreamId stream, long before);

  /// The streams, in the order of their ids.
  List<StreamId> streams();

  /// Streams in memory.
  static Versions inMemory() {
    SortedMap<StreamId, Kept> streams = new TreeMap<>();
    return new Versions() {
      @Override
      public long last(StreamId stream) {
        var kept = streams.get(stream);
        return kept == null ? 0 : kept.first + kept.entries.size() - 1;
      }

      @Override
      public long first(StreamId stream) {
        var kept = streams.get(stream);
        return kept == null ? 1 : kept.first;
      }

      @Override
      public StreamEntry read(StreamId stream, long address) {
        var kept = streams.get(stream);
        int index = kept == null ? -1 : (int) (address - kept.first);
        if (kept == null || index < 0 || index >= kept.entries.size()) {
          throw new IllegalArgumentException(
              "%s has entries %s to %s, not %s"
                  .formatted(stream, first(stream), last(stream), address));
        }
        return kept.entries.get(index);
      }

      @Override
      public void add(StreamEntry entry) {
        var kept = streams.computeIfAbsent(entry.stream(), _ -> new Kept(1));
        Check.that(
            entry.address() == kept.first + kept.entries.size(), "%s is the next one", entry);
        kept.entries.add(entry);
      }

      @Override
      public void begin(StreamEntry entry) {
        streams.put(entry.stream(), new Kept(entry.address()));
        add(entry);
      }

      @Override
      public void trim(StreamId stream, long before) {
        var kept = streams.get(stream);
        if (kept == null || before <= kept.first) return;
        kept.entries.subList(0, (int) (before - kept.first)).clear();
        kept.first = before;
      }

      @Override
      public List<StreamId> streams() {
        return List.copyOf(streams.keySet());
      }
    };
  }

  /// A stream in memory.
  final class Kept {
    private final List<StreamEntry> entries = new ArrayList<>();
    private long first;

    private Kept(long first) {
      this.first = first;
    }
  }

  /// The entry at an address, or null when there is none.
  default @Nullable StreamEntry find(StreamId stream, long address) {
    return address < first(stream) || address > last(stream) ? null : read(stream, address);
  }
}
