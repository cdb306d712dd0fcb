package stoa;

/// Receives the events of a key of a [KeyValueStore].
///
/// The store calls it on one thread at a time for each registration. It may block, and use the
/// store.
///
/// @param <W> the class of the events' values
@FunctionalInterface
public interface KeyListener<W> {
  /// Receives an event. When this method returns, the event is handled, and does not come again.
  ///
  /// An exception ends the registration; [#ended] then receives a [CallFailed] with the cause.
  void on(KeyEvent<W> event);

  /// Called when the registration has ended other than by [ListenerRegistration#close] and
  /// [Stoa#close]. There are no more events. To continue, read the key and register again.
  ///
  /// @param cause a [LimitExceeded] when the listener was too far behind; a [CallFailed] when its
  ///   handler or itself threw an exception; a [Closed], an [Unavailable] or an [UnknownOutcome]
  ///   when its session ended, or the store failed
  default void ended(StoaException cause) {}
}
