package stoa.sim;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.Sequencer;
import stoa.log.Sequencer.Demand;
import stoa.log.TransactionId;
import stoa.log.core.Command;
import stoa.log.core.CommitRecord;
import stoa.log.core.Coordinator;
import stoa.log.core.LogUnit;
import stoa.log.core.StreamEntry;
import stoa.log.core.StreamUnit;

/// What the parts of a simulated stream store send each other. A request has a number, by which its
/// sender knows the reply; a reply that comes late, or twice, is dropped by it.
sealed interface StreamMessage {
  /// Who sends or receives.
  ///
  /// @param kind its role
  /// @param number which of these; for a sequencer its epoch
  record Node(Kind kind, long number) {
    @Override
    public String toString() {
      return kind.name().charAt(0) + "" + number;
    }
  }

  /// The roles.
  enum Kind {
    SHARD,
    SEQUENCER,
    COORDINATOR,
    CLIENT,
    FOLLOWER
  }

  // To the sequencer.
  record Tail(Node from, long number) implements StreamMessage {}

  record Check(Node from, long number, StreamId stream) implements StreamMessage {}

  record GrantBatch(
      Node from, long number, Sequencer.Holder.Shard holder, int count, List<Demand> demands)
      implements StreamMessage {}

  record GrantTransaction(
      Node from, long number, Coordinator.Transaction transaction, List<Demand> demands)
      implements StreamMessage {}

  record Adopt(Node from, long number, int shard, long term) implements StreamMessage {}

  record Settled(LogAddress first, Sequencer.Fate fate) implements StreamMessage {}

  record SettleUpTo(long counter) implements StreamMessage {}

  record RowIs(Sequencer.Question.OfStream question, StreamUnit.Row row) implements StreamMessage {}

  record SessionIs(
      Sequencer.Question.OfSession question, Sequencer.Known known, @Nullable LogAddress address)
      implements StreamMessage {}

  /* With `lost` when it replaces a lost shard. */
  record Sealed(int shard, long epoch, long round, boolean lost, long counter, int undelivered)
      implements StreamMessage {}

  record RebuildSent(int shard, int lost) implements StreamMessage {}

  record RebuiltIs(int shard) implements StreamMessage {}

  record Closed(int shard, long epoch) implements StreamMessage {}

  // To a shard.
  record Append(Node from, long number, TransactionId id, List<Coordinator.Write> writes)
      implements StreamMessage {}

  record Put(Node from, long number, CommitRecord record) implements StreamMessage {}

  record Settle(Sequencer.Unsettled unsettled, long settledBelow) implements StreamMessage {}

  record Deliver(Node from, long item, long epoch, Command command) implements StreamMessage {}

  record Acknowledge(long item, long epoch) implements StreamMessage {}

  record RowOf(Node from, Sequencer.Question.OfStream question) implements StreamMessage {}

  record SessionOf(Node from, Sequencer.Question.OfSession question) implements StreamMessage {}

  record Seal(Node from, long epoch, long round) implements StreamMessage {}

  record Rebuild(Node from, int lost) implements StreamMessage {}

  record Rebuilt(Node from, long sessionsBelow) implements StreamMessage {}

  record Close(Node from, long epoch, long start) implements StreamMessage {}

  record Read(Node from, long number, StreamId stream, LogAddress at, long bound, long epoch)
      implements StreamMessage {}

  record ReadLog(Node from, long number, long counter) implements StreamMessage {}

  record Trim(Node from, long number, StreamId stream, long before) implements StreamMessage {}

  // Replies.
  record TailIs(long number, LogAddress tail) implements StreamMessage {}

  record CheckIs(long number, long bound, long epoch) implements StreamMessage {}

  record GrantIs(long number, Sequencer.Answer answer) implements StreamMessage {}

  record Adopted(long number, long epoch, @Nullable List<Sequencer.Unsettled> outstanding)
      implements StreamMessage {}

  record Appended(long number, LogAddress address) implements StreamMessage {}

  record Forgotten(long number) implements StreamMessage {}

  record Written(long number, Coordinator.Written written) implements StreamMessage {}

  record Entries(long number, long first, List<StreamEntry> entries) implements StreamMessage {}

  record TooOld(long number) implements StreamMessage {}

  record LogIs(long number, LogUnit.Read read) implements StreamMessage {}

  record Done(long number) implements StreamMessage {}

  // To a coordinator.
  record End(Node from, long number, Coordinator.Transaction transaction)
      implements StreamMessage {}

  record Ended(long number, Coordinator.Outcome outcome) implements StreamMessage {}
}
