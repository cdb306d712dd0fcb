package stoa.bench;

import java.util.List;
import java.util.SplittableRandom;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.Sequencer;
import stoa.log.TransactionId;

/// Transactions that ask a sequencer for a token on the condition that nothing they have read or
/// write has changed (vCorfu, section 4.3), and settle it at once. One thread at a time uses it.
final class TransactionTokens {
  private static final int STREAMS = 1_000;

  private final Sequencer sequencer = new Sequencer(1, 0);
  private final StreamId[] ids = AppendLog.ids(STREAMS);
  private final SplittableRandom random = new SplittableRandom(4);
  private long number;

  /// The next transaction, which reads one stream and writes another; answers its log counter.
  long next() {
    var id = new TransactionId(1, ++number);
    LogAddress at = sequencer.tail();
    var reads = List.of(some());
    var demands = List.of(Sequencer.Demand.of(some()));
    while (true) {
      switch (sequencer.grant(id, at, reads, demands)) {
        case Sequencer.Answer.Granted granted -> {
          LogAddress first = granted.token().first();
          sequencer.settled(first, Sequencer.Fate.HERE);
          return first.counter();
        }
        case Sequencer.Answer.Ask(List<Sequencer.Question> questions) ->
            questions.forEach(this::tell);
        case Sequencer.Answer other -> throw new IllegalStateException("refused: " + other);
      }
    }
  }

  private void tell(Sequencer.Question question) {
    switch (question) {
      case Sequencer.Question.OfStream stream -> sequencer.learn(stream, 0, null, null);
      case Sequencer.Question.OfSession session -> {
        var _ = sequencer.learn(session, Sequencer.Known.NOT_TAKEN, null);
      }
    }
  }

  private StreamId some() {
    return ids[random.nextInt(STREAMS)];
  }
}
