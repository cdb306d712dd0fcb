package stoa.log.core;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Check;
import stoa.base.StreamId;
import stoa.log.Sequencer.Fate;
import stoa.log.Sequencer.Issued;
import stoa.log.core.Command.Appended;
import stoa.log.core.Command.Released;
import stoa.log.core.Layout.Copies;
import stoa.log.core.Slot.Place;

/// The durable state machine of a shard: its log unit, its stream unit, its sessions and what it
/// has to deliver. Replicas that apply the same commands in the same order are equal.
///
/// One owner applies.
public final class Shard {
  /*
   * Invariants:
   * (1) A command of an older term, or with a sequence number that is not above the last, changes
   *     nothing.
   * (2) A record's parts are delivered after its copy, so that nothing can be seen that the loss of
   *     one shard would take away.
   * (3) Between Seal and Close no Append, Put or Fill is taken, so that the outbox only gets
   *     shorter.
   */

  /// What became of a command.
  public enum Applied {
    /// It was done.
    DONE,
    /// The same was done before.
    SAME,
    /// Something else has the place.
    TAKEN,
    /// The leader is one no longer.
    OLD_TERM,
    /// The epoch is sealed.
    OLD_EPOCH,
    /// What it refers to is still to come.
    NOT_YET
  }

  /// What became of a batch.
  public enum Batch {
    /// It is committed.
    HERE,
    /// It was given up for good.
    NEVER,
    /// Neither so far.
    OPEN
  }

  /// Limits of a shard.
  ///
  /// @param sessionsMax how many sessions are remembered
  /// @param trimMax how many entries one command trims
  public record Limits(int sessionsMax, int trimMax) {}

  private final int index;
  private final Layout layout;
  private final Limits limits;
  private final LogUnit logUnit;
  private final StreamUnit streamUnit;
  private final Sessions sessions;
  private final Outbox outbox = new Outbox();
  /* Up to which address other shards' streams were trimmed, as far as it was told here; a shard that
   * was lost learns it again. Only with full copies. */
  private final SortedMap<StreamId, Long> released = new TreeMap<>();
  /* While this shard is rebuilt: up to where its streams were trimmed. */
  private final SortedMap<StreamId, Long> floors = new TreeMap<>();
  /* First counters of the epoch's batches that were given up, while they may be asked for. */
  private final SortedSet<Long> nevers = new TreeSet<>();
  /* Highest log counter in streams; that in slots is the log unit's. */
  private long counter;
  private long epoch;
  private boolean rebuilding;
  private long closed;
  private long term;
  private long sequence;

  /// A shard without entries.
  public Shard(int index, Layout layout, Limits limits, Slots slots, Versions versions) {
    this.index = index;
    this.layout = layout;
    this.limits = limits;
    logUnit = new LogUnit(slots);
    streamUnit = new StreamUnit(versions);
    sessions = new Sessions(limits.sessionsMax);
  }

  /// Applies a command that was ordered.
  public Applied apply(long commandTerm, long commandSequence, Command command) {
    if (commandTerm < term || (commandTerm == term && commandSequence <= sequence)) {
      return Applied.OLD_TERM;
    }
    term = commandTerm;
    sequence = commandSequence;
    return apply(command);
  }

  private Applied apply(Command command) {
    return switch (command) {
      case Command.Open _ -> Applied.DONE;
      case Command.Append(List<Appended> appends) -> append(appends);
      case Command.Never never -> never(never);
      case Command.Put(CommitRecord record) -> put(record);
      case Command.Fill(LogAddress address, List<Issued> issued) -> fill(address, issued);
      case Command.Deliver(long sealed, Command delivered) ->
          sealed < epoch ? Applied.OLD_EPOCH : apply(delivered);
      case Command.Take(CommitRecord part) -> take(part);
      case Command.Copy(CommitRecord record) -> copy(record);
      case Command.Refer(List<Slot.Reference> references) -> refer(references);
      case Command.Release(List<Released> released) -> release(released);
      case Command.Trim trim -> trim(trim);
      case Command.Trimmed(SortedMap<StreamId, Long> streams) -> {
        trimmed(streams);
        yield Applied.DONE;
      }
      case Command.Acknowledged(List<Long> items) -> acknowledged(items);
      case Command.Seal(long newEpoch) -> seal(newEpoch);
      case Command.Close(long closing, long start) -> close(closing, start);
      case Command.Replace(long newEpoch) -> replace(newEpoch);
      case Command.Rebuild(int shard) -> rebuild(shard);
      case Command.Rebuilt(long sessionsBelow) -> rebuilt(sessionsBelow);
    };
  }

