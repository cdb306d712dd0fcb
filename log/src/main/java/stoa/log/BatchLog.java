package stoa.log;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// The port through which batches become durable and ordered: every replica of the log sees a batch
/// in the same order, durably.
///
/// Every implementation guarantees:
///
/// - It applies batches whole, in one order, the same at every replica.
/// - It reports [BatchOutcome.Committed] only after the batch is durable, and after this replica's
///   streams show it.
/// - A batch of an epoch below the sealed one, of a term below the last opened, or with a repeated
///   sequence number changes nothing and is [BatchOutcome.Fenced].
/// - After [BatchOutcome.Unknown] the log has the batch once or not at all, for every later reader.
public interface BatchLog extends AutoCloseable {

  /// Proposes a batch. One owner, the leader of the log, proposes, one batch at a time; `done`
  /// receives the outcome, possibly before this returns.
  void append(Batch batch, Consumer<BatchOutcome> done);

  /// Returns whether the owner may [#write] a batch and [#sync] it later.
  default boolean syncsApart() {
    return false;
  }

  /// Does the same as [#append], but for the sync: after [BatchOutcome.Committed] the streams show
  /// the batch, and it is durable, with all before it, when a later [#sync], [#append] or [#seal]
  /// has returned. A process that ends loses none of them. After a loss of power, the log has the
  /// batches up to some place, and no batch behind one that it lacks.
  ///
  /// @throws UnsupportedOperationException unless the log [syncs apart][#syncsApart]
  default BatchOutcome write(Batch batch) {
    throw new UnsupportedOperationException("this log makes each batch durable by itself");
  }

  /// Makes durable what was [written][#write] before. Another thread may write meanwhile.
  ///
  /// @throws RuntimeException when its durability is unknown until the log is opened again
  default void sync() {}

  /// Refuses when there is no room for so many bytes of users' data, after reclaiming. The proposer
  /// calls it before it assigns addresses. A batch that only releases, or that completes earlier
  /// ones, needs no call: the reserve is for these.
  ///
  /// @throws RuntimeException when there is none, with the remedy
  default void makeRoom(long bytes) {}

  /// Raises the epoch by a logged entry, after which batches of older epochs are void.
  ///
  /// @param epoch the new epoch; no effect when the log has reached it already
  /// @throws RuntimeException when the seal could not be made durable
  void seal(long epoch);

  /// Returns the term under which the owner of this handle proposes. The log gives it, above every
  /// term of another owner in the epoch: the owner need not have seen their proposals.
  long term();

  /// Returns when it is certain that at some moment since the call the streams showed everything
  /// that was acknowledged anywhere. A reader that appends nothing calls it first.
  ///
  /// @throws stoa.Unavailable when this end does not lead any more, or cannot be certain
  void confirm();

  /// Returns whether there are other replicas, which execute what the owner of this handle leads.
  default boolean isReplicated() {
    return false;
  }

  /// Returns the objects of bytes beside the streams that all replicas have; null when there are
  /// none. The owner of this handle calls it once.
  ///
  /// @param executor where to wait for the replicas
  default @Nullable Function<StreamId, ByteObject> objects(Executor executor) {
    return null;
  }

  /// Returns what this replica has seen.
  Tail tail();

  /// Returns the streams as this replica has materialized them.
  Streams streams();

  @Override
  void close();

  /// The end of a log.
  ///
  /// @param epoch the sealed epoch, 0 in a new log
  /// @param counter the last used log counter, 0 in a new log
  /// @param term the last term within the epoch
  /// @param sequence the last sequence number within the term
  /// @param nowMicros the time of the last batch
  /// @param note the note of the last batch, over seals
  record Tail(long epoch, long counter, long term, long sequence, long nowMicros, byte[] note) {
    /// The tail of a log without entries.
    public static final Tail EMPTY = new Tail(0, 0, 0, 0, 0, new byte[0]);

    @Override
    public boolean equals(Object other) {
      return other instanceof Tail tail
          && epoch == tail.epoch
          && counter == tail.counter
          && term == tail.term
          && sequence == tail.sequence
          && nowMicros == tail.nowMicros
          && Arrays.equals(note, tail.note);
    }

    @Override
    public int hashCode() {
      return Objects.hash(epoch, counter, term, sequence, nowMicros, Arrays.hashCode(note));
    }

    @Override
    public String toString() {
      return "epoch %d, counter %d, term %d, sequence %d, now %d, note of %d bytes"
          .formatted(epoch, counter, term, sequence, nowMicros, note.length);
    }
  }
}
