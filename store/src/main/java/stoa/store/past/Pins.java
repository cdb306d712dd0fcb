package stoa.store.past;

import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/// The log counters at which readers read. The store does not release the entries that a reader can
/// read at a pinned counter. Thread-safe.
public final class Pins {
  /*
   * A search for the least pin may miss a pin that is added during the search. A thread that pins
   * the present therefore first pins a counter that is not behind the present, then asks for the
   * present, and pins that. A search that saw neither pin asked for the present before, and its
   * caller releases nothing behind it.
   */
  private final LongSupplier nowMicros;
  private final AtomicLong numbers = new AtomicLong();
  private final ConcurrentSkipListSet<Pin> pins = new ConcurrentSkipListSet<>();

  /// @param nowMicros the present time, in microseconds since 1970
  Pins(LongSupplier nowMicros) {
    this.nowMicros = nowMicros;
  }

  /// Keeps everything that a reader can read at a log counter readable until the pin is closed.
  /// Closing it again does nothing.
  public final class Pin implements Comparable<Pin>, AutoCloseable {
    private final long counter;
    private final long number = numbers.incrementAndGet();
    private final long untilMicros;

    private Pin(long counter, long untilMicros) {
      this.counter = counter;
      this.untilMicros = untilMicros;
    }

    /// Returns the log counter to read at.
    public long counter() {
      return counter;
    }

    @Override
    public int compareTo(Pin other) {
      return counter != other.counter
          ? Long.compare(counter, other.counter)
          : Long.compare(number, other.number);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Pin pin && pin.number == number;
    }

    @Override
    public int hashCode() {
      return Long.hashCode(number);
    }

    @Override
    public void close() {
      pins.remove(this);
    }
  }

  /// Pins a counter of the past. Entries that were released before stay released; a read tells.
  public Pin pin(long counter) {
    return added(new Pin(counter, Long.MAX_VALUE));
  }

  /// Pins the present for a limited time, so that a pin that is never closed does no lasting harm.
  ///
  /// @param moment gives a counter that is not behind the present
  /// @param present gives the counter of the present
  /// @param forMicros how long the pin counts
  public Pin pin(LongSupplier moment, LongSupplier present, long forMicros) {
    long micros = nowMicros.getAsLong();
    long untilMicros = forMicros > Long.MAX_VALUE - micros ? Long.MAX_VALUE : micros + forMicros;
    Pin before = added(new Pin(moment.getAsLong(), untilMicros));
    boolean stays = false;
    try {
      long now = present.getAsLong();
      stays = now == before.counter;
      return stays ? before : added(new Pin(now, untilMicros));
    } finally {
      if (!stays) before.close();
    }
  }

  private Pin added(Pin pin) {
    pins.add(pin);
    return pin;
  }

  /// Returns the least pinned counter; [Long#MAX_VALUE] when there is no pin.
  public long least() {
    for (Pin pin : pins) {
      if (pin.untilMicros == Long.MAX_VALUE || nowMicros.getAsLong() <= pin.untilMicros) {
        return pin.counter;
      }
      pins.remove(pin);
    }
    return Long.MAX_VALUE;
  }

  /// Returns whether there are more than a number of pins at a counter or behind it.
  boolean isHeld(long counter, int number) {
    if (pins.isEmpty()) return false;
    int found = 0;
    for (Pin pin : pins.descendingSet()) {
      if (pin.counter < counter) return false;
      if (++found > number) return true;
    }
    return false;
  }

  /// Returns how many pins there are.
  public int count() {
    return pins.size();
  }
}
