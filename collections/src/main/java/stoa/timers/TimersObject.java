package stoa.timers;

import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.pcollections.HashTreePMap;
import org.pcollections.PMap;
import org.pcollections.TreePSet;
import stoa.Accessor;
import stoa.Call;
import stoa.Commutes;
import stoa.Corrupt;
import stoa.Key;
import stoa.LimitExceeded;
import stoa.Schedule;
import stoa.Shared;
import stoa.Timers;
import stoa.spi.Forkable;
import stoa.spi.OwnState;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;
import stoa.spi.Timed;
import stoa.spi.TimerCall;
import stoa.spi.TimerObjects;

/// Keeps the timers of one part of a store.
///
/// A firing takes the timers that are due out of it, and reports later which of them failed. The
/// timers in between are *in flight*. One firing object takes timers, one call after the other; so
/// timers that are in flight when one of its calls begins belong to a call that was taken back.
///
/// Objects and keys that end by themselves are kept here, too, apart from the timers that call
/// methods: the leader ends them, and no method.
///
/// ```
/// state:  format 1, next id, count, timers by their time; count, timers in flight; count, timers
///         that failed and are over, the oldest first
///         format 2, and behind these: count, ends of objects and keys by their time
/// ```
@Shared(name = "stoa.Timers")
class TimersObject implements Forkable<TimersObject>, OwnState, Timed {
  /// How many timers one firing takes at a time.
  static final int TAKEN_MAX = 64;

  private static final int TAKEN_BYTES_MAX = 256 << 10;
  private static final int FAILED_MAX = 32;

  // A repeat that is at most so late fires, even if the repeat before it was missed.
  private static final long ON_TIME_MICROS = 1_000_000;

  private static final int FORMAT = 1;
  private static final int WITH_ENDS = 2;
  private static final int ENDS_MAX = 1_000_000;
  private static final UUID NO_TARGET = new UUID(0, 0);
  private static final Schedule NO_SCHEDULE = Schedule.after(java.time.Duration.ZERO);
  private static final int CALLEES_MAX = 10_000;

  /// A call to schedule.
  ///
  /// @param delayMicros the time from now to the first firing, when `dueMicros` is negative
  /// @param everyMicros 0 for one firing
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record Wanted(
      String type,
      String face,
      byte[] key,
      long generation,
      @Nullable String name,
      String method,
      byte[] arguments,
      @Nullable Long dueMicros,
      long delayMicros,
      long everyMicros,
      Schedule.Missed missed,
      int missedMax) {}

  /// A call to make now.
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record Due(
      long id,
      String type,
      String face,
      byte[] key,
      long generation,
      String method,
      byte[] arguments) {
    TimerCall call() {
      return new TimerCall(
          NO_TARGET, type, face, key, generation, null, NO_SCHEDULE, method, arguments);
    }
  }

  /// A call that failed.
  ///
  /// @param over whether the timer ends
  record Failed(long id, String failure, boolean over) {}

  /// When to look again at an object or key that ends by itself.
  ///
  /// @param nextMicros `Long.MAX_VALUE` when it is over
  /// @param failure null when it could be looked at
  record Next(long id, long dueMicros, long nextMicros, @Nullable String failure) {
    static Next of(TimerObjects.Looked looked) {
      return new Next(looked.id(), looked.dueMicros(), looked.nextMicros(), looked.failure());
    }
  }

  private long nextId;
  // The timers that call methods.
  private TreePSet<TimerEntry> byDue;
  // The ends of objects and keys.
  private TreePSet<TimerEntry> ends;
  private TreePSet<TimerEntry> byTarget;
  private List<TimerEntry> inFlight;
  private List<TimerEntry> failed;
  // Never encoded: the callees of the timers, to have each once in memory.
  private PMap<TimerEntry.Callee, TimerEntry.Callee> callees;

  protected TimersObject() {
    this(
        1,
        TreePSet.empty(TimerEntry::byDue),
        TreePSet.empty(TimerEntry::byDue),
        TreePSet.empty(TimerEntry::byTarget),
        List.of(),
        List.of(),
        HashTreePMap.empty());
  }

  private TimersObject(
      long nextId,
      TreePSet<TimerEntry> byDue,
      TreePSet<TimerEntry> ends,
      TreePSet<TimerEntry> byTarget,
      List<TimerEntry> inFlight,
      List<TimerEntry> failed,
      PMap<TimerEntry.Callee, TimerEntry.Callee> callees) {
    this.nextId = nextId;
    this.byDue = byDue;
    this.ends = ends;
    this.byTarget = byTarget;
    this.inFlight = inFlight;
    this.failed = failed;
    this.callees = callees;
  }

