package stoa.store.calls;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.base.CallId;
import stoa.base.Existence;

/// The terms on which a call is made: what it expects of its key, how long it runs, how long it may
/// take, and which client makes it.
///
/// A call begins with [#expecting] and adds what it needs.
///
/// @param existence what the call expects of its key
/// @param pace what is known of how long the call runs
/// @param timeMax how long the call may take from now on, its waiting and its run together, in
///   units of [Threads#TICK_MILLIS]; the store's own limit holds when that is less. When the time
///   is over, the call fails with [stoa.DeadlineExceeded]; the store logs nothing, or takes back
///   what it has logged
/// @param id logged with the call, see [Store#earlier]; null for none
/// @param asksAlone whether the store gives up a question when its handler asks other keys, which
///   need not be as the key itself is seen: then [Request#isMoved()] holds, and
///   [Store#beginQuestion(Request)] asks it again
public record Terms(
    Existence existence, Pace pace, Duration timeMax, @Nullable CallId id, boolean asksAlone) {
  private static final Duration UNLIMITED = Duration.ofSeconds(Long.MAX_VALUE);

  /// The terms of a call that may run for as long as the store lets any call run.
  public static Terms expecting(Existence existence) {
    return new Terms(existence, Pace.LONG, UNLIMITED, null, false);
  }

  /// The same for a call of a known pace.
  public Terms at(Pace known) {
    return known == pace ? this : new Terms(existence, known, timeMax, id, asksAlone);
  }

  /// The same for a call with a time limit of its own.
  public Terms within(Duration limit) {
    return new Terms(existence, pace, limit, id, asksAlone);
  }

  /// The same for a call of a client; null for none.
  public Terms of(@Nullable CallId client) {
    return new Terms(existence, pace, timeMax, client, asksAlone);
  }

  /// The same for a question that asks its key alone.
  public Terms alone() {
    return new Terms(existence, pace, timeMax, id, true);
  }
}