  private boolean isOpen(LogAddress address) {
    return address.epoch() == epoch && closed == epoch;
  }

  private Applied append(List<Appended> appends) {
    List<StreamEntry> entries = new ArrayList<>();
    for (var append : appends) {
      if (!isOpen(append.address())) return Applied.OLD_EPOCH;
      entries.addAll(append.entries());
    }
    if (!streamUnit.append(entries)) return Applied.TAKEN;
    SortedMap<Integer, List<Slot.Reference>> references = new TreeMap<>();
    for (var append : appends) {
      counter = Math.max(counter, append.address().counter());
      sessions.take(append.id(), append.address());
      List<Place> places = new ArrayList<>();
      for (var entry : append.entries()) places.add(new Place(entry.stream(), entry.address()));
      references
          .computeIfAbsent(layout.logUnit(append.address().counter()), _ -> new ArrayList<>())
          .add(new Slot.Reference(append.address(), append.id(), Slot.Hole.NO, places));
    }
    references.forEach((unit, some) -> deliver(unit, null, new Command.Refer(some)));
    return Applied.DONE;
  }

  private Applied never(Command.Never never) {
    LogAddress first = never.token().first();
    if (!isOpen(first)) return Applied.OLD_EPOCH;
    Batch known = batch(first, never.issued());
    if (known != Batch.OPEN) return known == Batch.HERE ? Applied.TAKEN : Applied.SAME;
    nevers.headSet(never.settledBelow()).clear();
    nevers.add(first.counter());
    for (var of : never.issued()) {
      for (int i = 0; i < of.count(); i++) {
        streamUnit.take(StreamEntry.empty(of.stream(), of.first() + i, first));
      }
    }
    for (int i = 0; i < never.token().count(); i++) {
      var at = never.token().at(i);
      counter = Math.max(counter, at.counter());
      var hole = new Slot.Reference(at, null, Slot.Hole.YES, List.of());
      deliver(layout.logUnit(at.counter()), null, new Command.Refer(List.of(hole)));
    }
    return Applied.DONE;
  }

  /// What became of the batch that a token of the present epoch was issued for.
  ///
  /// @param first the log address of its first append
  /// @param issued the stream addresses that were issued with it
  public Batch batch(LogAddress first, List<Issued> issued) {
    Check.that(!issued.isEmpty(), "the token of %s has stream addresses", first);
    if (nevers.contains(first.counter())) return Batch.NEVER;
    var any = issued.getFirst();
    return streamUnit.isTaken(any.stream(), any.first()) ? Batch.HERE : Batch.OPEN;
  }

  private Applied put(CommitRecord record) {
    if (record.address().epoch() == epoch && closed < epoch) return Applied.OLD_EPOCH;
    return switch (logUnit.put(record)) {
      case STORED -> {
        send(record);
        yield Applied.DONE;
      }
      case SAME -> Applied.SAME;
      case TAKEN -> Applied.TAKEN;
      case OLD_EPOCH -> Applied.OLD_EPOCH;
    };
  }

  private Applied fill(LogAddress address, List<Issued> issued) {
    if (address.epoch() == epoch && closed < epoch) return Applied.OLD_EPOCH;
    return switch (logUnit.fill(address, issued)) {
      case STORED -> {
        send(CommitRecord.hole(address, issued));
        yield Applied.DONE;
      }
      case SAME, TAKEN -> Applied.TAKEN;
      case OLD_EPOCH -> Applied.OLD_EPOCH;
    };
  }

