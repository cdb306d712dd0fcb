package stoa.sim;

import stoa.log.Sequencer.Answer;
import stoa.log.core.Command;
import stoa.log.core.Layout;
import stoa.log.core.Shard;
import stoa.log.core.Slots;
import stoa.log.core.Versions;

/// The rules by which a simulated stream store works. A test breaks one at a time, to see that the
/// checks find it.
class StreamRules {
  /// All rules kept.
  static final StreamRules KEPT = new StreamRules();

  /// A message on its way.
  StreamMessage sent(StreamMessage message) {
    return message;
  }

  /// The sequencer's answer to a request for a token.
  Answer answered(Answer answer) {
    return answer;
  }

  /// A command of the log, at a replica.
  Shard.Applied apply(Shard shard, long term, long sequence, Command command) {
    return shard.apply(term, sequence, command);
  }

  /// Where log units keep their slots.
  Slots slots() {
    return Slots.inMemory();
  }

  /// Where stream units keep their streams, over the ones that are watched.
  Versions versions(Versions watched) {
    return watched;
  }

  /// Who holds what.
  Layout layout(Layout layout) {
    return layout;
  }

  /// Whether a new sequencer waits until older epochs are delivered.
  boolean waitsForDeliveries() {
    return true;
  }

  /// Whether answers to old questions are dropped.
  boolean dropsOldAnswers() {
    return true;
  }

  /// Whether a token counts as settled only when its arbiter says so.
  boolean waitsForArbiters() {
    return true;
  }
}
