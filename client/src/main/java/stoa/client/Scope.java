package stoa.client;

/// A state in the server's memory for one session, which a restart loses: a transaction, a pin, a
/// write of a blob. Guarded by the lock of its conversation.
final class Scope {
  // The life of the session at the server in which it began, 0 before.
  private int life;

  /// Notes that it begins in a life of the session.
  void begin(int current) {
    life = current;
  }

  /// Returns whether it began in another life of the session than the current one.
  boolean isLost(int current) {
    return life != 0 && life != current;
  }
}
