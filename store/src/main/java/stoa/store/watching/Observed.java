package stoa.store.watching;

import java.util.concurrent.atomic.AtomicLong;

/// How far in the log a client has seen, by its own calls and by the answers that it got. Later
/// answers to the client, about any key, are not older. Thread-safe.
public final class Observed {
  private final AtomicLong counter = new AtomicLong();

  /// Creates it for a client that has seen nothing.
  public Observed() {}

  /// Returns the log counter up to which the client has seen.
  public long counter() {
    return counter.get();
  }

  /// Notes that the client has seen the log up to a counter.
  public void advance(long to) {
    if (to > counter.get()) counter.accumulateAndGet(to, Math::max);
  }
}
