package stoa.spi;

/// A shared object that the engine calls when a time has come: the keeper of timers.
public interface Timed {
  /// Returns that time, in microseconds since 1970; `Long.MAX_VALUE` for none. The engine asks
  /// after each change, on the thread that has made it.
  long dueMicros();

  /// Returns how many timers it has.
  long count();
}
