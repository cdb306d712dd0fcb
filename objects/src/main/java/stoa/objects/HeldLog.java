package stoa.objects;

import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/// The part of the log that is held for one listener of objects, so that the store does not release
/// changes before the listener has heard them. Thread-safe.
final class HeldLog {
  /*
   * Invariants:
   * (1) From the change that begins a listener until the change that ends it, there is a pin at or
   *     in front of its position, unless it has failed for too long.
   * (2) The thread that delivers knows how many changes of the listener's object it has seen. It
   *     ends a pin without another one only when that are all: a listener that begins meanwhile
   *     relies on the pin.
   */
  private final LongFunction<Runnable> pins;
  private long changes = 1;
  private long counter;
  private @Nullable Runnable pin;

  // From a change on that may have begun the listener, until the position of the listener is known.
  private @Nullable Runnable begins;
  private long beginsAt = Long.MAX_VALUE;

  /// @param pins holds the log behind a counter; the returned task ends that
  HeldLog(LongFunction<Runnable> pins) {
    this.pins = pins;
  }

  /// Notes a change of the listener's object, before its caller has the answer.
  ///
  /// @param position the log counter behind which the listener must hear everything;
  ///   [Long#MAX_VALUE] when there is no listener
  synchronized void changed(long position) {
    changes++;
    if (pin != null || position >= beginsAt) return;
    Runnable later = begins;
    begins = pins.apply(position);
    beginsAt = position;
    if (later != null) later.run();
  }

  /// Notes that the object must be looked at again.
  synchronized void looksAgain() {
    changes++;
  }

  /// Returns how many changes of the object there were.
  synchronized long changes() {
    return changes;
  }

  /// Holds the log behind the position of the listener.
  synchronized void hold(long position) {
    if (pin == null || counter != position) {
      Runnable before = pin;
      pin = pins.apply(position);
      counter = position;
      if (before != null) before.run();
    }
    releaseBeginning();
  }

  /// Holds nothing more, since there is no listener, or it has failed for too long; returns false,
  /// and holds what it held, when the object has changed since the caller looked.
  ///
  /// @param seen how many changes there were before the caller looked
  synchronized boolean end(long seen) {
    if (changes != seen) return false;
    Runnable before = pin;
    pin = null;
    if (before != null) before.run();
    releaseBeginning();
    return true;
  }

  private void releaseBeginning() {
    Runnable before = begins;
    begins = null;
    beginsAt = Long.MAX_VALUE;
    if (before != null) before.run();
  }
}
