package stoa.store.calls;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.base.CallId;
import stoa.base.Existence;

/// The terms of a call: its expectation of its key, its expected duration, its time limit, and the
/// client that makes it.
///
/// A call begins with [#expecting] and adds the terms that it needs.
///
/// @param existence the call's expectation of its key
/// @param pace how long the call is expected to run
/// @param timeMax how long the call may take from now on, its waiting and its run together, in
///   units of [Threads#TICK_MILLIS]; the store's own limit applies when that is less. When the time
///   is over, the call fails with [stoa.DeadlineExceeded]; the store logs nothing, or takes back
///   the logged call
/// @param id logged with the call, see [Store#earlier]; null for none
/// @param asksAlone whether the store gives up a question when its handler asks other keys, which
///   may be in a later state than the key itself: then [Request#isMoved()] holds, and
///   [Store#beginQuestion(Request)] asks it again
/// @param arrived the stream address of the first entry about the call in the log of an earlier
///   process, if the call waited there for a condition; [#NEW] when there is none. Calls that wait
///   again come in the order of these addresses, in front of new ones
public record Terms(
    Existence existence,
    Pace pace,
    Duration timeMax,
    @Nullable CallId id,
    boolean asksAlone,
    long arrived) {
  /// The place of a call of which no earlier process had an entry.
  public static final long NEW = Long.MAX_VALUE;

  /// The time limit of a call that has none of its own.
  public static final Duration UNLIMITED = Duration.ofSeconds(Long.MAX_VALUE);

  /// Returns the terms of a call that may run for as long as the store lets any call run.
  public static Terms expecting(Existence existence) {
    return new Terms(existence, Pace.LONG, UNLIMITED, null, false, NEW);
  }

  /// Returns these terms with a pace.
  public Terms at(Pace known) {
    return known == pace ? this : new Terms(existence, known, timeMax, id, asksAlone, arrived);
  }

  /// Returns these terms with a time limit.
  public Terms within(Duration limit) {
    return new Terms(existence, pace, limit, id, asksAlone, arrived);
  }

  /// Returns these terms with the id of a client's call; null for none.
  public Terms of(@Nullable CallId client) {
    return new Terms(existence, pace, timeMax, client, asksAlone, arrived);
  }

  /// Returns these terms for a call that waited at an earlier process.
  ///
  /// @param address that of its first entry
  public Terms since(long address) {
    return new Terms(existence, pace, timeMax, id, asksAlone, address);
  }

  /// Returns these terms for a question that asks its key alone.
  public Terms alone() {
    return new Terms(existence, pace, timeMax, id, true, arrived);
  }
}
