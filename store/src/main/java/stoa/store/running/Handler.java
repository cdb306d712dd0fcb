package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Answer;

/// The code that runs where a key lives, with the state that it keeps (CRESON, section III-C).
///
/// One thread at a time calls it. It is deterministic: from the same puts, with the same answers of
/// [Execution], it comes to the same state on every replica and in every replay. What it throws
/// beside [Error]s it returns as an answer instead.
public interface Handler {
  /// Executes a put.
  Answer put(byte[] value, Execution execution);

  /// Answers a question about the state and changes nothing.
  Answer get(@Nullable Object query, Execution execution);

  /// The whole state. [HandlerFactory#restore] makes an equal handler of it.
  byte[] checkpoint();
}
