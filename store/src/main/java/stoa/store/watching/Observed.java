package stoa.store.watching;

import java.util.concurrent.atomic.AtomicLong;

/// How far in the log a client has seen, by its own calls and by what it was answered. What it is
/// shown from then on, of any key, is not older. Thread-safe.
public final class Observed {
  private final AtomicLong counter = new AtomicLong();

  /// Creates it for a client that has seen nothing.
  public Observed() {}

  /// The log counter up to which the client has seen.
  public long counter() {
    return counter.get();
  }

  /// The client sees what was logged up to a counter.
  public void advance(long to) {
    if (to > counter.get()) counter.accumulateAndGet(to, Math::max);
  }
}
