package stoa;

import java.time.Duration;

/// A durable subscription to changes, under a name: the store remembers how far its consumer came,
/// and keeps the log from there on, also while no consumer reads; see [Stoa#subscribe].
///
/// The position is in the log, so it survives restarts and failovers. One consumer at a time should
/// use a subscription: two would acknowledge for each other.
///
/// Thread-safe.
public interface Subscription {
  /// Returns the name.
  String name();

  /// Returns the log address up to which the consumer has handled the changes, as this object knows
  /// it: at the beginning the present of the first [Stoa#subscribe].
  LogAddress position();

  /// Returns how old the position may become before the store keeps nothing more for it.
  Duration ageMax();

  /// Opens a stream of the changes behind the position.
  ///
  /// @param what begins at the position, whatever its start says
  /// @throws TooOld as [Stoa#changes]: the position became too old, and the store has released
  ///   changes behind it
  <T> ChangeStream<T> changes(Changes<T> what);

  /// Tells the store that the consumer has handled the changes up to a log address. Durable on
  /// return: an entry of the log, so acknowledge some times a second, and not after each change. An
  /// address at or before the position has no effect.
  ///
  /// @param token the [ChangeStream#token()]
  /// @throws Gone when the subscription was deleted
  /// @throws IllegalArgumentException when the log has not reached the address
  /// @throws IllegalStateException in a method of a shared object, and in a transaction
  void acknowledge(LogAddress token);
}