  /* Delivers a record, by (2). */
  private void send(CommitRecord record) {
    counter = Math.max(counter, record.address().counter());
    var copy = layout.copy(record.address().counter(), record.participants(layout));
    if (copy.isPresent()) deliver(copy.getAsInt(), record.address(), new Command.Copy(record));
    else sendParts(record);
  }

  private void sendParts(CommitRecord record) {
    record
        .parts(layout)
        .forEach((shard, part) -> deliver(shard, record.address(), new Command.Take(part)));
    delivered(record.address());
  }

  /* What this shard is to apply itself, it applies at once. */
  private void deliver(int target, @Nullable LogAddress of, Command command) {
    if (target != index) {
      outbox.add(target, of, command);
      return;
    }
    Applied applied = apply(command);
    if (applied == Applied.NOT_YET) outbox.add(target, of, command);
  }

  private void delivered(LogAddress address) {
    if (layout.copies() == Copies.REFERENCE && outbox.isDelivered(address.counter())) {
      logUnit.shrink(address.counter());
    }
  }

  private Applied acknowledged(List<Long> items) {
    for (long number : items) {
      var item = outbox.acknowledge(number);
      LogAddress of = item == null ? null : item.of();
      if (item == null || of == null) continue;
      if (item.command() instanceof Command.Copy(CommitRecord record)) sendParts(record);
      else delivered(of);
    }
    return Applied.DONE;
  }

  private Applied take(CommitRecord part) {
    counter = Math.max(counter, part.address().counter());
    part.entries().forEach(streamUnit::take);
    var id = part.id();
    if (id != null) sessions.take(id, part.address());
    return Applied.DONE;
  }

  private Applied copy(CommitRecord record) {
    logUnit.copy(record);
    return Applied.DONE;
  }

  private Applied refer(List<Slot.Reference> references) {
    references.forEach(logUnit::refer);
    return Applied.DONE;
  }

  private Applied release(List<Released> entries) {
    boolean all = true;
    for (var entry : entries) {
      all &= logUnit.release(entry.counter(), entry.place());
      if (layout.copies() == Copies.FULL) {
        released.merge(entry.place().stream(), entry.place().address(), Math::max);
      }
    }
    return all || layout.copies() == Copies.FULL ? Applied.DONE : Applied.NOT_YET;
  }

  private Applied trim(Command.Trim trim) {
    var dropped = streamUnit.trim(trim.stream(), trim.before(), limits.trimMax);
    SortedMap<Integer, List<Released>> released = new TreeMap<>();
    for (var entry : dropped) {
      long at = entry.log().counter();
      var place = new Released(at, new Place(entry.stream(), entry.address()));
      var units = new TreeSet<>(List.of(layout.logUnit(at)));
      if (layout.copies() == Copies.FULL) units.add((layout.logUnit(at) + 1) % layout.shards());
      for (int unit : units) released.computeIfAbsent(unit, _ -> new ArrayList<>()).add(place);
    }
    released.forEach((unit, some) -> deliver(unit, null, new Command.Release(some)));
    return Applied.DONE;
  }

  private Applied seal(long newEpoch) {
    if (newEpoch <= epoch) return newEpoch == epoch ? Applied.SAME : Applied.OLD_EPOCH;
    epoch = newEpoch;
    logUnit.seal(newEpoch);
    streamUnit.seal(newEpoch);
    return Applied.DONE;
  }

  private Applied close(long closing, long start) {
    if (closing != epoch) return Applied.OLD_EPOCH;
    if (closed == closing) return Applied.SAME;
    if (rebuilding) return Applied.NOT_YET;
    closed = closing;
    nevers.clear();
    logUnit.close(start);
    streamUnit.close();
    return Applied.DONE;
  }

