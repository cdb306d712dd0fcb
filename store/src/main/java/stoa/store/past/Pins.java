package stoa.store.past;

import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/// The log counters at which readers read. What can be read there is not released while a pin holds
/// it. Thread-safe.
public final class Pins {
  /*
   * A pin that is added while the least one is being asked for may not be seen. So who pins the present
   * first pins what is not behind it, then asks what it is, and pins that: whoever saw none of the two
   * pins had asked for the present before, and releases nothing behind it.
   */
  private final LongSupplier nowMicros;
  private final AtomicLong numbers = new AtomicLong();
  private final ConcurrentSkipListSet<Pin> pins = new ConcurrentSkipListSet<>();

  /// @param nowMicros the time, in microseconds since 1970
  Pins(LongSupplier nowMicros) {
    this.nowMicros = nowMicros;
  }

  /// The promise that what can be read at a log counter stays readable, until it is closed. Closing
  /// it again does nothing.
  public final class Pin implements Comparable<Pin>, AutoCloseable {
    private final long counter;
    private final long number = numbers.incrementAndGet();
    private final long untilMicros;

    private Pin(long counter, long untilMicros) {
      this.counter = counter;
      this.untilMicros = untilMicros;
    }

    /// The log counter to read at.
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

  /// Pins a counter of the past. What was released before stays so: read to find out.
  public Pin pin(long counter) {
    return added(new Pin(counter, Long.MAX_VALUE));
  }

  /// Pins the present, for a while at most: a pin that is never closed does no harm for ever.
  ///
  /// @param moment a time that is not behind the present
  /// @param present the present
  /// @param forMicros how long it counts
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

  /// The least counter that is pinned; [Long#MAX_VALUE] when none is.
  public long least() {
    for (Pin pin : pins) {
      if (pin.untilMicros == Long.MAX_VALUE || nowMicros.getAsLong() <= pin.untilMicros) {
        return pin.counter;
      }
      pins.remove(pin);
    }
    return Long.MAX_VALUE;
  }

  /// Whether more than a number of pins are held at a counter or behind it.
  boolean isHeld(long counter, int number) {
    if (pins.isEmpty()) return false;
    int found = 0;
    for (Pin pin : pins.descendingSet()) {
      if (pin.counter < counter) return false;
      if (++found > number) return true;
    }
    return false;
  }

  /// How many pins are held.
  public int count() {
    return pins.size();
  }
}
