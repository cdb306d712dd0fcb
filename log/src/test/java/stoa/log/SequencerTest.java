package stoa.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.Sequencer.Answer;
import stoa.log.Sequencer.Demand;
import stoa.log.Sequencer.Fate;
import stoa.log.Sequencer.Holder;
import stoa.log.Sequencer.Issued;
import stoa.log.Sequencer.Known;
import stoa.log.Sequencer.Question;

class SequencerTest {
  private static final StreamId A = StreamId.of("a");
  private static final StreamId B = StreamId.of("b");
  private static final StreamId C = StreamId.of("c");
  private static final Holder.Shard LEADER = new Holder.Shard(0, 1);

  private static Sequencer sequencer(Sequencer.Limits limits) {
    var sequencer = new Sequencer(3, 100, limits);
    assertNotNull(sequencer.adopt(0, 1));
    return sequencer;
  }

  private static Sequencer sequencer() {
    return sequencer(new Sequencer.Limits(8, 8, 8, 8));
  }

  private static LogAddress at(long counter) {
    return new LogAddress(3, counter);
  }

  private static TransactionId id(long sequence) {
    return new TransactionId(1, sequence);
  }

  /* Answers questions as shards without entries would, until there is another answer. */
  private static Answer batch(Sequencer sequencer, int count, Demand... demands) {
    while (true) {
      Answer answer = sequencer.grant(LEADER, count, List.of(demands));
      if (!(answer instanceof Answer.Ask(List<Question> questions))) return answer;
      for (var question : questions) learnNothing(sequencer, question);
    }
  }

  private static Answer transaction(
      Sequencer sequencer,
      TransactionId id,
      @Nullable LogAddress at,
      List<StreamId> reads,
      StreamId... writes) {
    List<Demand> demands = new ArrayList<>();
    for (var stream : writes) demands.add(Demand.of(stream));
    while (true) {
      Answer answer = sequencer.grant(id, at, reads, demands);
      if (!(answer instanceof Answer.Ask(List<Question> questions))) return answer;
      for (var question : questions) learnNothing(sequencer, question);
    }
  }

  private static void learnNothing(Sequencer sequencer, Question question) {
    switch (question) {
      case Question.OfStream of -> sequencer.learn(of, 0, null, null);
      case Question.OfSession of -> assertNull(sequencer.learn(of, Known.NOT_TAKEN, null));
    }
  }

  private static Answer.Granted granted(Answer answer) {
    return assertInstanceOf(Answer.Granted.class, answer);
  }

  @Test
  void issuesLogAndStreamAddressesAndNamesThePredecessor() {
    var sequencer = sequencer();
    var first = granted(batch(sequencer, 2, new Demand(A, 2, 1, 1), new Demand(B, 1, 0, -1)));
    assertEquals(new Token(at(101), 2), first.token());
    assertEquals(List.of(new Issued(A, 1, 2, null), new Issued(B, 1, 1, null)), first.issued());
    var second = granted(batch(sequencer, 1, Demand.of(A)));
    assertEquals(List.of(new Issued(A, 3, 1, at(102))), second.issued());
    assertEquals(at(103), sequencer.tail());
    assertEquals(103, sequencer.last());
  }

  @Test
  void asksTheShardOfAStreamItDoesNotKnow() {
    var sequencer = sequencer();
    var ask = assertInstanceOf(Answer.Ask.class, sequencer.grant(LEADER, 1, List.of(Demand.of(A))));
    var question = assertInstanceOf(Question.OfStream.class, ask.questions().getFirst());
    sequencer.learn(question, 7, at(90), at(80));
    var issued = granted(sequencer.grant(LEADER, 1, List.of(Demand.of(A)))).issued();
    assertEquals(List.of(new Issued(A, 8, 1, at(90))), issued);
  }