  private Applied rebuild(int lost) {
    if (closed == epoch) return Applied.SAME;
    SortedMap<StreamId, Long> told = new TreeMap<>();
    released.forEach((stream, address) -> {
      if (layout.shard(stream) == lost) told.put(stream, address);
    });
    for (var stream : streamUnit.versions().streams()) {
      long first = streamUnit.versions().first(stream);
      if (first > 1) told.put(stream, first - 1);
    }
    if (!told.isEmpty()) deliver(lost, null, new Command.Trimmed(told));
    logUnit
        .slots()
        .forEach(slot -> {
          if (slot instanceof Slot.Full(CommitRecord record)) restore(lost, record);
        });
    SortedMap<LogAddress, List<StreamEntry>> here = new TreeMap<>();
    streamUnit.forEach(entry -> {
      if (layout.logUnit(entry.log().counter()) == lost) {
        here.computeIfAbsent(entry.log(), _ -> new ArrayList<>()).add(entry);
      }
    });
    here.forEach((address, entries) ->
        deliver(lost, null, new Command.Copy(new CommitRecord(address, null, entries))));
    return Applied.DONE;
  }

  /* Sends a lost shard what it held of a record. When it was the one to deliver the record, this
   * shard delivers it. */
  private void restore(int lost, CommitRecord record) {
    long at = record.address().counter();
    var participants = record.participants(layout);
    var copy = layout.copy(at, participants);
    if (layout.logUnit(at) == lost || (copy.isPresent() && copy.getAsInt() == lost)) {
      deliver(lost, null, new Command.Copy(record));
    }
    record
        .parts(layout)
        .forEach((shard, part) -> {
          if (shard == lost || layout.logUnit(at) == lost) {
            deliver(shard, null, new Command.Take(part));
          }
        });
  }

  private void trimmed(SortedMap<StreamId, Long> streams) {
    streams.forEach((stream, address) -> {
      var known = layout.shard(stream) == index ? floors : released;
      known.merge(stream, address, Math::max);
    });
  }

  private Applied replace(long newEpoch) {
    Check.that(epoch == 0, "a shard that replaces a lost one is empty");
    rebuilding = true;
    return seal(newEpoch);
  }

  private Applied rebuilt(long sessionsBelow) {
    if (!rebuilding) return Applied.SAME;
    rebuilding = false;
    streamUnit.begin(floors);
    floors.clear();
    sessions.expire(sessionsBelow);
    return Applied.DONE;
  }

  /// What became of a transaction's address in this shard's log unit, once every shard has its
  /// part; null before.
  public @Nullable Fate fate(LogAddress address) {
    Slot slot = logUnit.slot(address.counter());
    boolean here = slot != null && slot.at().equals(address);
    if (slot == null || !here || !outbox.isDelivered(address.counter())) return null;
    return slot.isHole() ? Fate.HOLE : Fate.HERE;
  }

  /// What this shard's log unit has at an address. What is not delivered everywhere is not there
  /// yet: the loss of this shard could take it away.
  public LogUnit.Read read(long at) {
    return outbox.isDelivered(at) ? logUnit.read(at) : new LogUnit.Read.NotYet();
  }

  /// The log unit.
  public LogUnit logUnit() {
    return logUnit;
  }

  /// The stream unit.
  public StreamUnit streamUnit() {
    return streamUnit;
  }

  /// The sessions.
  public Sessions sessions() {
    return sessions;
  }

  /// What is to be delivered.
  public Outbox outbox() {
    return outbox;
  }

  /// The epoch that it is sealed at.
  public long epoch() {
    return epoch;
  }

  /// Whether it replaces a lost shard, and does not have yet what that held.
  public boolean isRebuilding() {
    return rebuilding;
  }

  /// The epoch whose older ones are settled.
  public long closed() {
    return closed;
  }

  /// The highest log counter that was used here.
  public long counter() {
    return Math.max(counter, logUnit.last());
  }
}
