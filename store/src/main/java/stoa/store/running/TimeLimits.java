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

/// The time limits of calls: the limit of the store and those of single requests, in ticks.
/// Thread-safe.
public final class TimeLimits {
  private static final int LONG_TICKS = 1;

  // The ticks of a longer time limit exceed an int.
  private static final int UNLIMITED_DAYS = 365;

  private final Runners runners;
  private final Duration callTimeMax;
  private final int ticksMax;

  // The requests with a time limit of their own.
  private final Set<Request> limited = ConcurrentHashMap.newKeySet();

  public TimeLimits(Runners runners, Duration callTimeMax) {
    this.runners = runners;
    this.callTimeMax = callTimeMax;
    ticksMax = (int) Math.max(1, callTimeMax.toMillis() / Threads.TICK_MILLIS);
  }

  /// Returns the present time in ticks.
  public int now() {
    return runners.now();
  }

  // ---- the limit of the store

  /// Returns how long a handler may run.
  public Duration callTimeMax() {
    return callTimeMax;
  }

  /// Returns how long a handler may run, in microseconds.
  public long callMicrosMax() {
    return TimeUnit.MICROSECONDS.convert(callTimeMax);
  }

  /// Returns how long a handler may run, in ticks.
  int ticksMax() {
    return ticksMax;
  }

  /// Returns whether a run lasted so long that another run of it, on a busier machine or under a
  /// lower limit, might exceed the limit.
  boolean lastedLong(Execution execution) {
    return runners.lasted(execution) > Math.min(LONG_TICKS, ticksMax / 4);
  }

  // ---- limits of single requests

  /// Limits the time of a request, counted from when its caller made it.
  public void limit(Request request, Duration timeMax) {
    if (timeMax.compareTo(callTimeMax) < 0) begin(request, timeMax);
  }

  /// Limits the time of a deletion, unless the time is more than the store's limit. When the time
  /// is over and the deletion is logged, the caller gets an error, but the store does not take the
  /// deletion back: it still executes it.
  public void limit(DeleteRequest deletion, Duration timeMax) {
    if (timeMax.compareTo(callTimeMax) <= 0) begin(deletion, timeMax);
  }

  private void begin(Request request, Duration timeMax) {
    request.ticksMax = ticks(timeMax);
    if (!timeMax.isPositive()) request.since -= 1 + request.ticksMax; // already over
    begun(request);
  }

  /// Begins to watch a request if it has a time limit of its own.
  public void begun(Request request) {
    limited.add(request);
  }

  /// Stops watching a settled request.
  void settled(Request request) {
    limited.remove(request);
  }

  /// Passes each request whose time limit is over to a visitor.
  void visitLate(Consumer<Request> visitor) {
    int now = runners.now();
    for (Request request : limited) {
      if (request.isLate(now)) visitor.accept(request);
    }
  }

  /// Returns the error for a request whose time is over before the store logs it; null when it has
  /// time left.
  public @Nullable RuntimeException late(Request request) {
    if (!request.isLate(runners.now())) return null;
    return new DeadlineExceeded(
        "the time of a call on "
            + request.resident.key
            + ", "
            + millis(request)
            + " ms, was over before it was logged; nothing was written");
  }

  /// Returns the time limit of a request, in milliseconds.
  static long millis(Request request) {
    return (long) request.ticksMax * Threads.TICK_MILLIS;
  }

  // ---- readers

  /// Returns the error for a reader whose time is over before the store has loaded the state.
  static DeadlineExceeded lateReading(Key key) {
    return new DeadlineExceeded(
        "the state of " + key + " could not be made within the time of the call that asks for it");
  }

  /// Throws when the time of a reader is over.
  ///
  /// @param end the tick at which its time is over; 0 for no limit
  public void checkTime(Key key, int end) {
    if (end != 0 && end - runners.now() <= 0) throw lateReading(key);
  }

  /// Returns the tick at which a time is over; 0 for no limit.
  ///
  /// @param ticks the length of the time; 0 for no limit
  public int end(int ticks) {
    if (ticks == 0) return 0;
    int end = runners.now() + ticks;
    return end == 0 ? 1 : end;
  }

  /// Returns how many ticks are left until a tick, at least one; 0 when the tick is 0, for no
  /// limit.
  public int left(int end) {
    return end == 0 ? 0 : Math.max(1, end - runners.now());
  }

  /// Returns the tick at which a time from now is over.
  public int endAfter(Duration timeMax) {
    return end(ticks(timeMax));
  }

  /// Converts the time limit of a question to ticks; returns 0 when the store's own limit applies.
  public int ownTicks(Duration timeMax) {
    return timeMax.compareTo(callTimeMax) >= 0 ? 0 : ticks(timeMax);
  }

  /// Returns how many ticks a call with a time limit may wait for a condition; 0 for no limit.
  public int waitTicks(Duration timeMax) {
    return timeMax.toDays() > UNLIMITED_DAYS ? 0 : ticks(timeMax);
  }

  /// Converts a time to ticks, at least one.
  static int ticks(Duration timeMax) {
    long tick = Threads.TICK_MILLIS;
    return (int)
        Math.min(Integer.MAX_VALUE / 2, Math.max(1, (timeMax.toMillis() + tick - 1) / tick));
  }
}
