package stoa;

/// A listener's registration at a key of a [KeyValueStore]. Thread-safe.
public interface Registration extends AutoCloseable {
  /// The key.
  Object key();

  /// Whether there may be further events: it is neither closed nor ended.
  boolean isOpen();

  /// Ends it (`unregListener`), and takes listener and handler out of the store; durable when this
  /// returns. From then on the listener is told nothing more, but for an event that it is told at
  /// this moment. Idempotent.
  @Override
  void close();
}
