package stoa.store.running;

import org.jspecify.annotations.Nullable;

/// How a run gets entries into the log that no handler executes: answers that it was told, and
/// verdicts that take it back.
public interface Journal {
  /// Appends an entry to a resident's stream with the next batch, whoever leads it; does not wait.
  NoteRequest note(Resident resident, byte kind, byte[] payload);

  /// As [#note], of what a handler was told.
  ///
  /// @param before what the handlers of the key were told before; this is logged only if that is,
  ///   so that with the last answer all are durable
  NoteRequest noteAnswer(Resident resident, byte[] payload, @Nullable NoteRequest before);

  /// Leads a batch if no thread leads; answers whether it did.
  ///
  /// @param own a request whose key this thread runs itself if it is quick, or null
  boolean lead(@Nullable Request own);

  /// Has the writer lead what waits, unless the calling thread does so soon.
  void callWriter();

  /// Waits on a handler's thread, which meanwhile does what it waits for.
  void awaitHelping(Request request, Execution caller);
}
