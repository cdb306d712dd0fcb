package stoa;

import java.time.Instant;
import java.util.List;

/// The past of one shared object (vCorfu, section 2.3: a stream is read at any of its addresses).
///
/// Thread-safe.
///
/// @param <T> the type of the object
public interface History<T> {
  /// Returns the present version of the object: the stream address of its last completed call; 0
  /// when it was never changed.
  long version();

  /// Returns the oldest readable version. It rises when [#trim] or the store's [Keep] releases the
  /// past.
  long oldest();

  /// Releases the versions below one, for good; the store reclaims their space later. It keeps what
  /// snapshots, transactions and calls in progress need, and everything newer: call again when they
  /// have ended. A store in several groups releases nothing while it cannot ask one of them for its
  /// needs, and keeps for an hour what methods of objects in other groups have called. The release
  /// is durable on return.
  ///
  /// When an object is deleted that was trimmed to its last version, the store releases that
  /// version too.
  ///
  /// @param before the least version that stays readable, at most [#version()]
  /// @return the oldest readable version: `before`, or less while an older one is in use, or more
  ///   when more had been released
  /// @throws IllegalArgumentException when `before` is negative or above [#version()]
  long trim(long before);

  /// Returns the object as it was after the call with the given stream address. Accessors of the
  /// result read that state; other methods throw [UnsupportedOperationException]. These accessors
  /// see other objects as they were when the call had ended. Shared objects in their answers are
  /// live.
  ///
  /// @throws TooOld when the version is below [#oldest()]
  /// @throws IllegalArgumentException when the version is negative or above [#version()]
  T at(long version);

  /// Returns the entries of the versions from `from` to `to`, both inclusive, oldest first.
  ///
  /// @throws TooOld when the first of them was released
  List<Entry> entries(long from, long to);

  /// One logged entry of the object's stream.
  ///
  /// @param version its stream address
  /// @param address its log address
  /// @param time when the store logged it
  /// @param event its content
  record Entry(long version, LogAddress address, Instant time, Event event) {}

  /// The content of a logged entry.
  sealed interface Event {
    /// A caller called a method. If the object was absent, the call created it first.
    ///
    /// @param method the method's identity, see [MethodId]
    /// @param arguments its arguments; shared objects appear as proxies
    record Called(String method, List<?> arguments) implements Event {}

    /// A call by the object's method on another object was answered.
    ///
    /// @param call the stream address of the calling method
    /// @param target the called object
    record Answered(long call, Ref<?> target) implements Event {}

    /// The store took back a call that ran over its limits, or that an operator canceled.
    ///
    /// @param call the stream address of the call
    /// @param reason why
    record Cancelled(long call, String reason) implements Event {}

    /// A long call completed; no replay will take it back.
    ///
    /// @param call the stream address of the call
    record Completed(long call) implements Event {}

    /// [Stoa#create] created the object.
    record Created() implements Event {}

    /// Calls at clients changed the object, see [Placement#CLIENT]. This version is the state after
    /// one or more of them; the store does not log the calls themselves.
    record Changed() implements Event {}

    /// The store lent the object to clients, see [View.Client].
    record Lent() implements Event {}

    /// The object came back from the clients to which it was lent.
    record Returned() implements Event {}

    /// The object was deleted.
    record Deleted() implements Event {}
  }
}
