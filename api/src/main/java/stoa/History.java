package stoa;

import java.time.Instant;
import java.util.List;

/// The past of one shared object (vCorfu, section 2.3: a stream is read at any of its addresses).
///
/// Thread-safe.
///
/// @param <T> the type of the object
public interface History<T> {
  /// The version of the object now: the stream address of its last completed call; 0 when it was
  /// never changed.
  long version();

  /// The oldest version that can be read: it rises as the past is released, by [#trim] or as [Keep]
  /// says.
  long oldest();

  /// Releases the versions below one, for good; their room comes back in time. What snapshots,
  /// transactions and calls under way still need stays, and with it all that is newer: call again
  /// when they have ended. Of a store in several groups nothing is released while one of them
  /// cannot be asked what is needed there, and what methods of objects in other groups have called
  /// stays for an hour. The result is durable when this returns.
  ///
  /// @param before the least version that stays readable, at most [#version()]
  /// @return the oldest version that can be read now: `before`, or less while something older is
  ///   held, or more when more had been released
  /// @throws IllegalArgumentException when it is negative or above [#version()]
  long trim(long before);

  /// The object as it was after the call with the given stream address. Accessors of the result
  /// read that state; other methods throw [UnsupportedOperationException]. Other objects that these
  /// accessors ask are seen as they were when the call had ended. Shared objects that they answer
  /// are live.
  ///
  /// @throws TooOld when the version is below [#oldest()]
  /// @throws IllegalArgumentException when the version is negative or above [#version()]
  T at(long version);

  /// What happened in the versions from `from` to `to`, both inclusive, oldest first.
  ///
  /// @throws TooOld when the first of them was released
  List<Entry> entries(long from, long to);

  /// One logged entry of the object's stream.
  ///
  /// @param version its stream address
  /// @param address its log address
  /// @param time when it was logged
  /// @param event what happened
  record Entry(long version, LogAddress address, Instant time, Event event) {}

  /// What a logged entry is about.
  sealed interface Event {
    /// A method was called. When the object was absent, it was created first.
    ///
    /// @param method the method's identity, see [MethodId]
    /// @param arguments its arguments; shared objects appear as proxies
    record Called(String method, List<?> arguments) implements Event {}

    /// A call that the object's method made on another object was answered.
    ///
    /// @param call the stream address of the calling method
    /// @param target the object that was called
    record Answered(long call, Ref<?> target) implements Event {}

    /// A call ran over its limits and was taken back.
    ///
    /// @param call the stream address of the call
    /// @param reason why
    record Cancelled(long call, String reason) implements Event {}

    /// A call that ran long completed; it will not be cancelled in a replay.
    ///
    /// @param call the stream address of the call
    record Completed(long call) implements Event {}

    /// The object was created by [Stoa#create].
    record Created() implements Event {}

    /// Calls at clients have changed the object, see [Placement#CLIENT]: this version is the state
    /// that came of one or more of them, which are not logged themselves.
    record Changed() implements Event {}

    /// The object was lent to clients, see [View.Client].
    record Lent() implements Event {}

    /// The object came back from the clients to which it was lent.
    record Returned() implements Event {}

    /// The object was deleted.
    record Deleted() implements Event {}
  }
}
