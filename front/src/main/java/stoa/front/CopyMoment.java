package stoa.front;

import org.jspecify.annotations.Nullable;

/// One moment of the log that the copies of several objects at the caller show together. A copy
/// shows its object from the log counter of its last change up to a counter behind which the caller
/// knows of no change. Copies that have a counter in common show one moment.
///
/// The thread uses it that asks the copies.
public final class CopyMoment {
  private static final ScopedValue<CopyMoment> CURRENT = ScopedValue.newInstance();
  private static final int ATTEMPTS_MAX = 8;

  /// The copies have no moment in common yet.
  private static final class Overtaken extends Error {
    private static final long serialVersionUID = 1L;

    private Overtaken() {
      super("an object has changed meanwhile", null, false, false);
    }
  }

  /// An accessor does not run at the caller.
  private static final class Elsewhere extends Error {
    private static final long serialVersionUID = 1L;

    private Elsewhere() {
      super("an object is not at the caller", null, false, false);
    }
  }

  private final SharedStoa stoa;
  private long from;
  private long until = Long.MAX_VALUE;

  private CopyMoment(SharedStoa stoa) {
    this.stoa = stoa;
  }

  /// Returns the moment of the calls that the current thread makes; null when they need not have
  /// one.
  @SuppressWarnings("ReferenceEquality") // Justification: a store is itself
  public static @Nullable CopyMoment current(SharedStoa stoa) {
    if (!CURRENT.isBound()) return null;
    CopyMoment moment = CURRENT.get();
    return moment.stoa == stoa ? moment : null;
  }

  /// The result of calls.
  ///
  /// @param value what they returned
  record Found<R extends @Nullable Object>(R value) {}

  /// Makes calls on copies until these show one moment; returns null when they do not. Each attempt
  /// brings the copies up to what the last one has seen.
  static <R extends @Nullable Object> @Nullable Found<R> find(
      SharedStoa stoa, ScopedValue.CallableOp<R, RuntimeException> calls) {
    for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      try {
        return new Found<>(ScopedValue.where(CURRENT, new CopyMoment(stoa)).call(calls));
      } catch (Overtaken again) {
        // The next attempt reads what this one has met.
      } catch (Elsewhere never) {
        return null;
      }
    }
    return null;
  }

  /// Notes that a copy is asked.
  ///
  /// @param first the log counter of its last change
  /// @param last a counter behind which the caller knows of no change
  public void saw(long first, long last) {
    from = Math.max(from, first);
    until = Math.min(until, last);
    if (from > until) throw new Overtaken();
  }

  /// Returns the error for an accessor that cannot run at the caller.
  public Error elsewhere() {
    return new Elsewhere();
  }
}
