package stoa.sim;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.core.LogUnit;
import stoa.log.core.Slot;
import stoa.log.core.StreamEntry;
import stoa.log.core.StreamEntry.Sort;
import stoa.log.core.Versions;
import stoa.sim.TransactionHistory.Action;
import stoa.sim.TransactionHistory.Outcome;
import stoa.sim.TransactionHistory.Recorded;

/// What happened in a simulated stream store: what every replica has ever shown, and what clients
/// were told. Judges it.
///
/// One owner.
final class StreamHistory {
  /* Log addresses are the witness of the order: everything is replayed in it.
   *
   * (1) An address of a stream shows one entry, in every replica, for ever; addresses are dense, and
   *     log addresses do not fall.
   * (2) Everything of an append stands at one log address, or nothing does.
   * (3) What was read at an address is what the replay has there: also in transactions that abort.
   * (4) Nothing that a transaction read or wrote has changed between where it read and where it
   *     wrote.
   * (5) Each operation has a place in the log order, such that one that ended before another began
   *     stands before it: a write its address, a read any between the last entry it saw and the
   *     first that it did not see.
   * (6) What was acknowledged is there, where it was said to be; what was aborted is not, and the
   *     winner is.
   *
   * And once more without a look at log addresses: what was read and written is strictly
   * serializable.
   */
  private static final LogAddress END = new LogAddress(Long.MAX_VALUE, Long.MAX_VALUE);

  /// One operation of a client.
  static final class Operation {
    private final String id;
    private final List<StreamId> writes = new ArrayList<>();
    private final List<Action> appends = new ArrayList<>();
    private final List<Seen> reads = new ArrayList<>();
    private @Nullable LogAddress at;
    private @Nullable LogAddress committed;
    private @Nullable LogAddress winner;
    private @Nullable StreamId lost;
    private boolean aborted;
    private final long began;
    private long ended = Long.MAX_VALUE;

    private Operation(String id, long began) {
      this.id = id;
      this.began = began;
    }

    String id() {
      return id;
    }

    @Override
    public String toString() {
      return "%s [%d..%s] at %s reads %d, writes %d, committed %s%s"
          .formatted(
              id,
              began,
              ended == Long.MAX_VALUE ? "" : ended,
              at,
              reads.size(),
              writes.size(),
              committed,
              aborted ? ", aborted by " + winner : "");
    }
  }

  /// What a read saw.
  private record Seen(StreamId stream, LogAddress at, long first, List<StreamEntry> entries) {}

  private final SortedMap<StreamId, NavigableMap<Long, StreamEntry>> truth = new TreeMap<>();
  private final SortedMap<StreamId, Long> trims = new TreeMap<>();
  /* Where streams of rebuilt shards begin; empty versions before may never have been shown. */
  private final SortedMap<StreamId, Long> begun = new TreeMap<>();
  private final List<Operation> operations = new ArrayList<>();
  private final SortedMap<Long, LogUnit.Read> followed = new TreeMap<>();
  private long time;

  Operation begin(String id) {
    var operation = new Operation(id, ++time);
    operations.add(operation);
    return operation;
  }

  /// Notes that an operation is to write, and answers what: the operation's id and a number.
  String writes(Operation operation, StreamId stream, Sort sort) {
    operation.writes.add(stream);
    String text = operation.id + "/" + operation.writes.size();
    if (sort == Sort.CHANGE) operation.appends.add(new Action.Append(stream.toString(), text));
    return text;
  }

  void at(Operation operation, LogAddress at) {
    operation.at = at;
  }

  void saw(
      Operation operation, StreamId stream, LogAddress at, long first, List<StreamEntry> entries) {
    operation.reads.add(new Seen(stream, at, first, entries));
  }

  void end(Operation operation) {
    operation.ended = ++time;
  }

  void committed(Operation operation, LogAddress address) {
    operation.committed = address;
    end(operation);
  }

