package stoa.spi;

import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.DurableTimer;
import stoa.Stoa;

/// The objects that keep the timers of a store, in [#PARTS] parts. Each part has one object that
/// keeps its timers, and one that fires them. Both are in the group of the objects that their
/// timers call.
public interface TimerObjects {
  /// The number of parts: those that are spread over groups.
  int PARTS = 256;

  /// Returns the [identity][DurableTimer#id] of a timer.
  ///
  /// @param number its number in its part
  static String id(int part, long number) {
    return String.format(java.util.Locale.ROOT, "%02x-%d", part, number);
  }

  /// Opens shared objects, as [Stoa#get] and [stoa.Call#get] do.
  interface Opening {
    /// See [Stoa#get].
    <T> T get(Class<T> type, Object key, @Nullable Object... args);
  }

  /// The method of a [DurableTimer] that ends an object or a key.
  String END = "@Expires";

  /// An object or a key that ends by itself, whose time has come.
  ///
  /// @param id its number in its part
  /// @param dueMicros the time that has come
  /// @param type the stored name of the object's type, or the space of the key
  /// @param key the key, encoded
  /// @param generation the generation of the object that ends; 0 for a key
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record Ending(long id, long dueMicros, String type, byte[] key, long generation) {}

  /// The result of a look at an [Ending].
  ///
  /// @param nextMicros when to look again; `Long.MAX_VALUE` when it is over
  /// @param failure why it could not be looked at; null when it could
  record Looked(long id, long dueMicros, long nextMicros, @Nullable String failure) {}

  /// Ends objects and keys whose time has come.
  interface Ends {
    /// Looks at each of them, and ends those that no call has renewed.
    List<Looked> look(List<Ending> due);
  }

  /// Returns the part of an object.
  ///
  /// @param stream the id of its stream, whose first byte is the part
  static int part(UUID stream) {
    return (int) (stream.getMostSignificantBits() >>> 56);
  }

  /// Schedules a call.
  void schedule(Opening objects, TimerCall call);

  /// Notes when an object or a key ends, unless it is renewed; a later note replaces an earlier
  /// one. A running method makes this call.
  ///
  /// @param target the id of its stream
  /// @param type the stored name of the object's type, or the space of the key
  /// @param generation the generation of the object; 0 for a key
  void end(Opening objects, UUID target, String type, byte[] key, long generation, long dueMicros);

  /// Cancels a timer; returns whether there was one.
  ///
  /// @param target the id of the object's stream
  boolean cancel(Opening objects, UUID target, String name);

  /// Cancels the timer of a number; returns whether there was one.
  boolean cancel(Stoa stoa, int part, long number);

  /// Returns the timers of an object.
  List<DurableTimer> of(Opening objects, UUID target, ClassLoader keys);

  /// Returns the timers that are due first.
  List<DurableTimer> next(Stoa stoa, int max, ClassLoader keys);

  /// Returns timers that failed and are over.
  List<DurableTimer> failed(Stoa stoa, ClassLoader keys);

  /// The timers of a part, as an engine knows them.
  ///
  /// @param dueMicros when the first timer is due, in microseconds since 1970; `Long.MAX_VALUE`
  ///   when there is none
  /// @param count how many timers it has
  record Part(long dueMicros, long count) {}

  /// Returns what a part has now.
  Part part(Stoa stoa, int part);

  /// Returns how many timers of a part are due, up to [stoa.Timers#LISTED_MAX].
  int overdue(Stoa stoa, int part, long nowMicros);

  /// The work of a firing.
  ///
  /// @param calls how many calls it has made
  /// @param failures how many of them threw, or could not be made
  /// @param ended how many objects and keys have ended
  record Fired(long calls, long failures, long ended) {}

  /// Fires timers of a part that are due, a bounded number, and has objects and keys ended.
  Fired fire(Stoa stoa, int part, long nowMicros, Ends ends);
}
