package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.store.records.Records;

/// Which keys take no calls, and which calls are not run again.
@SuppressWarnings("exports") // see the package
public interface Bans {
  /// Why a key is refused in a generation; null when it is not.
  @Nullable RuntimeException refusal(Key key, long generation);

  /// Refuses to execute a logged put again that has ended the process before.
  ///
  /// @param generation of the key
  void refuseFatal(Execution execution, Records.Put put, long generation);

  /// Why a question is not asked again, during which the process has ended; null when it may be.
  @Nullable RuntimeException fatalQuestion(Execution execution);
}
