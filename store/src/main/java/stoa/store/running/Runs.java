package stoa.store.running;

import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.store.leading.LogClock;
import stoa.store.threads.Threads;

/// The parts that the runs of a store's handlers share: their threads, the code of their spaces,
/// their time limits, and their access to other keys and to the log. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class Runs {
  public final Runners runners;
  final SpaceRegistry spaces;
  public final TimeLimits limits;
  public final LogClock clock;
  public final WaitGraph waits;
  final Journal journal;
  final Verdicts verdicts;
  public final Bans bans;
  public final Unfinished unfinished;
  final Threads threads;
  final WaitingCalls waiting;
  private @Nullable OtherKeys others;

  /// The parts that runs share.
  ///
  /// @param runners the threads that run handlers
  /// @param spaces the code of the handlers
  /// @param limits how long runs may take
  /// @param clock the time of the log
  /// @param waits the runs that wait for requests
  /// @param journal logs the answers that runs get
  /// @param verdicts takes runs back
  /// @param bans refuses the runs that must not be repeated
  /// @param waiting keeps the puts that wait for a condition
  /// @param unfinished notes the runs that have put to other keys
  public record Parts(
      Runners runners,
      SpaceRegistry spaces,
      TimeLimits limits,
      LogClock clock,
      WaitGraph waits,
      Journal journal,
      Verdicts verdicts,
      Bans bans,
      Unfinished unfinished,
      WaitingCalls waiting,
      Threads threads) {}

  public Runs(Parts parts) {
    runners = parts.runners;
    spaces = parts.spaces;
    limits = parts.limits;
    clock = parts.clock;
    waits = parts.waits;
    journal = parts.journal;
    verdicts = parts.verdicts;
    bans = parts.bans;
    unfinished = parts.unfinished;
    threads = parts.threads;
    waiting = parts.waiting;
  }

  /// Sets the way in which handlers call other keys. Called once, before any handler runs: that way
  /// needs this object.
  public void connect(OtherKeys newOthers) {
    others = newOthers;
  }

  /// Returns whether the current thread runs a handler.
  public boolean isInHandler() {
    return runners.current() != null;
  }

  /// Returns the way in which handlers call other keys.
  public OtherKeys others() {
    return Objects.requireNonNull(others, "connected");
  }

  /// Returns the factory of a key's handler.
  public HandlerFactory factory(Key key) {
    return spaces.factory(key.space());
  }

  /// Runs a handler on the calling thread, beside the states of the store and within a time limit.
  ///
  /// @param ticks how many ticks it may take; 0 when the store's limit applies
  public <T> T here(Execution execution, int ticks, Supplier<T> handler) {
    execution.ticksMax = ticks;
    runners.enter(execution);
    try {
      T answer = handler.get();
      if (execution.finish()) {
        runners.passed(execution);
        return answer;
      }
    } catch (RuntimeException | Error thrown) {
      if (execution.finish()) {
        runners.passed(execution);
        throw thrown;
      }
    } finally {
      runners.exit(execution);
    }
    throw execution.stopReason();
  }
}
