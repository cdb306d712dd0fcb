package stoa.store.running;

import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.store.leading.LogClock;
import stoa.store.threads.Threads;

/// What the runs of a store's handlers use: the threads that run them, the code of their spaces,
/// their time limits, and the ways to other keys and into the log. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class Runs {
  public final Runners runners;
  final Spaces spaces;
  public final TimeLimits limits;
  public final LogClock clock;
  public final WaitGraph waits;
  final Journal journal;
  final Verdicts verdicts;
  public final Bans bans;
  public final Unfinished unfinished;
  final Threads threads;
  private @Nullable OtherKeys others;

  /// What runs use.
  ///
  /// @param runners the threads that run handlers
  /// @param spaces the code of the handlers
  /// @param limits how long they may run
  /// @param clock the time that they are told
  /// @param waits what they wait for
  /// @param journal logs what they are told
  /// @param verdicts takes them back
  /// @param bans refuses those that must not run again
  /// @param unfinished notes those that have put to other keys
  public record Parts(
      Runners runners,
      Spaces spaces,
      TimeLimits limits,
      LogClock clock,
      WaitGraph waits,
      Journal journal,
      Verdicts verdicts,
      Bans bans,
      Unfinished unfinished,
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
  }

  /// Says how handlers call other keys. Once, before anything runs: the way there leads back here.
  public void connect(OtherKeys newOthers) {
    others = newOthers;
  }

  /// How handlers call other keys.
  public OtherKeys others() {
    return Objects.requireNonNull(others, "connected");
  }

  /// What makes the handler of a key.
  public HandlerFactory factory(Key key) {
    return spaces.factory(key.space());
  }

  /// Runs a handler for the calling thread beside the states of the store, within a time limit.
  ///
  /// @param ticks how many it may take; 0 when the store's limit holds
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
      if (execution.finish()) throw thrown;
    } finally {
      runners.exit(execution);
    }
    throw execution.stopReason();
  }
}
