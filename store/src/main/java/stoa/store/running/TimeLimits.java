package stoa.store.running;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.DeadlineExceeded;
import stoa.base.Key;
import stoa.store.threads.Threads;

/// How long calls may take: the limit of the store, and those of single requests. Counts in ticks.
/// Thread-safe.
public final class TimeLimits {
  private static final int LONG_TICKS = 1;

  private final Runners runners;
  private final Duration callTimeMax;
  private final int ticksMax;

  /// The requests with a time limit of their own.
  private final Set<Request> limited = ConcurrentHashMap.newKeySet();

  public TimeLimits(Runners runners, Duration callTimeMax) {
    this.runners = runners;
    this.callTimeMax = callTimeMax;
    ticksMax = (int) Math.max(1, callTimeMax.toMillis() / Threads.TICK_MILLIS);
  }

  /// The time now, in ticks.
  public int now() {
    return runners.now();
  }

  // ---- the limit of the store

  /// How long a handler may run.
  public Duration callTimeMax() {
    return callTimeMax;
  }

  /// How long a handler may run, in microseconds.
  public long callMicrosMax() {
    return TimeUnit.MICROSECONDS.convert(callTimeMax);
  }

  /// How long a handler may run, in ticks.
  int ticksMax() {
    return ticksMax;
  }

  /// Whether a run lasted so long that another, on a busier machine or under a lower limit, might
  /// be taken back.
  boolean lastedLong(Execution execution) {
    return runners.lasted(execution) > Math.min(LONG_TICKS, ticksMax / 4);
  }

  // ---- limits of single requests

  /// Limits the time that a request may take, from when it was asked.
  public void limit(Request request, Duration timeMax) {
    if (timeMax.compareTo(callTimeMax) < 0) begin(request, timeMax);
  }

  /// Limits the time that a deletion may take, unless that is more than the store's limit. Its
  /// caller is let go when the time is over and the deletion is logged: the store does not take it
  /// back, and executes it.
  public void limit(DeleteRequest deletion, Duration timeMax) {
    if (timeMax.compareTo(callTimeMax) <= 0) begin(deletion, timeMax);
  }

  private void begin(Request request, Duration timeMax) {
    request.ticksMax = ticks(timeMax);
    if (!timeMax.isPositive()) request.since -= 1 + request.ticksMax; // it is over already
    begun(request);
  }

  /// A request with a time limit begins.
  public void begun(Request request) {
    limited.add(request);
  }

  /// A request with a time limit is settled.
  void settled(Request request) {
    limited.remove(request);
  }

  /// Visits the requests with a time limit whose time is over.
  void visitLate(Consumer<Request> visitor) {
    int now = runners.now();
    for (Request request : limited) {
      if (request.isLate(now)) visitor.accept(request);
    }
  }

  /// Why a request is refused before it is logged; null when its time is not over.
  public @Nullable RuntimeException late(Request request) {
    if (!request.isLate(runners.now())) return null;
    return new DeadlineExceeded(
        "the time of a call on "
            + request.resident.key
            + ", "
            + millis(request)
            + " ms, was over before it was logged; nothing was written");
  }

  /// The time limit of a request, in milliseconds.
  static long millis(Request request) {
    return (long) request.ticksMax * Threads.TICK_MILLIS;
  }

  // ---- readers

  /// The refusal of a reader whose time is over before the state is loaded that it asks for.
  static DeadlineExceeded lateReading(Key key) {
    return new DeadlineExceeded(
        "the state of " + key + " could not be made within the time of the call that asks for it");
  }

  /// Refuses a reader whose time is over.
  ///
  /// @param end the tick at which it is; 0 for none
  public void checkTime(Key key, int end) {
    if (end != 0 && end - runners.now() <= 0) throw lateReading(key);
  }

  /// The tick at which a time is over; 0 for none.
  ///
  /// @param ticks how many it has; 0 when it has no limit
  public int end(int ticks) {
    if (ticks == 0) return 0;
    int end = runners.now() + ticks;
    return end == 0 ? 1 : end;
  }

  /// How many ticks are left until a tick, at least one; 0 when that is 0, for no limit.
  public int left(int end) {
    return end == 0 ? 0 : Math.max(1, end - runners.now());
  }

  /// How many ticks a time is that a question may take; 0 when the store's own limit holds.
  public int ownTicks(Duration timeMax) {
    return timeMax.compareTo(callTimeMax) >= 0 ? 0 : ticks(timeMax);
  }

  /// How many ticks a time is, at least one.
  static int ticks(Duration timeMax) {
    long tick = Threads.TICK_MILLIS;
    return (int)
        Math.min(Integer.MAX_VALUE / 2, Math.max(1, (timeMax.toMillis() + tick - 1) / tick));
  }
}