  // ---- scheduling

  /// Schedules a call, or moves the timer that has its name. Tells its caller nothing, so
  /// transactions that schedule never conflict over it.
  @Commutes
  void schedule(@Key UUID target, Wanted wanted) {
    TimerEntry named =
        wanted.name() == null
            ? null
            : find(
                TimerEntry.probe(
                    target.getMostSignificantBits(),
                    target.getLeastSignificantBits(),
                    wanted.name()));
    if (named == null && byDue.size() >= Timers.OF_PART_MAX) {
      throw new LimitExceeded(
          "this part of the store has "
              + Timers.OF_PART_MAX
              + " timers, the most that it keeps; let one timer call an object that knows what to"
              + " do for many");
    }
    Long due = wanted.dueMicros();
    var entry =
        new TimerEntry(
            nextId++,
            due != null ? due : nowMicros() + wanted.delayMicros(),
            target.getMostSignificantBits(),
            target.getLeastSignificantBits(),
            wanted.generation(),
            callee(wanted.type(), wanted.face(), wanted.method()),
            wanted.key(),
            wanted.name(),
            TimerEntry.shared(wanted.arguments()),
            wanted.everyMicros() == 0
                ? null
                : new TimerEntry.Repeat(wanted.everyMicros(), wanted.missed(), wanted.missedMax()),
            null);
    if (named != null) remove(named);
    add(entry);
  }

  private static long nowMicros() {
    return ChronoUnit.MICROS.between(java.time.Instant.EPOCH, Call.now());
  }

  private TimerEntry.Callee callee(String type, String face, String method) {
    var made = new TimerEntry.Callee(type, face, method);
    TimerEntry.Callee known = callees.get(made);
    if (known != null) return known;
    if (callees.size() >= CALLEES_MAX) callees = HashTreePMap.empty();
    callees = callees.plus(made, made);
    return made;
  }

  /// Cancels the timer of a name; returns whether there was one.
  boolean cancel(@Key UUID target, String name) {
    TimerEntry found =
        find(
            TimerEntry.probe(
                target.getMostSignificantBits(), target.getLeastSignificantBits(), name));
    if (found != null) remove(found);
    return found != null;
  }

  /// Cancels the timer of a number; returns whether there was one.
  boolean cancelNumber(long id) {
    for (TimerEntry entry : byDue) {
      if (entry.id() != id) continue;
      remove(entry);
      return true;
    }
    return false;
  }

  private @Nullable TimerEntry find(TimerEntry like) {
    TimerEntry found = byTarget.ceiling(like);
    return found != null && TimerEntry.byTarget(found, like) == 0 ? found : null;
  }

  private void add(TimerEntry entry) {
    byDue = byDue.plus(entry);
    byTarget = byTarget.plus(entry);
  }

  private void remove(TimerEntry entry) {
    byDue = byDue.minus(entry);
    byTarget = byTarget.minus(entry);
  }

  // ---- ends of objects and keys

  /// Notes when an object or a key ends. Tells its caller nothing, like [#schedule].
  @Commutes
  void end(@Key UUID target, String type, byte[] key, long generation, long dueMicros) {
    TimerEntry known =
        find(
            TimerEntry.probe(
                target.getMostSignificantBits(), target.getLeastSignificantBits(), ""));
    if (known == null && ends.size() >= ENDS_MAX) {
      throw new LimitExceeded(
          "this part of the store has "
              + ENDS_MAX
              + " objects and keys that end by themselves, the most that it keeps; delete some, or"
              + " let them end sooner");
    }
    if (known != null) removeEnd(known);
    TimerEntry.Callee callee = callee(type, "", TimerObjects.END);
    addEnd(TimerEntry.end(nextId++, dueMicros, target, generation, callee, key));
  }

  private void addEnd(TimerEntry entry) {
    ends = ends.plus(entry);
    byTarget = byTarget.plus(entry);
  }

  private void removeEnd(TimerEntry entry) {
    ends = ends.minus(entry);
    byTarget = byTarget.minus(entry);
  }

