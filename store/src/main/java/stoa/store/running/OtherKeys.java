package stoa.store.running;

import stoa.base.Existence;
import stoa.base.Key;
import stoa.store.calls.Put;
import stoa.store.records.Records;

/// The calls that a run makes on other keys.
@SuppressWarnings("exports") // see the package
public interface OtherKeys {
  /// Puts a value to another key for a run.
  Execution.Nested put(
      Execution caller,
      Key target,
      Put put,
      Existence existence,
      Execution.Beginning beginning,
      Records.Origin origin);

  /// Asks another key a question for a run.
  Execution.Nested get(Execution caller, Key target, Object query, Existence existence);

  /// Returns whether there are other stores whose keys handlers may call.
  boolean hasNeighbors();

  /// Returns whether a key belongs to another store.
  boolean isInOtherGroup(Key key);

  /// Puts a value to a key of another store for a run.
  Execution.Nested putInOtherGroup(
      Execution caller, Key target, Object call, Existence existence, Records.Origin origin);

  /// Asks a key of another store for a run. A run that answers for the past asks that key for the
  /// past.
  Execution.Nested getInOtherGroup(Execution caller, Key target, Object query, Existence existence);

  /// Asks a key of another store for the present, also for a run that answers for the past.
  Execution.Nested getInOtherGroupNow(
      Execution caller, Key target, Object query, Existence existence);
}