  @Test
  void anAnswerToAnOlderQuestionIsDropped() {
    var sequencer = sequencer(new Sequencer.Limits(1, 8, 8, 8));
    List<Question> asked = new ArrayList<>();
    assertNull(sequencer.check(A, asked));
    var old = assertInstanceOf(Question.OfStream.class, asked.getFirst());
    sequencer.learn(old, 0, null, null);
    var token = granted(batch(sequencer, 1, Demand.of(A))).token();
    sequencer.settled(token.first(), Fate.HERE);
    batch(sequencer, 1, Demand.of(B));
    sequencer.settled(at(102), Fate.HERE);
    asked.clear();
    assertNull(sequencer.check(A, asked), "a is forgotten for b");
    sequencer.learn(old, 0, null, null);
    assertNull(sequencer.check(A, asked), "what was asked first is too old");
    sequencer.learn((Question.OfStream) asked.getLast(), 1, at(101), at(101));
    assertEquals(1L, sequencer.check(A, asked));
  }

  @Test
  void aStreamWithSomethingUnsettledIsNeverForgotten() {
    var sequencer = sequencer(new Sequencer.Limits(1, 8, 8, 8));
    batch(sequencer, 1, Demand.of(A));
    batch(sequencer, 1, Demand.of(B));
    batch(sequencer, 1, Demand.of(C));
    List<Question> asked = new ArrayList<>();
    for (var stream : List.of(A, B, C)) assertEquals(1L, sequencer.check(stream, asked));
  }

  @Test
  void abortsWhenAStreamWasChangedAfterTheSnapshot() {
    var sequencer = sequencer();
    var at = sequencer.tail();
    var winner = granted(batch(sequencer, 1, Demand.of(A))).token().first();
    sequencer.settled(winner, Fate.HERE);
    var refused = new Answer.Refused(A, winner);
    assertEquals(refused, transaction(sequencer, id(1), at, List.of(A), B));
    assertEquals(refused, transaction(sequencer, id(1), at, List.of(), A));
    granted(transaction(sequencer, id(1), sequencer.tail(), List.of(A), B));
  }

  @Test
  void aNoteIsNoConflict() {
    var sequencer = sequencer();
    var at = sequencer.tail();
    granted(batch(sequencer, 1, new Demand(A, 1, 0, -1)));
    granted(transaction(sequencer, id(1), at, List.of(A), B));
  }

  @Test
  void waitsForAChangeThatMayNotComeAbout() {
    var sequencer = sequencer();
    var at = sequencer.tail();
    var open = granted(batch(sequencer, 1, Demand.of(A))).token().first();
    assertEquals(new Answer.Wait(open), transaction(sequencer, id(1), at, List.of(A), B));
    sequencer.settled(open, Fate.HOLE);
    granted(transaction(sequencer, id(1), at, List.of(A), B));
  }

  @Test
  void comparesEpochsBeforeCounters() {
    var sequencer = sequencer();
    var change = granted(batch(sequencer, 1, Demand.of(A))).token().first();
    sequencer.settled(change, Fate.HERE);
    var at = new LogAddress(2, 500);
    assertEquals(new Answer.Refused(A, change), transaction(sequencer, id(1), at, List.of(A), B));
  }

  @Test
  void aRepeatGetsTheSameTokenWhileItIsUnsettledAndNoneAfterwards() {
    var sequencer = sequencer();
    var first = granted(transaction(sequencer, id(1), null, List.of(), A));
    assertEquals(first, transaction(sequencer, id(1), null, List.of(), A));
    assertInstanceOf(Answer.Busy.class, transaction(sequencer, id(2), null, List.of(), A));
    sequencer.settled(first.token().first(), Fate.HERE);
    assertEquals(
        new Answer.Settled(first.token().first()),
        transaction(sequencer, id(1), null, List.of(), A));
    granted(transaction(sequencer, id(2), null, List.of(), A));
    assertInstanceOf(Answer.Old.class, transaction(sequencer, id(1), null, List.of(), A));
  }

