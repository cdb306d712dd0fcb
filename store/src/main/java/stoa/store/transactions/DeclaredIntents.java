package stoa.store.transactions;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.store.batches.Intake;
import stoa.store.leading.Intents;
import stoa.store.running.StoreTransaction;
import stoa.store.running.TimeLimits;
import stoa.store.threads.Threads;

/// Declares the intents of transactions that have been aborted. The next attempt of a transaction
/// runs under its intent. Thread-safe.
public final class DeclaredIntents {
  // How a thread waits for an intent to stand: at first eagerly, then at intervals.
  private static final int SPINS = 128;
  private static final long PAUSE_NANOS = 1_000_000;
  private static final int PAUSES_COUNTED = 64;

  private final Intake intake;
  private final TimeLimits limits;
  private final Threads threads;

  public DeclaredIntents(Intake intake, TimeLimits limits, Threads threads) {
    this.intake = intake;
    this.limits = limits;
    this.threads = threads;
  }

  /// Declares the intent of a transaction that has been aborted, with the keys that it has used,
  /// and ends the one under which it ran. The calls that the new one holds back wait for half the
  /// time limit of a call, at most.
  ///
  /// @param micros how long it may stand; 0 only ends the one under which it ran
  /// @param settled called as by [Intents#declare]
  /// @return null when it cannot stand
  public Intents.@Nullable Intent declare(
      StoreTransaction aborted, long micros, long waitMicros, Runnable settled) {
    Intents.Intent before = aborted.intent();
    Set<StreamId> callers = before == null ? Set.of() : before.callers();
    if (before != null) intake.end(before);
    if (micros <= 0) return null;
    long bounded = Math.min(micros, limits.callMicrosMax() / 2);
    return intake.intents().declare(aborted.used(), callers, bounded, waitMicros, settled);
  }

  /// Declares an intent like [#declare], and waits until it stands.
  ///
  /// @return null when it does not stand
  public Intents.@Nullable Intent declareAndWait(
      StoreTransaction aborted, long micros, long waitMicros) {
    Intents.Intent intent = declare(aborted, micros, waitMicros, () -> {});
    if (intent == null) return null;
    for (int spin = 0; intent.isWaiting(); spin++) {
      if (spin < SPINS) threads.pause(spin);
      else threads.pause(PAUSE_NANOS);
      if (spin % PAUSES_COUNTED == 0) intake.tick(); // also when the store is closed
    }
    return awaitBefore(intent);
  }

  /// Waits until nothing is under way that began before an intent stood and may change its keys.
  ///
  /// @return null when it does not stand
  public Intents.@Nullable Intent awaitBefore(Intents.Intent intent) {
    if (!intent.isStanding()) return null;
    intake.awaitBefore(intent);
    return intent;
  }

  /// Returns the intent of a number; null when it is over, or another leader has had it.
  public Intents.@Nullable Intent find(long id) {
    return id == 0 ? null : intake.intents().find(id);
  }
}
