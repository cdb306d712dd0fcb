package stoa;

/// A listener's registration at a key of a [KeyValueStore]. Thread-safe.
public interface ListenerRegistration extends AutoCloseable {
  /// Returns the key.
  Object key();

  /// Returns whether further events may come: the registration is neither closed nor ended.
  boolean isOpen();

  /// Ends the registration (`unregListener`), and removes listener and handler from the store;
  /// durable on return. From then on the listener gets no event, except one that it is handling at
  /// this moment. Idempotent.
  @Override
  void close();
}
