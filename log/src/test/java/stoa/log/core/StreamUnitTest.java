package stoa.log.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.core.StreamEntry.Sort;
import stoa.log.core.StreamUnit.Extent;
import stoa.log.core.StreamUnit.Extent.UpTo;

class StreamUnitTest {
  private static final StreamId A = StreamId.of("a");
  private static final StreamId B = StreamId.of("b");
  private static final Extent NOT_YET = new Extent.NotYet();
  private static final LogAddress END = new LogAddress(Long.MAX_VALUE, 0);

  private final StreamUnit unit = new StreamUnit(Versions.inMemory());

  StreamUnitTest() {
    unit.seal(1);
  }

  private static LogAddress at(long counter) {
    return new LogAddress(1, counter);
  }

  private static StreamEntry entry(StreamId stream, long address, long counter, Sort sort) {
    return new StreamEntry(stream, address, at(counter), sort, new byte[] {(byte) counter});
  }

  private static StreamEntry change(long address, long counter) {
    return entry(A, address, counter, Sort.CHANGE);
  }

  @Test
  void materializesInStreamOrderWhateverTheOrderOfArrival() {
    unit.take(change(3, 30));
    unit.take(change(2, 20));
    assertEquals(0, unit.versions().last(A));
    assertEquals(2, unit.waiting());
    unit.take(change(1, 10));
    assertEquals(3, unit.versions().last(A));
    assertEquals(0, unit.waiting());
    for (long i = 1; i <= 3; i++) assertEquals(at(10 * i), unit.versions().read(A, i).log());
  }

  @Test
  void aRepeatChangesNothing() {
    unit.take(change(1, 10));
    unit.take(change(2, 20));
    unit.take(change(1, 99));
    unit.take(change(2, 99));
    assertEquals(at(10), unit.versions().read(A, 1).log());
    assertEquals(2, unit.versions().last(A));
  }

  @Test
  void takesABatchWholeOrNotAtAll() {
    assertTrue(unit.append(List.of(change(1, 10), entry(B, 1, 11, Sort.NOTE))));
    unit.take(StreamEntry.empty(B, 2, at(12)));
    assertFalse(unit.append(List.of(change(2, 13), entry(B, 2, 14, Sort.CHANGE))));
    assertEquals(1, unit.versions().last(A), "nothing of it is there");
  }

  @Test
  void aSealedUnitTakesNoBatchOfAnOlderEpochButItsParts() {
    unit.seal(2);
    assertFalse(unit.append(List.of(change(1, 10))));
    unit.take(change(1, 10));
    assertEquals(1, unit.versions().last(A));
  }

  @Test
  void closingMakesStoredEmptyVersionsOfGaps() {
    unit.take(change(3, 30));
    unit.take(change(5, 50));
    unit.close();
    assertEquals(5, unit.versions().last(A));
    for (long gap : List.of(1L, 2L, 4L)) {
      assertEquals(Sort.VOID, unit.versions().read(A, gap).sort());
    }
    assertEquals(new UpTo(3), unit.extent(A, at(49), 5), "the gap is below what follows it");
  }

  @Test
  void aReadWaitsForWhatWasIssued() {
    unit.take(change(1, 10));
    assertEquals(NOT_YET, unit.extent(A, at(25), 2), "something was issued that is not here");
    unit.take(change(2, 20));
    assertEquals(new UpTo(2), unit.extent(A, at(25), 2));
    assertEquals(new UpTo(1), unit.extent(A, at(15), 2));
    assertEquals(new UpTo(0), unit.extent(A, at(5), 2));
    assertEquals(NOT_YET, unit.extent(A, END, 3));
    assertEquals(new UpTo(0), unit.extent(B, END, 0));
  }

  @Test
  void aReadNeedNotWaitForWhatIsSurelyLater() {
    unit.take(change(1, 10));
    unit.take(change(2, 20));
    assertEquals(new UpTo(1), unit.extent(A, at(15), 7));
  }

  @Test
  void tellsTheSequencerTheEndOfAStream() {
    unit.take(change(1, 10));
    unit.take(entry(A, 2, 20, Sort.NOTE));
    assertEquals(new StreamUnit.Row(2, at(20), at(10)), unit.row(A));
    assertEquals(new StreamUnit.Row(0, StreamUnit.NONE, StreamUnit.NONE), unit.row(B));
    unit.take(change(4, 40));
    assertNull(unit.row(A), "something is unsettled, so the question is an old one");
  }

  @Test
  void theLastEntryAndTheLastChangeAreNeverTrimmed() {
    for (long i = 1; i <= 4; i++) unit.take(change(i, 10 * i));
    unit.take(entry(A, 5, 50, Sort.NOTE));
    assertEquals(2, unit.trim(A, 3, 100).size());
    assertEquals(3, unit.versions().first(A));
    assertEquals(1, unit.trim(A, 100, 100).size());
    assertEquals(4, unit.versions().first(A));
    assertEquals(new StreamUnit.Row(5, at(50), at(40)), unit.row(A));
    assertThrows(IllegalArgumentException.class, () -> unit.versions().read(A, 3));
    assertTrue(unit.isTaken(A, 3));
  }

  @Test
  void whatAStreamWasBeforeItWasTrimmedIsTooOld() {
    for (long i = 1; i <= 3; i++) unit.take(change(i, 10 * i));
    unit.trim(A, 2, 100);
    assertEquals(new Extent.TooOld(2), unit.extent(A, at(15), 3));
    assertEquals(new Extent.TooOld(2), unit.extent(A, at(5), 3));
    assertEquals(new UpTo(2), unit.extent(A, at(20), 3));
  }

  @Test
  void trimsAPartAtATime() {
    for (long i = 1; i <= 4; i++) unit.take(change(i, 10 * i));
    assertEquals(2, unit.trim(A, 4, 2).size());
    assertEquals(1, unit.trim(A, 4, 2).size());
    assertEquals(0, unit.trim(A, 4, 2).size());
  }

  @Test
  void aRebuiltStreamBeginsWhereItWasTrimmedTo() {
    unit.take(change(2, 20));
    unit.take(change(4, 40));
    unit.take(change(5, 50));
    unit.begin(new TreeMap<>(Map.of(A, 3L)));
    assertEquals(4, unit.versions().first(A));
    assertEquals(5, unit.versions().last(A));
  }
}
