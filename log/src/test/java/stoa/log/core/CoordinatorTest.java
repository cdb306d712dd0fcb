package stoa.log.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.Sequencer.Answer;
import stoa.log.Sequencer.Demand;
import stoa.log.Sequencer.Issued;
import stoa.log.Token;
import stoa.log.TransactionId;
import stoa.log.core.Coordinator.Effect;
import stoa.log.core.Coordinator.Outcome;
import stoa.log.core.Coordinator.Write;
import stoa.log.core.Coordinator.Written;
import stoa.log.core.StreamEntry.Sort;

class CoordinatorTest {
  private static final StreamId A = StreamId.of("a");
  private static final StreamId B = StreamId.of("b");
  private static final TransactionId ID = new TransactionId(1, 2);

  private final Coordinator coordinator =
      new Coordinator(
          new Coordinator.Transaction(
              ID,
              at(10),
              List.of(B),
              List.of(
                  new Write(A, Sort.CHANGE, new byte[] {1}),
                  new Write(B, Sort.NOTE, new byte[] {2}),
                  new Write(A, Sort.NOTE, new byte[] {3}))));

  private static LogAddress at(long counter) {
    return new LogAddress(1, counter);
  }

  private static Answer.Granted granted(long counter) {
    return new Answer.Granted(
        new Token(at(counter), 1), List.of(new Issued(A, 5, 2, null), new Issued(B, 1, 1, null)));
  }

  private Effect.Ask asked() {
    return assertInstanceOf(Effect.Ask.class, coordinator.last());
  }

  private Effect.Put put() {
    return assertInstanceOf(Effect.Put.class, coordinator.last());
  }

  @Test
  void asksForEachStreamOnce() {
    assertEquals(List.of(new Demand(A, 2, 0, 0), new Demand(B, 1, 0, -1)), asked().demands());
  }

  @Test
  void writesTheWholeAppendAtOneAddress() {
    coordinator.on(asked().number(), granted(11));
    var record = put().record();
    assertEquals(at(11), record.address());
    assertEquals(ID, record.id());
    assertEquals(List.of(5L, 1L, 6L), record.entries().stream().map(StreamEntry::address).toList());
    var outcome = new Effect.Tell(new Outcome.Committed(at(11)));
    assertEquals(outcome, coordinator.on(put().number(), Written.DELIVERED));
    assertEquals(outcome, coordinator.last());
  }

  @Test
  void tellsNothingBeforeEveryShardHasItsPart() {
    coordinator.on(asked().number(), granted(11));
    assertNull(coordinator.on(put().number(), Written.STORED));
    assertEquals(at(11), put().record().address(), "it is written again");
  }

  @Test
  void asksAgainWhenAHoleWasFirst() {
    coordinator.on(asked().number(), granted(11));
    long old = put().number();
    coordinator.on(old, Written.TAKEN);
    assertNull(coordinator.on(old, Written.DELIVERED), "a late answer");
    coordinator.on(asked().number(), granted(15));
    coordinator.on(put().number(), Written.OLD_EPOCH);
    assertNotNull(coordinator.on(asked().number(), granted(17)));
    assertEquals(at(17), put().record().address());
  }

  @Test
  void aTokenThatComesLateIsNotUsed() {
    long first = asked().number();
    coordinator.on(first, granted(11));
    assertNull(coordinator.on(first, granted(12)));
    assertEquals(at(11), put().record().address());
  }

  @Test
  void tellsWhatTheSequencerDecides() {
    for (var each :
        List.of(
            List.of(new Answer.Refused(B, at(12)), new Outcome.Aborted(B, at(12))),
            List.of(new Answer.Settled(at(9)), new Outcome.Committed(at(9))),
            List.of(new Answer.Expired(), new Outcome.Unknown()),
            List.of(new Answer.Old(), new Outcome.Stale()))) {
      var other =
          new Coordinator(
              new Coordinator.Transaction(
                  ID, null, List.of(), List.of(new Write(A, Sort.CHANGE, new byte[0]))));
      long number = assertInstanceOf(Effect.Ask.class, other.last()).number();
      assertEquals(
          new Effect.Tell((Outcome) each.getLast()), other.on(number, (Answer) each.getFirst()));
    }
  }

  @Test
  void waitsAsLongAsItIsUndecided() {
    for (Answer answer :
        List.of(new Answer.Wait(at(12)), new Answer.Busy(), new Answer.Ask(List.of()))) {
      assertNull(coordinator.on(asked().number(), answer));
    }
  }

  @Test
  void refusesATransactionThatAppendsNothing() {
    var nothing = new Coordinator.Transaction(ID, at(10), List.of(A), List.of());
    assertThrows(IllegalStateException.class, () -> new Coordinator(nothing));
  }
}
