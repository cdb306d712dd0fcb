package stoa.store.watching;

import stoa.base.Key;

/// The registration of a [Watcher] with a key, until it is closed. Thread-safe.
public final class WatchRegistration implements AutoCloseable {
  private final Watches watches;
  private final Key key;
  private final Watcher watcher;

  // Guarded by this.
  private long told = -1;
  private boolean closed;

  WatchRegistration(Watches watches, Key key, Watcher watcher) {
    this.watches = watches;
    this.key = key;
    this.watcher = watcher;
  }

  /// Returns the key that is watched.
  public Key key() {
    return key;
  }

  /// Tells the watcher of a change, unless it has heard of it or of a later one.
  public synchronized void tell(long counter) {
    if (closed || counter <= told) return;
    told = counter;
    watcher.changed(counter);
  }

  /// Ends the registration: after this returns, the watcher hears of no further change.
  @Override
  public void close() {
    synchronized (this) {
      if (closed) return;
      closed = true;
    }
    watches.remove(this);
  }
}
