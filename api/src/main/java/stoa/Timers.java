package stoa;

import java.util.List;

/// The timers of a store: durable entries that call a method of a shared object at a time.
///
/// A timer fires exactly once for each of its times, in the order of the log, whatever crashes
/// meanwhile; its call is an ordinary logged call of the object. Scheduling and canceling are
/// calls, too: they are durable on return, and part of a transaction when they are made in one. See
/// docs/guide/timers.md. Methods of shared objects use [Call#schedule] instead. Thread-safe.
public interface Timers {
  /// The longest name of a timer.
  int NAME_CHARS_MAX = 200;

  /// The most bytes of the arguments of a timer's call.
  int ARGUMENT_BYTES_MAX = 8 << 10;

  /// How many timers a store has in each of its 256 parts. The object determines the part.
  int OF_PART_MAX = 200_000;

  /// How many timers one question lists.
  int LISTED_MAX = 10_000;

  /// Schedules a call. Make it on the returned object: `timers.schedule(Schedule.after(hour),
  /// cart).expire()`. The arguments are null, values of the JDK, enum constants, records that could
  /// be keys, and shared objects.
  ///
  /// The call returns null, 0 or false at once. A timer calls the generation of the object to which
  /// the proxy is bound; when that is deleted, the timer ends.
  ///
  /// @param target a proxy, or a collection whose called method makes one call
  /// @return the object for the one call
  /// @throws IllegalArgumentException for the call: when the method only reads, waits, or is a
  ///   transaction, or when it is called twice
  /// @throws NotShareable for the call: when an argument is of another class
  /// @throws LimitExceeded for the call: when the arguments take more than [#ARGUMENT_BYTES_MAX],
  ///   or the part of the object has [#OF_PART_MAX] timers
  <T> T schedule(Schedule schedule, T target);

  /// Schedules a call, like [#schedule(Schedule, Object)], by a timer with a name. A timer of the
  /// object that has this name already is moved: the new time, method and arguments replace its
  /// own.
  ///
  /// @param name not empty, of at most [#NAME_CHARS_MAX] characters
  <T> T schedule(String name, Schedule schedule, T target);

  /// Cancels the timer of a name; returns whether the object had it. A firing in progress goes on.
  boolean cancel(String name, Object target);

  /// Cancels a timer by its [identity][DurableTimer#id]; returns whether it was there. The end of
  /// an object or value by itself cannot be canceled: returns false.
  ///
  /// @throws IllegalArgumentException when it is no identity of a timer
  boolean cancel(String id);

  /// Returns the timers of an object, those with names first. At most [#LISTED_MAX].
  List<DurableTimer> of(Object target);

  /// Returns the timers of all objects that are due first.
  ///
  /// @param max how many, at most [#LISTED_MAX]
  List<DurableTimer> next(int max);

  /// Returns timers that fired once, failed, and are over: of each part of the store the last 32.
  List<DurableTimer> failed();
}
