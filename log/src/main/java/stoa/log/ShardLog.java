package stoa.log;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// The port through which a shard's batches become durable and ordered: give it a batch, and every
/// replica of the shard sees it in the same order, durably.
///
/// What every implementation owes:
///
/// - Batches are applied whole, in one order, the same at every replica.
/// - [Outcome.Committed] is told only after the batch is durable, and after this replica's streams
///   show it.
/// - A batch of an epoch below the sealed one, of a term below the last opened, or one that repeats
///   a sequence number, changes nothing and is [Outcome.Fenced].
/// - After [Outcome.Unknown] the batch is found in the log once or not at all, whoever asks later.
public interface ShardLog extends AutoCloseable {

  /// Proposes a batch. One owner, the shard's leader, proposes, one batch at a time; `done` is told
  /// the outcome, possibly before this returns.
  void append(Batch batch, Consumer<Outcome> done);

  /// Refuses when there is no room for as many bytes of what users want to keep, once what can be
  /// reclaimed is. Whoever proposes asks before it gives addresses; a batch that only gives up
  /// something, or says what must be said of earlier ones, needs no asking: room is kept for these.
  ///
  /// @throws RuntimeException when there is none; it says what to do
  default void makeRoom(long bytes) {}

  /// Raises the shard's epoch by a logged entry, after which batches of older epochs are void.
  ///
  /// @param epoch the new epoch; nothing happens when the shard has reached it already
  /// @throws RuntimeException when the seal could not be made durable
  void seal(long epoch);

  /// The term under which the owner of this handle proposes. It is given by the log, and above
  /// every term that another owner was given in the epoch: what was proposed need not have been
  /// seen.
  long term();

  /// Returns when it is certain that at some moment since the call the streams showed all that was
  /// acknowledged anywhere. Whoever reads without appending calls it first.
  ///
  /// @throws stoa.Unavailable when this end does not lead any more, or cannot be certain
  void confirm();

  /// Whether there are other replicas, which execute what the owner of this handle leads.
  default boolean isReplicated() {
    return false;
  }

  /// The objects of bytes that are beside the streams and are at all replicas; null when there are
  /// none. Asked once by the owner of this handle.
  ///
  /// @param executor where it is waited for the replicas
  default @Nullable Function<StreamId, ByteObject> objects(Executor executor) {
    return null;
  }

  /// What this replica has seen so far.
  Tail tail();

  /// The streams as this replica has materialized them.
  Streams streams();

  @Override
  void close();

  /// The end of a shard's log.
  ///
  /// @param epoch the sealed epoch, 0 in a new log
  /// @param counter the last log counter that was used, 0 in a new log
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
