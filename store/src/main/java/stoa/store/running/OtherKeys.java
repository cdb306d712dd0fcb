package stoa.store.running;

import stoa.base.Existence;
import stoa.base.Key;
import stoa.store.calls.Put;
import stoa.store.records.Records;

/// How a run calls other keys.
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

  /// Asks another key for a run.
  Execution.Nested get(Execution caller, Key target, Object query, Existence existence);

  /// Whether there are other stores whose keys handlers may call.
  boolean hasNeighbors();

  /// Whether a key is another store's.
  boolean isAbroad(Key key);

  /// Puts something to a key of another store for a run.
  Execution.Nested putAbroad(
      Execution caller, Key target, Object call, Existence existence, Records.Origin origin);

  /// Asks a key of another store for a run; a run that is asked for the past asks for that.
  Execution.Nested getAbroad(Execution caller, Key target, Object query, Existence existence);

  /// As [#getAbroad], and asks for the present, also for a run that is asked for the past.
  Execution.Nested getAbroadNow(Execution caller, Key target, Object query, Existence existence);
}
