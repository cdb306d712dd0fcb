package stoa.client;

/// What lives in the server's memory for one session, and is lost with it: a transaction, a pin, a
/// write of a blob. Guarded by the lock of its conversation.
final class Scope {
  // The life of the session at the server in which it was begun, 0 before.
  private int life;

  /// It is begun in a life of the session.
  void begin(int current) {
    life = current;
  }

  /// Returns whether it was begun in another life of the session than the current one.
  boolean isLost(int current) {
    return life != 0 && life != current;
  }
}
