package stoa.client;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.wire.proto.Failure;

/// An object in a session, which names it by a number (AOF, section 3.3). Thread-safe.
final class Container {
  private static final int CLOSED = -1;

  private final Key key;
  private final int number;
  private final AtomicInteger users = new AtomicInteger();

  /// Set by each use, cleared by the search for a container to close.
  volatile boolean wasUsed = true;

  /// The life of the session at the server in which it was opened, 0 before. Guarded by the lock of
  /// its conversation.
  int openedIn;

  /// The reason why it could not be opened.
  volatile @Nullable Failure refusal;

  /// Receives the changes of the object; null while the client does not follow it. Written under
  /// the monitor of this.
  volatile @Nullable Followed follower;

  Container(Key key, int number) {
    this.key = key;
    this.number = number;
  }

  Key key() {
    return key;
  }

  int number() {
    return number;
  }

  /// Keeps it open until [#release]; returns false when it is closed already.
  boolean use() {
    while (true) {
      int now = users.get();
      if (now == CLOSED) return false;
      if (users.compareAndSet(now, now + 1)) {
        if (!wasUsed) wasUsed = true;
        return true;
      }
    }
  }

  /// Ends a use.
  void release() {
    users.decrementAndGet();
  }

  /// Closes it for good, unless it is in use.
  boolean close() {
    return users.compareAndSet(0, CLOSED);
  }
}
