package stoa.store.watching;

import stoa.base.Key;

/// A registration of a [Watcher] with a key, until it is closed. Thread-safe.
public final class Watch implements AutoCloseable {
  private final Watches watches;
  private final Key key;
  private final Watcher watcher;

  // Guarded by this.
  private long told = -1;
  private boolean closed;

  Watch(Watches watches, Key key, Watcher watcher) {
    this.watches = watches;
    this.key = key;
    this.watcher = watcher;
  }

  /// The key that is watched.
  public Key key() {
    return key;
  }

  /// Tells the watcher of a change, unless it has been told of it or a later one.
  public synchronized void tell(long counter) {
    if (closed || counter <= told) return;
    told = counter;
    watcher.changed(counter);
  }

  /// Ends the registration: the watcher is not told of anything from when this returns.
  @Override
  public void close() {
    synchronized (this) {
      if (closed) return;
      closed = true;
    }
    watches.remove(this);
  }
}
