package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Answer;

/// The code that runs where a key lives, and the state that it keeps (CRESON, section III-C).
///
/// One thread at a time calls it. It is deterministic: on every replica and in every replay, the
/// same puts with the same answers of [Execution] lead to the same state. It returns exceptions as
/// answers and throws only [Error]s.
public interface Handler {
  /// Executes a put.
  Answer put(byte[] value, Execution execution);

  /// Answers a question about the state and changes nothing.
  Answer get(@Nullable Object query, Execution execution);

  /// Encodes the whole state. [HandlerFactory#restore] makes an equal handler from the result.
  byte[] checkpoint();
}
