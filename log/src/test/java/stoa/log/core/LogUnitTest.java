package stoa.log.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.Sequencer.Issued;
import stoa.log.TransactionId;
import stoa.log.core.LogUnit.Read;
import stoa.log.core.LogUnit.Write;
import stoa.log.core.StreamEntry.Sort;

class LogUnitTest {
  private static final StreamId A = StreamId.of("a");
  private static final StreamId B = StreamId.of("b");
  private static final Read HOLE = new Read.Hole();
  private static final Read RELEASED = new Read.Released();
  private static final Read NOT_YET = new Read.NotYet();

  private final LogUnit unit = new LogUnit(Slots.inMemory());

  LogUnitTest() {
    unit.seal(1);
  }

  private static LogAddress at(long counter) {
    return new LogAddress(1, counter);
  }

  private static CommitRecord record(long counter, long session) {
    var entries =
        List.of(
            new StreamEntry(A, counter, at(counter), Sort.CHANGE, new byte[] {1}),
            new StreamEntry(B, counter, at(counter), Sort.NOTE, new byte[] {2}));
    return new CommitRecord(at(counter), new TransactionId(session, 1), entries);
  }

  @Test
  void anAddressIsWrittenOnce() {
    assertEquals(Write.STORED, unit.put(record(5, 1)));
    assertEquals(Write.SAME, unit.put(record(5, 1)));
    assertEquals(Write.TAKEN, unit.put(record(5, 2)));
    assertEquals(Write.TAKEN, unit.fill(at(5), List.of()));
    assertInstanceOf(Read.Found.class, unit.read(5));
  }

  @Test
  void aHoleStaysOne() {
    assertEquals(Write.STORED, unit.fill(at(5), List.of(new Issued(A, 3, 2, null))));
    assertEquals(Write.TAKEN, unit.put(record(5, 1)));
    assertEquals(HOLE, unit.read(5));
    var slot = assertInstanceOf(Slot.Full.class, unit.slot(5));
    assertEquals(
        List.of(new Slot.Place(A, 3), new Slot.Place(A, 4)), slot.places(), "stored as versions");
  }

  @Test
  void holeTrimmedAndNotYetWrittenAreThreeAnswers() {
    unit.put(record(5, 1));
    unit.close(6);
    assertEquals(HOLE, unit.read(4));
    assertEquals(NOT_YET, unit.read(6));
    assertTrue(unit.release(5, new Slot.Place(A, 5)));
    assertInstanceOf(Read.Found.class, unit.read(5), "b still has its entry");
    assertTrue(unit.release(5, new Slot.Place(B, 5)));
    assertEquals(RELEASED, unit.read(5));
    assertTrue(unit.release(5, new Slot.Place(B, 5)), "a repeat");
    assertEquals(5, unit.last());
  }

  @Test
  void aSealedUnitTakesNothingOfOlderEpochsButWhatIsDelivered() {
    unit.put(record(4, 1));
    unit.seal(2);
    assertEquals(Write.OLD_EPOCH, unit.put(record(5, 1)));
    assertEquals(Write.OLD_EPOCH, unit.fill(at(5), List.of()));
    assertEquals(Write.SAME, unit.put(record(4, 1)), "the earlier attempt is found");
    unit.copy(record(6, 1));
    assertInstanceOf(Read.Found.class, unit.read(6));
  }

  @Test
  void theSameAppendAtAnotherEpochsAddressIsSomethingElse() {
    unit.seal(2);
    var again = new LogAddress(2, 5);
    unit.put(new CommitRecord(again, new TransactionId(1, 1), List.of()));
    assertEquals(Write.TAKEN, unit.put(record(5, 1)), "it is not committed at 1:5");
  }

  @Test
  void aCopyIsJoinedFromParts() {
    var whole = record(5, 1);
    for (var entry : whole.entries()) {
      unit.copy(new CommitRecord(at(5), null, List.of(entry)));
      unit.copy(new CommitRecord(at(5), whole.id(), List.of(entry)));
    }
    var slot = assertInstanceOf(Slot.Full.class, unit.slot(5));
    assertEquals(whole.entries(), slot.record().entries());
    assertEquals(whole.id(), slot.owner());
  }

  @Test
  void aReferenceIsToldOnce() {
    var reference = new Slot.Reference(at(5), null, Slot.Hole.NO, List.of(new Slot.Place(A, 1)));
    assertFalse(unit.release(5, new Slot.Place(A, 1)), "it is still to come");
    unit.refer(reference);
    assertEquals(new Read.Found(reference), unit.read(5));
    assertTrue(unit.release(5, new Slot.Place(A, 1)));
    unit.refer(reference);
    assertEquals(RELEASED, unit.read(5));
  }

  @Test
  void aShrunkRecordStillSaysWhoseItIsAndWhereItWent() {
    unit.put(record(5, 1));
    unit.shrink(5);
    var slot = assertInstanceOf(Slot.Reference.class, unit.slot(5));
    assertEquals(List.of(new Slot.Place(A, 5), new Slot.Place(B, 5)), slot.places());
    assertEquals(Write.SAME, unit.put(record(5, 1)));
  }

  @Test
  void trimmedAddressesOfClosedEpochsAreDropped() {
    unit.put(record(4, 1));
    unit.put(record(5, 1));
    unit.close(6);
    for (long counter : List.of(5L, 4L)) {
      unit.release(counter, new Slot.Place(A, counter));
      unit.release(counter, new Slot.Place(B, counter));
    }
    assertEquals(0, unit.slots().next(0));
    assertEquals(RELEASED, unit.read(4));
    assertEquals(Write.TAKEN, unit.put(record(4, 1)));
    assertEquals(5, unit.last());
  }
}