  void aborted(Operation operation, StreamId stream, LogAddress winner) {
    operation.aborted = true;
    operation.lost = stream;
    operation.winner = winner;
    end(operation);
  }

  /// Notes that an operation ended before it wrote anything.
  void gaveUp(Operation operation) {
    operation.aborted = true;
    end(operation);
  }

  void trimmed(StreamId stream, long before) {
    trims.merge(stream, before, Math::max);
  }

  void followed(long counter, LogUnit.Read read) {
    followed.put(counter, read);
  }

  /// Streams that tell this history what they show, and check it.
  Versions watched(Versions versions) {
    return new Versions() {
      @Override
      public long last(StreamId stream) {
        return versions.last(stream);
      }

      @Override
      public long first(StreamId stream) {
        return versions.first(stream);
      }

      @Override
      public StreamEntry read(StreamId stream, long address) {
        return versions.read(stream, address);
      }

      @Override
      public void add(StreamEntry entry) {
        shown(entry);
        versions.add(entry);
      }

      @Override
      public void begin(StreamEntry entry) {
        shown(entry);
        requireTrimmed(entry.stream(), entry.address(), "when it is rebuilt");
        begun.merge(entry.stream(), entry.address(), Math::max);
        versions.begin(entry);
      }

      @Override
      public void trim(StreamId stream, long before) {
        versions.trim(stream, before);
      }

      @Override
      public List<StreamId> streams() {
        return versions.streams();
      }
    };
  }

  /* (1) */
  private void shown(StreamEntry entry) {
    var stream = truth.computeIfAbsent(entry.stream(), _ -> new TreeMap<>());
    var known = stream.putIfAbsent(entry.address(), entry);
    if (known != null) {
      boolean same =
          known.sort() == entry.sort()
              && (entry.sort() == Sort.VOID
                  || (known.log().equals(entry.log()) && text(known).equals(text(entry))));
      holds(same, "an address is written once: %s and %s", known, entry);
      return;
    }
    var before = stream.lowerEntry(entry.address());
    var after = stream.higherEntry(entry.address());
    holds(
        (before == null || before.getValue().log().compareTo(entry.log()) <= 0)
            && (after == null || entry.log().compareTo(after.getValue().log()) <= 0),
        "log order is stream order: %s after %s before %s",
        entry,
        before,
        after);
  }

  /* Nothing but empty versions was between what a stream was trimmed to and what it begins with. */
  private void requireTrimmed(StreamId stream, long first, Object when) {
    long trimmed = trims.getOrDefault(stream, 1L);
    if (first <= trimmed) return;
    for (var lost : truth.getOrDefault(stream, new TreeMap<>()).subMap(trimmed, first).values()) {
      holds(lost.sort() == Sort.VOID, "%s began behind %s, %s", stream, lost, when);
    }
  }

  static String text(StreamEntry entry) {
    return new String(entry.payload(), StandardCharsets.UTF_8);
  }

  /// The highest log counter that was shown.
  long counter() {
    long counter = 0;
    for (var stream : truth.values()) {
      for (var entry : stream.values()) counter = Math.max(counter, entry.log().counter());
    }
    return counter;
  }

  /// Judges everything.
  void require() {
    SortedMap<String, SortedSet<LogAddress>> places = new TreeMap<>();
    SortedMap<String, Integer> counts = new TreeMap<>();
    SortedMap<LogAddress, String> owners = new TreeMap<>();
    for (var stream : truth.values()) {
      long next = 1;
      for (var entry : stream.values()) {
        boolean dense =
            entry.address() == next || entry.address() <= begun.getOrDefault(entry.stream(), 0L);
        holds(dense, "a stream is dense before %s", entry);
        next = entry.address() + 1;
        if (entry.sort() == Sort.VOID) continue;
        String text = text(entry);
        String id = text.substring(0, text.indexOf('/'));
        places.computeIfAbsent(id, _ -> new TreeSet<>()).add(entry.log());
        counts.merge(id, 1, Integer::sum);
        String other = owners.putIfAbsent(entry.log(), id);
        holds(other == null || other.equals(id), "%s is of %s and of %s", entry.log(), other, id);
      }
    }
    for (var operation : operations) outcome(operation, places, counts);
    for (var operation : operations) replay(operation, places);
    realTime(places);
    follow(owners);
    Serializability.require(operations.stream().map(this::recorded).toList());
  }

