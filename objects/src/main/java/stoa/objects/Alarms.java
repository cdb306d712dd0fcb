package stoa.objects;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Clock;
import stoa.base.Key;
import stoa.base.Measures;
import stoa.front.ClassNames;
import stoa.front.SharedStoa;
import stoa.spi.Collections;
import stoa.spi.Timed;
import stoa.spi.TimerObjects;
import stoa.store.threads.Threads;

/// Fires the timers of a store whose calls this process takes, when they are due by its clock.
/// Thread-safe.
final class Alarms {
  /*
   * The alarm of a part is a lower bound of the time at which its first timer is due. A change of
   * the part lowers it, on the thread that executes the change. When the bound has come, a thread
   * asks the part: it raises the bound to the answer, unless there was another change meanwhile, or
   * logs a firing. So a bound may be too early, which costs a question, and is never too late; and
   * nothing is logged while no timer is due.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Alarms.class);

  // How many parts fire at the same time: each holds a worker while it waits for its calls.
  private static final int RINGING_MAX = 16;

  // How often one turn asks, so that no part keeps others waiting.
  private static final int ROUNDS_MAX = 8;

  // For how many ticks a part rests that could not be asked.
  private static final int PAUSE_TICKS = 1_000 / Threads.TICK_MILLIS;

  /// The alarm of a part. Guarded by itself.
  private static final class Alarm {
    private long due = Long.MAX_VALUE;
    private long changes;
    private long count;
    private boolean ringing;
    private int pause;
  }

  private final SharedStoa stoa;
  private final Dictionary dictionary;
  private final Part own;
  private final Clock clock;
  private final Threads threads;
  private final Endings endings;
  private final Alarm[] alarms = new Alarm[TimerObjects.PARTS];
  private final AtomicLong earliest = new AtomicLong(Long.MAX_VALUE);
  private final AtomicInteger ringing = new AtomicInteger();
  private final LongAdder fired = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder ended = new LongAdder();
  private volatile boolean begun;

  // Behind the part that began to ring last, so that all have their turn. Of the ticking thread.
  private int next;

  /// @param own the group's part of the store
  Alarms(
      SharedStoa stoa,
      Dictionary dictionary,
      Part own,
      Endings endings,
      Clock clock,
      Threads threads) {
    this.stoa = stoa;
    this.dictionary = dictionary;
    this.own = own;
    this.clock = clock;
    this.threads = threads;
    this.endings = endings;
    for (int part = 0; part < alarms.length; part++) alarms[part] = new Alarm();
  }

  /// Begins to fire timers, those of earlier processes too. Call it once, when the store takes
  /// calls.
  void begin() {
    begun = true;
    if (!dictionary.after(ClassNames.CLASS + TYPE + " ").isEmpty()) {
      for (int part = 0; part < alarms.length; part++) {
        if (own.isPartHere(part)) lower(part, Long.MIN_VALUE, 0);
      }
    }
    threads.every(this::tick);
  }

  private static final String TYPE = "stoa.Timers";

  /// Notes when the first timer of a keeper of timers is due, after a change.
  void changed(Key key, Timed keeper) {
    if (begun) lower((int) (key.stream().high() >>> 56), keeper.dueMicros(), keeper.count());
  }

  private void lower(int part, long due, long count) {
    Alarm alarm = alarms[part];
    synchronized (alarm) {
      alarm.changes++;
      alarm.count = count;
      alarm.due = Math.min(alarm.due, due);
    }
    earliest.accumulateAndGet(due, Math::min);
  }

  private void tick() {
    long now = clock.nowMicros();
    if (earliest.get() > now) return;
    earliest.set(Long.MAX_VALUE); // what is lowered from now on lowers it again
    int from = next;
    for (int i = 0; i < alarms.length; i++) {
      int part = (from + i) % alarms.length;
      Alarm alarm = alarms[part];
      boolean rings = false;
      synchronized (alarm) {
        if (alarm.due <= now && !alarm.ringing && --alarm.pause < 0) {
          rings = ringing.incrementAndGet() <= RINGING_MAX;
          if (rings) alarm.ringing = true;
          else ringing.decrementAndGet();
        }
        earliest.accumulateAndGet(alarm.due, Math::min);
      }
      if (!rings) continue;
      next = (part + 1) % alarms.length;
      start(part);
    }
  }

  private void start(int part) {
    try {
      threads.answer(() -> ring(part));
    } catch (RejectedExecutionException closed) {
      rung(part, 0); // the store fires no more timers
    }
  }

  private void ring(int part) {
    int pause = 0;
    try {
      TimerObjects timers = Collections.installed().timers();
      for (int round = 0; round < ROUNDS_MAX && !isSettled(part, timers); round++) {
        TimerObjects.Fired done = timers.fire(stoa, part, clock.nowMicros(), endings);
        fired.add(done.calls());
        failed.add(done.failures());
        ended.add(done.ended());
      }
    } catch (RuntimeException failed) {
      LOG.debug("the timers of part {} wait for their store", part, failed);
      pause = PAUSE_TICKS;
    } finally {
      rung(part, pause);
    }
  }

  /// Asks a part; returns whether none of its timers is due.
  private boolean isSettled(int part, TimerObjects timers) {
    Alarm alarm = alarms[part];
    while (true) {
      long seen;
      synchronized (alarm) {
        seen = alarm.changes;
      }
      TimerObjects.Part known = timers.part(stoa, part);
      if (known.dueMicros() <= clock.nowMicros()) return false;
      synchronized (alarm) {
        if (alarm.changes != seen) continue;
        alarm.due = known.dueMicros();
        alarm.count = known.count();
        return true;
      }
    }
  }

  // ---- measurements

  /// Returns how many timers this store has, and what they have done.
  TimerCounts status() {
    long now = clock.nowMicros();
    long count = 0;
    long overdue = 0;
    long lag = 0;
    for (int part = 0; part < alarms.length; part++) {
      long due;
      Alarm alarm = alarms[part];
      synchronized (alarm) {
        count += alarm.count;
        due = alarm.due;
      }
      if (due > now || !begun) continue;
      try {
        TimerObjects timers = Collections.installed().timers();
        TimerObjects.Part known = timers.part(stoa, part);
        if (known.dueMicros() > now) continue; // the alarm was too early
        lag = Math.max(lag, now - known.dueMicros());
        overdue += timers.overdue(stoa, part, now);
      } catch (RuntimeException failing) {
        LOG.debug("the timers of part {} cannot be counted", part, failing);
      }
    }
    return new TimerCounts(count, overdue, lag, fired.sum(), failed.sum(), ended.sum());
  }

  /// Reports the measurements.
  void measure(Measures out) {
    TimerCounts now = status();
    out.gauge(
        "stoa.timers", Measures.NO_UNIT, "Timers, with the ends of objects.", (double) now.count());
    out.gauge(
        "stoa.timers.overdue",
        Measures.NO_UNIT,
        "Timers whose time has come.",
        (double) now.overdue());
    out.gauge(
        "stoa.timers.lag",
        Measures.SECONDS,
        "For how long the first of these waits; 0 when there is none.",
        now.lagMicros() / 1e6);
    out.count("stoa.timers.fired", Measures.NO_UNIT, "Calls of timers.", now.fired());
    out.count(
        "stoa.timers.failed",
        Measures.NO_UNIT,
        "Calls of timers that threw, or could not be made.",
        now.failed());
    out.count(
        "stoa.timers.ended",
        Measures.NO_UNIT,
        "Objects and values of keys that have ended by themselves.",
        now.ended());
  }

  private void rung(int part, int pause) {
    Alarm alarm = alarms[part];
    synchronized (alarm) {
      alarm.ringing = false;
      alarm.pause = pause;
      earliest.accumulateAndGet(alarm.due, Math::min);
    }
    ringing.decrementAndGet();
  }
}