  @Test
  void aRepeatGetsANewTokenAfterAHole() {
    var sequencer = sequencer();
    var first = granted(transaction(sequencer, id(1), null, List.of(), A));
    sequencer.settled(first.token().first(), Fate.HOLE);
    var second = granted(transaction(sequencer, id(1), null, List.of(), A));
    assertEquals(at(102), second.token().first());
    assertEquals(2, second.issued().getFirst().first(), "void stream addresses stay used");
  }

  @Test
  void whatAShardTellsOfOneAppendSaysNothingOfLaterOnes() {
    var sequencer = sequencer();
    var demands = List.of(Demand.of(A));
    var ask = assertInstanceOf(Answer.Ask.class, sequencer.grant(id(6), null, List.of(), demands));
    var question = assertInstanceOf(Question.OfSession.class, ask.questions().getFirst());
    var address = new LogAddress(2, 40);
    assertNull(sequencer.learn(question, Known.TAKEN, address));
    assertEquals(new Answer.Settled(address), sequencer.grant(id(6), null, List.of(), demands));
    assertInstanceOf(Answer.Old.class, sequencer.grant(id(5), null, List.of(), demands));
    var later =
        assertInstanceOf(Answer.Ask.class, sequencer.grant(id(7), null, List.of(), demands));
    var about = assertInstanceOf(Question.OfSession.class, later.questions().getFirst());
    assertInstanceOf(Answer.Expired.class, sequencer.learn(about, Known.EXPIRED, null));
  }

  @Test
  void refusesOlderLeadersAndTellsTheNewOneWhatIsOutstanding() {
    var sequencer = sequencer();
    var token = granted(batch(sequencer, 1, Demand.of(A))).token();
    var outstanding = sequencer.adopt(0, 2);
    assertNotNull(outstanding);
    assertEquals(token, outstanding.getFirst().token());
    assertEquals(new Answer.WrongTerm(2), sequencer.grant(LEADER, 1, List.of(Demand.of(A))));
    assertNull(sequencer.adopt(0, 1));
    granted(sequencer.grant(new Holder.Shard(0, 2), 1, List.of(Demand.of(A))));
  }

  @Test
  void boundsWhatIsUnsettled() {
    var sequencer = sequencer(new Sequencer.Limits(8, 8, 1, 8));
    var first = granted(batch(sequencer, 1, Demand.of(A))).token().first();
    assertInstanceOf(Answer.Busy.class, batch(sequencer, 1, Demand.of(B)));
    assertEquals(at(100), sequencer.settledTail());
    sequencer.settled(first, Fate.HERE);
    assertEquals(at(101), sequencer.settledTail());
    granted(batch(sequencer, 1, Demand.of(B)));
  }

  @Test
  void knowsWhoSettlesAnAddress() {
    var sequencer = sequencer();
    batch(sequencer, 3, new Demand(A, 3, 2, 2));
    transaction(sequencer, id(1), null, List.of(), B);
    for (long counter = 101; counter <= 103; counter++) {
      var holder = sequencer.holder(counter);
      assertNotNull(holder);
      assertEquals(LEADER, holder.holder());
    }
    var holder = sequencer.holder(104);
    assertNotNull(holder);
    assertEquals(new Holder.LogUnit(id(1)), holder.holder());
    assertNull(sequencer.holder(100));
    assertNull(sequencer.holder(105));
    sequencer.settled(at(101), Fate.HERE);
    assertNull(sequencer.holder(102));
    assertEquals(1, sequencer.unsettled().size());
  }

  @Test
  void whatIsTakenBackIsIssuedAgain() {
    var sequencer = sequencer();
    var at = sequencer.tail();
    var first = granted(batch(sequencer, 1, Demand.of(A)));
    sequencer.takeBack(first.token());
    assertEquals(at, sequencer.tail());
    assertEquals(first, batch(sequencer, 1, Demand.of(A)));
    batch(sequencer, 1, Demand.of(B));
    assertThrows(IllegalStateException.class, () -> sequencer.takeBack(first.token()));
  }
}
