package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import org.junit.jupiter.api.Test;
import stoa.wire.proto.Answer;

class LedgerTest {
  private final Ledger ledger = new Ledger(4);

  private static Answer answer(long sequence) {
    return Answer.newBuilder().setSequence(sequence).setReach(7).build();
  }

  @Test
  void runsARequestOnceAndKeepsItsAnswerUntilItIsAcknowledged() {
    assertInstanceOf(Ledger.Verdict.Run.class, ledger.arrives(1, 11));
    assertInstanceOf(Ledger.Verdict.Ignore.class, ledger.arrives(1, 11));
    assertEquals(1, ledger.underWay());
    ledger.answered(answer(1));
    assertEquals(new Ledger.Verdict.Again(answer(1)), ledger.arrives(1, 11));
    assertEquals(answer(1).getSerializedSize(), ledger.bytes());
    ledger.acknowledged(1);
    assertEquals(0, ledger.bytes());
    assertEquals(0, ledger.underWay());
    assertInstanceOf(Ledger.Verdict.Ignore.class, ledger.arrives(1, 11));
  }

  @Test
  void refusesOtherContentsUnderTheSameSequence() {
    var _ = ledger.arrives(1, 11);
    assertInstanceOf(Ledger.Verdict.Refuse.class, ledger.arrives(1, 12));
    ledger.answered(answer(1));
    assertInstanceOf(Ledger.Verdict.Refuse.class, ledger.arrives(1, 12));
  }

  @Test
  void refusesMoreThanItHoldsAndSequencesThatCannotBe() {
    for (int sequence = 1; sequence <= 4; sequence++) {
      assertInstanceOf(Ledger.Verdict.Run.class, ledger.arrives(sequence, 0));
    }
    assertInstanceOf(Ledger.Verdict.Refuse.class, ledger.arrives(5, 0));
    assertInstanceOf(Ledger.Verdict.Refuse.class, ledger.arrives(0, 0));
    assertInstanceOf(Ledger.Verdict.Refuse.class, ledger.arrives(-1, 0));
  }

  @Test
  void dropsAnAnswerThatIsAcknowledgedBeforeThatOfAnEarlierRequest() {
    var _ = ledger.arrives(1, 0);
    var _ = ledger.arrives(2, 0);
    ledger.answered(answer(2));
    ledger.acknowledgedAlso(2);
    assertEquals(0, ledger.bytes());
    assertInstanceOf(Ledger.Verdict.Ignore.class, ledger.arrives(2, 0));
    ledger.acknowledgedAlso(1); // nothing was answered
    assertEquals(1, ledger.underWay());
    ledger.answered(answer(1));
    assertEquals(new Ledger.Verdict.Again(answer(1)), ledger.arrives(1, 0));
  }

  @Test
  void takesAnAcknowledgementFarAheadAtOnce() {
    var _ = ledger.arrives(1, 0);
    ledger.acknowledged(Long.MAX_VALUE - 1);
    ledger.answered(answer(1));
    assertEquals(0, ledger.underWay());
    assertEquals(0, ledger.bytes());
    assertInstanceOf(Ledger.Verdict.Ignore.class, ledger.arrives(2, 0));
  }

  @Test
  void takesOldRequestsAfterNewOnesWhenTheSessionWasFoundInTheLog() {
    ledger.acknowledged(100);
    assertInstanceOf(Ledger.Verdict.Run.class, ledger.arrives(110, 0));
    assertInstanceOf(Ledger.Verdict.Run.class, ledger.arrives(101, 0));
    assertInstanceOf(Ledger.Verdict.Ignore.class, ledger.arrives(100, 0));
  }
}