  /* The changes of streams as lists. What was trimmed from what a read saw was checked to be what is
   * known, by (1). */
  private Recorded recorded(Operation operation) {
    List<Action> actions = new ArrayList<>();
    for (var seen : operation.reads) {
      List<String> elements = new ArrayList<>();
      var before = truth.getOrDefault(seen.stream, new TreeMap<>()).headMap(seen.first);
      for (var entry : before.values()) {
        if (entry.sort() == Sort.CHANGE) elements.add(text(entry));
      }
      for (var entry : seen.entries) {
        if (entry.sort() == Sort.CHANGE) elements.add(text(entry));
      }
      actions.add(new Action.Read(seen.stream.toString(), elements));
    }
    actions.addAll(operation.appends);
    Outcome outcome =
        operation.aborted
            ? Outcome.ABORTED
            : operation.ended == Long.MAX_VALUE ? Outcome.UNKNOWN : Outcome.COMMITTED;
    return new Recorded(operation.id, operation.began, operation.ended, outcome, actions);
  }

  /* (2), (6) */
  private void outcome(
      Operation operation,
      SortedMap<String, SortedSet<LogAddress>> places,
      SortedMap<String, Integer> counts) {
    var at = places.get(operation.id);
    int count = counts.getOrDefault(operation.id, 0);
    var committed = operation.committed;
    holds(at == null || at.size() == 1, "%s is at one log address, not %s", operation, at);
    holds(
        count == 0 || count == operation.writes.size(),
        "%s is there whole or not at all, not %s of it",
        operation,
        count);
    if (committed != null) {
      holds(
          at != null && at.first().equals(committed),
          "%s is LOST, or elsewhere: %s",
          operation,
          at);
    }
    if (!operation.aborted) return;
    holds(at == null, "%s is aborted, and at %s", operation, at);
    var winner = operation.winner;
    var stream = operation.lost;
    if (winner == null || stream == null) return;
    holds(
        truth.getOrDefault(stream, new TreeMap<>()).values().stream()
            .anyMatch(entry -> entry.log().equals(winner) && entry.sort() == Sort.CHANGE),
        "%s names a winner that is there",
        operation);
    var began = operation.at;
    holds(began == null || winner.compareTo(began) > 0, "%s lost to a later change", operation);
  }

  /* (3), (4) */
  private void replay(Operation operation, SortedMap<String, SortedSet<LogAddress>> places) {
    for (var seen : operation.reads) {
      var all = truth.getOrDefault(seen.stream, new TreeMap<>());
      requireTrimmed(seen.stream, seen.first, operation);
      long next = seen.first;
      for (var entry : seen.entries) {
        var there = all.get(next++);
        holds(
            there != null
                && there.sort() == entry.sort()
                && text(there).equals(text(entry))
                && entry.log().compareTo(seen.at) <= 0,
            "%s read %s where %s is",
            operation,
            entry,
            there);
      }
      if (seen.at.equals(END)) continue;
      var after = all.get(next);
      boolean missed = after != null && after.log().compareTo(seen.at) <= 0;
      /* An empty version may be made later than it was read over, never something else. */
      holds(
          !missed || after == null || after.sort() == Sort.VOID,
          "%s at %s missed %s",
          operation,
          seen.at,
          after);
    }
    var read = operation.at;
    var at = places.get(operation.id);
    if (read == null || at == null) return;
    List<StreamId> streams = new ArrayList<>(operation.writes);
    for (var seen : operation.reads) streams.add(seen.stream);
    for (var stream : streams) {
      for (var entry : truth.getOrDefault(stream, new TreeMap<>()).values()) {
        boolean between = entry.log().compareTo(read) > 0 && entry.log().compareTo(at.first()) < 0;
        holds(
            !between || entry.sort() != Sort.CHANGE,
            "%s committed at %s over %s",
            operation,
            at.first(),
            entry);
      }
    }
  }

