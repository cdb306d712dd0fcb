package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.store.records.Records;

/// Tells which keys take no calls, and which calls must not run again.
@SuppressWarnings("exports") // see the package
public interface Bans {
  /// Returns the error for calls on a key in a generation; null when the key takes calls.
  @Nullable RuntimeException refusal(Key key, long generation);

  /// Throws when the process has died before while it executed a logged put.
  ///
  /// @param generation the generation of the key
  void refuseFatal(Execution execution, Records.Put put, long generation);

  /// Returns the error for a question during which the process has died; null when it may run
  /// again.
  @Nullable RuntimeException fatalQuestion(Execution execution);
}
