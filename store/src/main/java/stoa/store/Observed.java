package stoa.store;

import java.util.concurrent.atomic.AtomicLong;

/// How far in the log a client has seen, by its own calls and by what it was answered. What it is
/// shown from then on, of any key, is not older. Thread-safe.
final class Observed {
  private final AtomicLong counter = new AtomicLong();

  /// The log counter up to which the client has seen.
  long counter() {
    return counter.get();
  }

  /// The client sees what was logged up to a counter.
  void advance(long to) {
    if (to > counter.get()) counter.accumulateAndGet(to, Math::max);
  }
}
