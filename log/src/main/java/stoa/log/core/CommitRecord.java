package stoa.log.core;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.log.Sequencer.Issued;
import stoa.log.TransactionId;

/// Everything that is appended at one log address, or the part of it that a shard holds. If it has
/// only empty versions, it is a hole.
///
/// @param address the log address
/// @param id whose append it is; null for a hole, or when nobody can ask for it any more
/// @param entries in stream order for each stream
public record CommitRecord(
    LogAddress address, @Nullable TransactionId id, List<StreamEntry> entries) {

  /// What stands at an address that was issued and given up: an empty version for every stream
  /// address that was issued with it.
  public static CommitRecord hole(LogAddress address, List<Issued> issued) {
    List<StreamEntry> entries = new ArrayList<>();
    for (var of : issued) {
      for (int i = 0; i < of.count(); i++) {
        entries.add(StreamEntry.empty(of.stream(), of.first() + i, address));
      }
    }
    return new CommitRecord(address, null, entries);
  }

  /// Whether nothing was appended here.
  public boolean isHole() {
    return entries.stream().allMatch(entry -> entry.sort() == StreamEntry.Sort.VOID);
  }

  /// The shards that its entries belong to.
  public SortedSet<Integer> participants(Layout layout) {
    SortedSet<Integer> shards = new TreeSet<>();
    for (var entry : entries) shards.add(layout.shard(entry.stream()));
    return shards;
  }

  /// Its part for each of these shards.
  public SortedMap<Integer, CommitRecord> parts(Layout layout) {
    SortedMap<Integer, List<StreamEntry>> split = new TreeMap<>();
    for (var entry : entries) {
      split.computeIfAbsent(layout.shard(entry.stream()), _ -> new ArrayList<>()).add(entry);
    }
    SortedMap<Integer, CommitRecord> parts = new TreeMap<>();
    split.forEach((shard, some) -> parts.put(shard, new CommitRecord(address, id, some)));
    return parts;
  }
}
