package stoa.timers;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.DurableTimer;
import stoa.NotShareable;
import stoa.Ref;
import stoa.Schedule;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.front.types.Keys;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;
import stoa.spi.TimerObjects;

/// A timer. Immutable.
///
/// @param id its place in the order of scheduling
/// @param dueMicros when it fires next
/// @param high the first half of the id of the object's stream
/// @param low the other half
/// @param generation the generation of the object that it calls, 0 for any
/// @param callee what it calls; timers of one method share it
/// @param key the object's key, encoded
/// @param name null for none, empty for the end of the object or key itself
/// @param arguments the encoded arguments
/// @param repeat null for a timer that fires once
/// @param record null before it has fired
@SuppressWarnings("ArrayRecordComponent") // compared by no code
record TimerEntry(
    long id,
    long dueMicros,
    long high,
    long low,
    long generation,
    Callee callee,
    byte[] key,
    @Nullable String name,
    byte[] arguments,
    @Nullable Repeat repeat,
    @Nullable Past record) {
  /*
   * Stored, in the order of the fields: id, due, generation as numbers; type, face and method; key,
   * name, arguments; then 0 for one firing, or the time between two in microseconds, the name of
   * the policy, and its limit; then 0, or 1, fired, failures and the last failure.
   */
  private static final byte[] NO_ARGUMENTS = {0};

  /// A method of a type.
  record Callee(String type, String face, String method) {}

  /// When a timer fires again.
  record Repeat(long everyMicros, Schedule.Missed missed, int missedMax) {}

  /// The past of a timer.
  record Past(long fired, long failures, @Nullable String lastFailure) {
    static final Past NONE = new Past(0, 0, null);
  }

  /// Orders timers by their time, and those of one time by their scheduling.
  static int byDue(TimerEntry a, TimerEntry b) {
    int due = Long.compare(a.dueMicros, b.dueMicros);
    return due != 0 ? due : Long.compare(a.id, b.id);
  }

  /// Orders timers by their objects; of one object those with names first, by name, then the others
  /// by their scheduling.
  static int byTarget(TimerEntry a, TimerEntry b) {
    int target = Long.compare(a.high, b.high);
    if (target == 0) target = Long.compare(a.low, b.low);
    if (target != 0) return target;
    if (a.name == null || b.name == null) {
      return a.name != null ? -1 : b.name != null ? 1 : Long.compare(a.id, b.id);
    }
    return a.name.compareTo(b.name);
  }

  /// Returns an entry that compares as the first one of an object, or as that of a name.
  static TimerEntry probe(long high, long low, String name) {
    return new TimerEntry(
        0, 0, high, low, 0, new Callee("", "", ""), NO_ARGUMENTS, name, NO_ARGUMENTS, null, null);
  }

  /// Returns an entry that compares as the one of a number at its time.
  static TimerEntry probe(long id, long dueMicros) {
    return new TimerEntry(
        id, dueMicros, 0, 0, 0, new Callee("", "", ""), NO_ARGUMENTS, "", NO_ARGUMENTS, null, null);
  }

  /// Returns the end of an object or a key.
  static TimerEntry end(
      long id, long dueMicros, UUID target, long generation, Callee callee, byte[] key) {
    return new TimerEntry(
        id,
        dueMicros,
        target.getMostSignificantBits(),
        target.getLeastSignificantBits(),
        generation,
        callee,
        key,
        "",
        NO_ARGUMENTS,
        null,
        null);
  }

  /// Returns the entry as an end whose time has come.
  TimerObjects.Ending ending() {
    return new TimerObjects.Ending(id, dueMicros, callee.type, key, generation);
  }

  boolean isOf(long highOf, long lowOf) {
    return high == highOf && low == lowOf;
  }

  TimerEntry due(long micros) {
    return new TimerEntry(
        id, micros, high, low, generation, callee, key, name, arguments, repeat, record);
  }

  TimerEntry with(Past past) {
    return new TimerEntry(
        id, dueMicros, high, low, generation, callee, key, name, arguments, repeat, past);
  }

  Past past() {
    return record == null ? Past.NONE : record;
  }

  /// Returns the timer as programs see it.
  DurableTimer shown(ClassLoader keys) {
    return new DurableTimer(
        TimerObjects.id((int) (high >>> 56), id),
        new Ref<>(callee.type, name(keys)),
        name == null || name.isEmpty() ? null : name,
        callee.method,
        Instant.EPOCH.plus(dueMicros, ChronoUnit.MICROS),
        repeat == null ? null : Duration.of(repeat.everyMicros, ChronoUnit.MICROS),
        repeat == null ? null : repeat.missed,
        past().fired,
        past().failures,
        past().lastFailure);
  }

  /// Returns the object's key; as text when its class is missing here, so that a program without
  /// the classes of others sees their timers.
  private Object name(ClassLoader keys) {
    try {
      return Keys.decode(key, keys);
    } catch (NotShareable | Corrupt unreadable) {
      return Keys.text(key);
    }
  }

  static byte[] shared(byte[] arguments) {
    return arguments.length == 1 && arguments[0] == 0 ? NO_ARGUMENTS : arguments;
  }

  void store(StateOutput out) {
    out.number(id);
    out.number(dueMicros);
    out.number(generation);
    out.value(callee.type);
    out.value(callee.face);
    out.value(callee.method);
    out.value(key);
    out.value(name);
    out.value(arguments.length == 1 ? null : arguments);
    out.number(repeat == null ? 0 : repeat.everyMicros);
    if (repeat != null) {
      out.value(repeat.missed.name());
      out.number(repeat.missedMax);
    }
    out.number(record == null ? 0 : 1);
    if (record != null) {
      out.number(record.fired);
      out.number(record.failures);
      out.value(record.lastFailure);
    }
  }

  static TimerEntry restored(StateInput in, Callees callees) {
    long id = in.number();
    long due = in.number();
    long generation = in.number();
    Callee callee = callees.of(text(in), text(in), text(in));
    byte[] key = bytes(in);
    var name = (String) in.value();
    var arguments = (byte[]) in.value();
    long every = in.number();
    Repeat repeat =
        every == 0 ? null : new Repeat(every, Schedule.Missed.valueOf(text(in)), (int) in.number());
    Past past = in.number() == 0 ? null : new Past(in.number(), in.number(), (String) in.value());
    StreamId stream = new Key(callee.type, key, callee.type).stream();
    return new TimerEntry(
        id,
        due,
        stream.high(),
        stream.low(),
        generation,
        callee,
        key,
        name,
        arguments == null ? NO_ARGUMENTS : arguments,
        repeat,
        past);
  }

  private static String text(StateInput in) {
    return (String) java.util.Objects.requireNonNull(in.value());
  }

  private static byte[] bytes(StateInput in) {
    return (byte[]) java.util.Objects.requireNonNull(in.value());
  }

  /// Returns one instance for equal callees.
  interface Callees {
    Callee of(String type, String face, String method);
  }
}