  /// Returns the first objects and keys whose time has come.
  @Accessor
  List<TimerEntry> ending(long nowMicros) {
    var found = new ArrayList<TimerEntry>();
    for (TimerEntry entry : ends) {
      if (entry.dueMicros() > nowMicros || found.size() >= TAKEN_MAX) break;
      found.add(entry);
    }
    return found;
  }

  /// Records the outcome of ends that were due. An end that a newer one has replaced stays.
  void looked(List<Next> all) {
    for (Next next : all) {
      TimerEntry like = TimerEntry.probe(next.id(), next.dueMicros());
      TimerEntry found = ends.ceiling(like);
      if (found == null || TimerEntry.byDue(found, like) != 0) continue;
      removeEnd(found);
      if (next.nextMicros() == Long.MAX_VALUE) continue;
      TimerEntry moved = found.due(next.nextMicros());
      TimerEntry.Past past = found.past();
      if (next.failure() != null) {
        moved = moved.with(new TimerEntry.Past(0, past.failures() + 1, next.failure()));
      }
      addEnd(moved);
    }
  }

  // ---- firing

  /// Takes timers that are due, in the order of their times.
  ///
  /// @param isFirst whether the firing begins: what is in flight then is over
  /// @param failures those of the timers that it took before
  List<Due> take(boolean isFirst, List<Failed> failures) {
    if (isFirst && !inFlight.isEmpty()) {
      var stopped = new ArrayList<Failed>();
      for (TimerEntry entry : inFlight) {
        stopped.add(new Failed(entry.id(), "the call that fired it was taken back", false));
      }
      settle(stopped);
    } else {
      settle(failures);
    }
    long now = nowMicros();
    var due = new ArrayList<Due>();
    var taken = new ArrayList<TimerEntry>();
    int bytes = 0;
    for (int tries = 0; tries < TAKEN_MAX && bytes < TAKEN_BYTES_MAX; tries++) {
      if (byDue.isEmpty()) break;
      TimerEntry first = byDue.first();
      if (first.dueMicros() > now) break;
      remove(first);
      TimerEntry fires = fired(first, now);
      if (fires == null) continue;
      taken.add(fires);
      TimerEntry.Callee callee = fires.callee();
      due.add(
          new Due(
              fires.id(),
              callee.type(),
              callee.face(),
              fires.key(),
              fires.generation(),
              callee.method(),
              fires.arguments()));
      bytes += fires.key().length + fires.arguments().length;
    }
    inFlight = List.copyOf(taken);
    return due;
  }

  /// Returns a timer as it fires; null when its time has been missed. Schedules its next firing.
  private @Nullable TimerEntry fired(TimerEntry entry, long now) {
    TimerEntry.Repeat repeat = entry.repeat();
    var before = entry.past();
    var past = new TimerEntry.Past(before.fired() + 1, before.failures(), before.lastFailure());
    if (repeat == null) return entry.with(past);
    long every = repeat.everyMicros();
    long missed = (now - entry.dueMicros()) / every;
    long skipped =
        switch (repeat.missed()) {
          case ONCE, SKIP -> missed;
          case EACH -> Math.max(0, missed - repeat.missedMax());
        };
    long late = now - entry.dueMicros() - missed * every;
    boolean isSkipped =
        missed > 0 && repeat.missed() == Schedule.Missed.SKIP && late > ON_TIME_MICROS;
    TimerEntry fires = isSkipped ? entry : entry.with(past);
    add(fires.due(entry.dueMicros() + (skipped + 1) * every));
    return isSkipped ? null : fires;
  }

  /// Notes which of the timers in flight failed.
  void settle(List<Failed> failures) {
    for (Failed failure : failures) {
      for (TimerEntry entry : inFlight) {
        if (entry.id() != failure.id()) continue;
        fail(entry, failure);
        break; // a timer that makes up for repeats is there several times
      }
    }
    inFlight = List.of();
  }

  private void fail(TimerEntry entry, Failed failure) {
    TimerEntry next = entry.repeat() == null ? null : find(entry);
    boolean goesOn = next != null && next.id() == entry.id();
    TimerEntry latest = goesOn ? java.util.Objects.requireNonNull(next) : entry;
    TimerEntry.Past before = latest.past();
    TimerEntry noted =
        latest.with(new TimerEntry.Past(before.fired(), before.failures() + 1, failure.failure()));
    if (goesOn) {
      remove(latest);
      if (!failure.over()) add(noted);
    }
    if (goesOn && !failure.over()) return;
    if (failed.stream().anyMatch(other -> other.id() == entry.id())) return;
    var all = new ArrayList<>(failed);
    all.add(noted);
    failed = List.copyOf(all.subList(Math.max(0, all.size() - FAILED_MAX), all.size()));
  }

