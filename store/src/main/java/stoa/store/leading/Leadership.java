package stoa.store.leading;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.store.threads.Threads;

/// The right to lead batches: one thread at a time has it. Thread-safe.
public final class Leadership {
  /*
   * Invariants:
   * (1) One thread leads, or one holder holds all up; others do not begin.
   * (2) A leader that steps aside keeps its batch: a holder may hold all up meanwhile, and nobody else leads.
   */
  private static final int PAUSES_COUNTED = 1_024;

  /// How long to wait for a batch in progress; the batch itself may be waiting for other groups.
  private static final long BATCH_MICROS_MAX = 30_000_000;

  private static final long ASIDE_MICROS = 10_000;

  private final AtomicBoolean leading = new AtomicBoolean();

  /// How many wait to hold up all batches: nobody begins another one.
  private final AtomicInteger holding = new AtomicInteger();

  /// How often somebody has ceased to lead.
  private final AtomicLong turns = new AtomicLong();

  /// Whether a batch waits for its addresses while others may hold all up.
  private volatile boolean aside;

  /// The thread that leads the batch under way: code that it runs may ask the store. Null when
  /// nobody leads.
  private volatile @Nullable Thread leader;

  private final Clock clock;
  private final Threads threads;

  public Leadership(Clock clock, Threads threads) {
    this.clock = clock;
    this.threads = threads;
  }

  /// Begins to lead, if nobody does; answers whether it did.
  public boolean tryBegin() {
    if (leading.get() || holding.get() > 0 || !leading.compareAndSet(false, true)) return false;
    if (aside) {
      leading.set(false);
      return false;
    }
    leader = Thread.currentThread();
    return true;
  }

  /// Ceases to lead.
  public void end() {
    leader = null;
    turns.incrementAndGet();
    leading.set(false);
  }

  /// Whether somebody leads, or holds all up.
  public boolean isTaken() {
    return leading.get();
  }

  /// Waits until the batch under way is over, unless the current thread leads it; answers whether
  /// it waited.
  ///
  /// @throws Unavailable when that takes too long
  public boolean awaitBatch() {
    if (!leading.get() || Thread.currentThread().equals(leader)) return false;
    long turn = turns.get();
    long end = 0;
    for (int spin = 0; leading.get() && turns.get() == turn; spin++) {
      threads.pause(spin);
      if (spin % PAUSES_COUNTED != 0) continue;
      long now = clock.nowMicros();
      if (end == 0) end = now + BATCH_MICROS_MAX;
      else if (now > end) throw tooLong();
    }
    return true;
  }

  /// Waits for the batch under way, and has nobody begin one until [#letGo].
  ///
  /// @throws Unavailable when that takes too long
  public void hold() {
    holding.incrementAndGet();
    long end = clock.nowMicros() + BATCH_MICROS_MAX;
    for (int spin = 0; !leading.compareAndSet(false, true); spin++) {
      threads.pause(spin);
      if (spin % PAUSES_COUNTED == 0 && clock.nowMicros() > end) {
        holding.decrementAndGet();
        throw tooLong();
      }
    }
  }

  /// Ends what [#hold] began.
  public void letGo() {
    turns.incrementAndGet();
    leading.set(false);
    holding.decrementAndGet();
  }

  /// Lets others hold all up for a little while, and leads on.
  public void stepAside() {
    Thread self = leader;
    aside = true;
    leader = null;
    turns.incrementAndGet();
    leading.set(false);
    long end = clock.nowMicros() + ASIDE_MICROS;
    do {
      threads.pause();
    } while (clock.nowMicros() < end || !leading.compareAndSet(false, true));
    aside = false;
    leader = self;
  }

  private static Unavailable tooLong() {
    return new Unavailable("a batch of the log is under way for too long");
  }
}
