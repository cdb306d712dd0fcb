package stoa;

/// Is told of the events of a key for which it is registered in a [KeyValueStore].
///
/// It is called by one thread at a time, and each of its registrations by itself. It may block, and
/// use the store.
///
/// @param <W> the class of what it is told
@FunctionalInterface
public interface KeyListener<W> {
  /// An event. When this returns, the event is handled, and will not be told again.
  ///
  /// What this throws ends the registration; [#ended] is told a [CallFailed] with the cause.
  void on(KeyEvent<W> event);

  /// The registration has come to an end other than by [Registration#close] and [Stoa#close]: there
  /// are no more events. To go on, read the key and register again.
  ///
  /// @param cause a [LimitExceeded] when the listener was too far behind, a [CallFailed] when its
  ///   handler or itself threw something, and a [Closed], an [Unavailable] or an [UnknownOutcome]
  ///   when its session ended, or the store failed
  default void ended(StoaException cause) {}
}
