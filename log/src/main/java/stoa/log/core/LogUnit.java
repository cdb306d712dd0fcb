package stoa.log.core;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Check;
import stoa.log.Sequencer.Issued;
import stoa.log.core.Slot.Full;
import stoa.log.core.Slot.Place;
import stoa.log.core.Slot.Reference;
import stoa.log.core.Slot.Trimmed;

/// The write-once addresses of a shard's part of the global log (vCorfu, section 3.2: the log
/// replica).
///
/// One owner, the [Shard] or a log in one process.
public final class LogUnit {
  /*
   * Invariants:
   * (1) Of Put and Fill at one address the first decides; the other finds what is there.
   * (2) Below `trimmedBelow` everything is trimmed or a hole, and dropped.
   * (3) Below `start` nothing is written any more but what is delivered from other shards; what is
   *     absent there is a hole.
   *
   *   absent ─ put ─► Full ─ shrink ─► Reference ─ release ─► Trimmed ─► dropped
   *      ├─ fill ─► Full (a hole)          ▲
   *      └─ refer ────────────────────────┘
   */

  /// What became of a write.
  public enum Write {
    /// It is there now.
    STORED,
    /// It was there before.
    SAME,
    /// Something else is there, or was and is trimmed.
    TAKEN,
    /// The address is of an epoch that is sealed.
    OLD_EPOCH
  }

  /// What a log address holds.
  public sealed interface Read {
    /// An append.
    ///
    /// @param slot the append, or where it is
    record Found(Slot slot) implements Read {}

    /// Nothing, for ever.
    record Hole() implements Read {}

    /// Nothing any more.
    record Released() implements Read {}

    /// Nothing so far.
    record NotYet() implements Read {}
  }

  private final Slots slots;
  private long epoch;
  private long start = 1;
  private long trimmedBelow = 1;

  /// The unit of an epoch over its slots.
  public LogUnit(Slots slots) {
    this.slots = slots;
  }

  /// The slots.
  Slots slots() {
    return slots;
  }

  /// Takes no record and fills nothing of another epoch from now on.
  public void seal(long newEpoch) {
    epoch = Math.max(epoch, newEpoch);
  }

  /// Makes holes of all that is absent below a counter.
  public void close(long newStart) {
    start = Math.max(start, newStart);
  }

  /// Writes an append, once.
  public Write put(CommitRecord record) {
    Write found = mayWrite(record.address());
    if (found != Write.STORED) {
      /* A counter can be issued again in a later epoch, when it was not used: to the same append. */
      Slot slot = slots.at(record.address().counter());
      boolean same =
          slot != null
              && slot.at().equals(record.address())
              && record.id() != null
              && record.id().equals(slot.owner());
      return same ? Write.SAME : found;
    }
    slots.put(record.address().counter(), new Full(record));
    return Write.STORED;
  }

  /// Makes a hole of an address when nothing is there.
  ///
  /// @param issued the stream addresses that were issued with it
  public Write fill(LogAddress address, List<Issued> issued) {
    Write found = mayWrite(address);
    if (found == Write.STORED) {
      slots.put(address.counter(), new Full(CommitRecord.hole(address, issued)));
    }
    return found;
  }

  private Write mayWrite(LogAddress address) {
    if (address.counter() < trimmedBelow || slots.at(address.counter()) != null) return Write.TAKEN;
    return address.epoch() == epoch ? Write.STORED : Write.OLD_EPOCH;
  }

  /// Takes a copy of a record, whole or in parts, of any epoch. A repeat changes nothing.
  public void copy(CommitRecord record) {
    long counter = record.address().counter();
    if (counter < trimmedBelow) return;
    switch (slots.at(counter)) {
      case null -> slots.put(counter, new Full(record));
      case Full(CommitRecord here) -> slots.put(counter, new Full(joined(here, record)));
      case Reference _, Trimmed _ -> {
        // What is there is more recent.
      }
    }
  }

  private static CommitRecord joined(CommitRecord one, CommitRecord other) {
    Check.that(one.address().equals(other.address()), "%s and %s are one address", one, other);
    List<StreamEntry> entries = new ArrayList<>(one.entries());
    for (var entry : other.entries()) {
      if (entries.stream().noneMatch(here -> here.isAt(entry.stream(), entry.address()))) {
        entries.add(entry);
      }
    }
    return new CommitRecord(one.address(), one.id() == null ? other.id() : one.id(), entries);
  }

  /// Learns where an append went that its shard has committed. A repeat changes nothing.
  public void refer(Reference reference) {
    long counter = reference.address().counter();
    if (counter >= trimmedBelow && slots.at(counter) == null) slots.put(counter, reference);
  }

  /// Keeps no more than where the append went.
  public void shrink(long counter) {
    if (slots.at(counter) instanceof Full full) {
      var hole = full.isHole() ? Slot.Hole.YES : Slot.Hole.NO;
      slots.put(counter, new Reference(full.at(), full.owner(), hole, full.places()));
    }
  }

  /// Lets go of an entry that its stream has trimmed.
  ///
  /// @return whether it was there to let go of, or had gone before; if not, it is still to come
  public boolean release(long counter, Place place) {
    if (counter < trimmedBelow) return true;
    Slot slot = slots.at(counter);
    if (slot == null) return false;
    if (!slot.places().contains(place)) return true;
    Slot rest = without(slot, place);
    slots.put(counter, rest.places().isEmpty() ? trimmed(slot) : rest);
    dropTrimmed();
    return true;
  }

  private static Trimmed trimmed(Slot slot) {
    return new Trimmed(slot.at(), slot.isHole() ? Slot.Hole.YES : Slot.Hole.NO);
  }

  private static Slot without(Slot slot, Place place) {
    return switch (slot) {
      case Trimmed trimmed -> trimmed;
      case Full(CommitRecord record) -> {
        List<StreamEntry> rest = new ArrayList<>(record.entries());
        rest.removeIf(entry -> entry.isAt(place.stream(), place.address()));
        yield new Full(new CommitRecord(record.address(), record.id(), rest));
      }
      case Reference reference -> {
        List<Place> rest = new ArrayList<>(reference.places());
        rest.remove(place);
        yield new Reference(reference.address(), reference.id(), reference.hole(), rest);
      }
    };
  }

  /* Keeps invariant (2). What is absent above `start` may still be written, so it ends there. */
  private void dropTrimmed() {
    long counter = slots.next(trimmedBelow);
    while (counter != 0 && counter < start && slots.at(counter) instanceof Trimmed) {
      trimmedBelow = counter + 1;
      counter = slots.next(trimmedBelow);
    }
    slots.dropBelow(trimmedBelow);
  }

  /// What an address holds.
  public Read read(long counter) {
    if (counter < trimmedBelow) return new Read.Released();
    return switch (slots.at(counter)) {
      case null -> counter < start ? new Read.Hole() : new Read.NotYet();
      case Trimmed _ -> new Read.Released();
      case Slot slot -> slot.isHole() ? new Read.Hole() : new Read.Found(slot);
    };
  }

  /// The slot of an address, or null.
  @Nullable Slot slot(long counter) {
    return slots.at(counter);
  }

  /// The highest counter that was written.
  public long last() {
    return Math.max(slots.last(), trimmedBelow - 1);
  }
}
