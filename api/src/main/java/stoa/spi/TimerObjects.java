package stoa.spi;

import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.Timer;

/// The objects that keep the timers of a store, in [#PARTS] parts. Each part has one object that
/// keeps its timers, and one that fires them. Both are in the group of the objects that their
/// timers call.
public interface TimerObjects {
  /// The number of parts: those that are spread over groups.
  int PARTS = 256;

  /// Opens shared objects, as [Stoa#get] and [stoa.Call#get] do.
  interface Opening {
    /// See [Stoa#get].
    <T> T get(Class<T> type, Object key, @Nullable Object... args);
  }

  /// Returns the part of an object.
  ///
  /// @param stream the id of its stream, whose first byte is the part
  static int part(UUID stream) {
    return (int) (stream.getMostSignificantBits() >>> 56);
  }

  /// Schedules a call.
  void schedule(Opening objects, TimerCall call);

  /// Cancels a timer; returns whether there was one.
  ///
  /// @param target the id of the object's stream
  boolean cancel(Opening objects, UUID target, String name);

  /// Returns the timers of an object.
  List<Timer> of(Opening objects, UUID target, ClassLoader keys);

  /// Returns the timers that are due first.
  List<Timer> next(Stoa stoa, int max, ClassLoader keys);

  /// Returns timers that failed and are over.
  List<Timer> failed(Stoa stoa, ClassLoader keys);

  /// Returns the stored name of the type of the objects that keep timers, each of them [Timed].
  String type();

  /// Returns when the first timer of a part is due, in microseconds since 1970; `Long.MAX_VALUE`
  /// when there is none.
  long dueMicros(Stoa stoa, int part);

  /// Fires timers of a part that are due, a bounded number.
  void fire(Stoa stoa, int part);
}