  // ---- questions

  @Override
  @Accessor
  public long dueMicros() {
    return Math.min(firstMicros(byDue), firstMicros(ends));
  }

  @Override
  @Accessor
  public long count() {
    return (long) byDue.size() + ends.size();
  }

  private static long firstMicros(TreePSet<TimerEntry> all) {
    return all.isEmpty() ? Long.MAX_VALUE : all.first().dueMicros();
  }

  /// Returns when the first timer is due that calls a method; `Long.MAX_VALUE` when there is none.
  @Accessor
  long callMicros() {
    return firstMicros(byDue);
  }

  /// Returns how many timers are due, up to a number.
  @Accessor
  int overdue(long nowMicros, int max) {
    int count = 0;
    for (TreePSet<TimerEntry> all : List.of(byDue, ends)) {
      for (TimerEntry entry : all) {
        if (entry.dueMicros() > nowMicros || count >= max) break;
        count++;
      }
    }
    return count;
  }

  /// Returns the timers of an object.
  @Accessor
  List<TimerEntry> of(@Key UUID target) {
    long high = target.getMostSignificantBits();
    long low = target.getLeastSignificantBits();
    var found = new ArrayList<TimerEntry>();
    for (TimerEntry entry : byTarget.tailSet(TimerEntry.probe(high, low, ""))) {
      if (!entry.isOf(high, low) || found.size() >= Timers.LISTED_MAX) break;
      found.add(entry);
    }
    return found;
  }

  /// Returns the timers that are due first.
  @Accessor
  List<TimerEntry> next(int max) {
    var found = new ArrayList<TimerEntry>();
    for (TreePSet<TimerEntry> all : List.of(byDue, ends)) {
      int left = max;
      for (TimerEntry entry : all) {
        if (left-- == 0) break;
        found.add(entry);
      }
    }
    found.sort(TimerEntry::byDue);
    return found.size() <= max ? found : new ArrayList<>(found.subList(0, max));
  }

  /// Returns the timers that failed and are over.
  @Accessor
  List<TimerEntry> failed() {
    return failed;
  }

  // ---- for the engine

  @Override
  public TimersObject fork() {
    return new TimersObject(nextId, byDue, ends, byTarget, inFlight, failed, callees);
  }

  @Override
  public void store(StateOutput out) {
    out.number(ends.isEmpty() ? FORMAT : WITH_ENDS);
    out.number(nextId);
    out.number(byDue.size());
    for (TimerEntry entry : byDue) entry.store(out);
    out.number(inFlight.size());
    for (TimerEntry entry : inFlight) entry.store(out);
    out.number(failed.size());
    for (TimerEntry entry : failed) entry.store(out);
    if (ends.isEmpty()) return;
    out.number(ends.size());
    for (TimerEntry entry : ends) entry.store(out);
  }

  @Override
  public void restore(StateInput in) {
    long format = in.number();
    if (format < FORMAT || format > WITH_ENDS) {
      throw new Corrupt(
          "timers are stored in format %d, not up to %d".formatted(format, WITH_ENDS));
    }
    nextId = in.number();
    Map<TimerEntry.Callee, TimerEntry.Callee> known = new HashMap<>();
    TimerEntry.Callees once =
        (type, face, method) -> {
          var made = new TimerEntry.Callee(type, face, method);
          TimerEntry.Callee found = known.putIfAbsent(made, made);
          return found == null ? made : found;
        };
    List<TimerEntry> all = entries(in, once);
    byDue = TreePSet.from(TimerEntry::byDue, all);
    byTarget = TreePSet.from(TimerEntry::byTarget, all);
    inFlight = List.copyOf(entries(in, once));
    failed = List.copyOf(entries(in, once));
    List<TimerEntry> ending = format == FORMAT ? List.of() : entries(in, once);
    ends = TreePSet.from(TimerEntry::byDue, ending);
    byTarget = byTarget.plusAll(ending);
    callees = HashTreePMap.from(known);
  }

  private static List<TimerEntry> entries(StateInput in, TimerEntry.Callees callees) {
    int count = in.count();
    var entries = new ArrayList<TimerEntry>(count);
    for (int i = 0; i < count; i++) entries.add(TimerEntry.restored(in, callees));
    return entries;
  }
}