  /* (5): operations take the lowest place that is left to them, in the order in which they began. */
  private void realTime(SortedMap<String, SortedSet<LogAddress>> places) {
    List<Operation> begins = new ArrayList<>(operations);
    List<Operation> ends = new ArrayList<>(operations);
    ends.removeIf(operation -> operation.ended == Long.MAX_VALUE);
    ends.sort(Comparator.comparingLong(operation -> operation.ended));
    SortedMap<String, LogAddress> chosen = new TreeMap<>();
    LogAddress low = new LogAddress(0, 0);
    int ended = 0;
    for (var operation : begins) {
      while (ended < ends.size() && ends.get(ended).ended < operation.began) {
        var place = chosen.get(ends.get(ended++).id);
        if (place != null && place.compareTo(low) > 0) low = place;
      }
      var at = places.get(operation.id);
      if (at != null) {
        holds(
            at.first().compareTo(low) > 0,
            "%s stands at %s, but %s was seen before it began",
            operation,
            at.first(),
            low);
        chosen.put(operation.id, at.first());
        continue;
      }
      if (operation.reads.isEmpty() || operation.ended == Long.MAX_VALUE) continue;
      LogAddress from = low;
      LogAddress before = END;
      for (var seen : operation.reads) {
        for (var entry : seen.entries) {
          if (entry.log().compareTo(from) > 0) from = entry.log();
        }
        var rest =
            truth
                .getOrDefault(seen.stream, new TreeMap<>())
                .tailMap(seen.first + seen.entries.size());
        for (var entry : rest.values()) {
          if (entry.sort() == Sort.VOID) continue;
          if (entry.log().compareTo(before) < 0) before = entry.log();
          break;
        }
      }
      holds(
          from.compareTo(before) < 0,
          "%s saw or follows %s, but misses what is at %s",
          operation,
          from,
          before);
      chosen.put(operation.id, from);
    }
  }

  private void follow(SortedMap<LogAddress, String> owners) {
    for (var address : owners.keySet()) {
      var read = followed.get(address.counter());
      holds(
          read instanceof LogUnit.Read.Found
              || read instanceof LogUnit.Read.Released
              || read == null,
          "the log has something at %s, not %s",
          address,
          read);
      if (!(read instanceof LogUnit.Read.Found(Slot slot))) continue;
      holds(slot.at().equals(address), "the log has %s at %s", slot, address);
      for (var place : slot.places()) {
        var entry = truth.getOrDefault(place.stream(), new TreeMap<>()).get(place.address());
        holds(
            entry != null && entry.log().equals(address),
            "the log says that %s is at %s, where %s is",
            address,
            place,
            entry);
      }
    }
    followed.forEach((counter, read) -> {
      if (!(read instanceof LogUnit.Read.Found(Slot slot))) return;
      holds(owners.containsKey(slot.at()), "the log has %s, which is in no stream", slot);
    });
  }

  /// Holds what a replica shows at the end against everything.
  void requireAtEnd(Versions replica, StreamId stream) {
    var all = truth.getOrDefault(stream, new TreeMap<>());
    long last = all.isEmpty() ? 0 : all.lastKey();
    holds(
        replica.last(stream) == last,
        "%s ends at %s, not at %s",
        stream,
        last,
        replica.last(stream));
    requireTrimmed(stream, replica.first(stream), "at the end");
  }

  static void holds(boolean holds, String format, @Nullable Object... values) {
    if (!holds) throw new AssertionError(format.formatted(values));
  }
}
