package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Existence;
import stoa.base.Key;

/// Appends the entries of a run that no handler executes: the answers that it got, and the verdicts
/// that take it back.
public interface Journal {
  /// Appends an entry to a resident's stream with the next batch, on any thread that writes that
  /// batch; does not wait.
  NoteRequest note(Resident resident, byte kind, byte[] payload);

  /// Appends an entry like [#note], with the next batch that is made anyway, or after a tick.
  void noteSoon(Resident resident, byte kind, byte[] payload);

  /// Appends an answer that a handler got, like [#note].
  ///
  /// @param before the preceding answer to the handlers of the key. The batch logs this answer only
  ///   if it has logged that one, so that when the last answer is durable, all answers are
  NoteRequest noteAnswer(Resident resident, byte[] payload, @Nullable NoteRequest before);

  /// Asks a key's handler behind the waiting requests of its key; does not wait. A thread that
  /// gathers requests runs a brief question itself.
  void askSoon(QuestionRequest question);

  /// Logs and runs a put again that waits for a condition, with the next batch; does not wait.
  void logAgain(PutRequest attempt);

  /// Logs and runs a put of the store itself, because the caller of another one has left; does not
  /// wait.
  PutRequest logLeft(Key key, byte[] value, Existence existence);

  /// Writes a batch if something waits for one and none is in progress; returns whether it did.
  ///
  /// @param own a request whose key this thread runs itself if it is quick, or null
  boolean writeBatch(@Nullable Request own);

  /// Calls the writer thread to write the waiting requests, unless the calling thread does so soon.
  void callWriterThread();

  /// Waits on a handler's thread, which meanwhile executes the request that it waits for.
  void awaitHelping(Request request, Execution caller);
}
