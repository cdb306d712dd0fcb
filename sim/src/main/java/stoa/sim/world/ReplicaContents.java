package stoa.sim.world;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.log.Replica;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.sim.check.Demand;

/// Compares what the replicas of a group show.
public final class ReplicaContents {
  private ReplicaContents() {}

  /// Fails unless replicas that have applied the same commands show the same: the end of the log,
  /// how far each stream was trimmed, and every entry that two of them have.
  public static void requireSame(List<Replica> replicas) {
    Replica first = replicas.getFirst();
    for (Replica other : replicas) {
      Demand.that(
          other.applied().equals(first.applied()) && other.tail().equals(first.tail()),
          "replicas are at " + first.applied() + ", not at " + other.applied());
      requireSame(first, other);
    }
  }

  /// Fails when two replicas of a group show different entries. One may have applied more than the
  /// other.
  ///
  /// @return how many entries both have
  public static long requireNoDifference(Replica one, Replica other) {
    long both = 0;
    for (StreamId id : streams(List.of(one, other))) {
      long last = Math.min(one.streams().last(id), other.streams().last(id));
      both += requireSame(id, one.streams(), other.streams(), last);
    }
    return both;
  }

  private static void requireSame(Replica one, Replica other) {
    for (StreamId id : streams(List.of(one, other)))
      requireSame(id, one.streams(), other.streams());
  }

  /// Fails when a replica shows an entry that its log does not have. The replica is whole.
  ///
  /// @throws stoa.StoaException when it cannot be read
  /// @throws stoa.storage.disk.StorageException when it cannot be read
  public static void requireLogged(Replica replica) {
    Streams streams = replica.streams();
    for (StreamId id : streams(List.of(replica))) {
      long last = streams.last(id);
      StoredEntry entry = last == 0 ? null : streams.read(id, last);
      if (entry == null || entry.log().counter() < streams.firstInLog()) continue;
      Streams.LogItem item = streams.at(entry.log().counter());
      boolean isThere =
          item != null
              && item.log().equals(entry.log())
              && item.places().contains(new Streams.Place(id, last));
      Demand.that(isThere, id + " shows " + text(entry) + ", and the log has " + item);
    }
  }

  private static Set<StreamId> streams(List<Replica> replicas) {
    var streams = new TreeSet<StreamId>();
    for (Replica replica : replicas) {
      replica
          .device()
          .withRecords(
              null,
              id -> {
                if (!Streams.isInternal(id)) streams.add(id);
                return true;
              });
    }
    return streams;
  }

  private static void requireSame(StreamId id, Streams one, Streams other) {
    long last = one.last(id);
    Demand.that(
        other.last(id) == last && other.oldest(id) == one.oldest(id),
        "%s has its entries from %d to %d at each replica, not from %d to %d"
            .formatted(id, one.oldest(id), last, other.oldest(id), other.last(id)));
    var _ = requireSame(id, one, other, last);
  }

  /// Compares the entries of a stream up to one.
  ///
  /// @return how many both have
  private static long requireSame(StreamId id, Streams one, Streams other, long last) {
    // Each replica releases by itself what is before the trim.
    long from = Math.max(1, Math.max(one.firstKept(id), other.firstKept(id)));
    for (long address = from; address <= last; address++) {
      String there = text(one.read(id, address));
      String here = text(other.read(id, address));
      Demand.that(here.equals(there), id + " has " + there + " at each replica, not " + here);
    }
    return Math.max(0, last - from + 1);
  }

  private static String text(@Nullable StoredEntry entry) {
    if (entry == null) return "nothing";
    return "entry %d at %s of %d, kind %d: %d bytes with digest %s"
        .formatted(
            entry.address(),
            entry.log(),
            entry.nowMicros(),
            entry.kind(),
            entry.payload().length,
            StreamId.of(entry.payload()));
  }
}
