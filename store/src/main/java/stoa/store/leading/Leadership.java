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
   * (1) Either one thread leads, or one holder has a hold; no other thread begins to lead.
   * (2) A leader that steps aside keeps its batch. A holder may take a hold meanwhile, and no other
   *     thread leads.
   */
  private static final int PAUSES_COUNTED = 1_024;

  // How long to wait for a batch in progress; the batch itself may be waiting for other groups.
  private static final long BATCH_MICROS_MAX = 30_000_000;

  private static final long ASIDE_MICROS = 10_000;

  private final AtomicBoolean leading = new AtomicBoolean();

  // How many threads want a hold: no thread begins another batch.
  private final AtomicInteger holding = new AtomicInteger();

  // How often a hold has ended.
  private final AtomicLong holds = new AtomicLong();

  // How often a thread has ceased to lead.
  private final AtomicLong turns = new AtomicLong();

  // Whether a leader waits for the addresses of its batch while it lets others take a hold.
  private volatile boolean aside;

  // The thread that leads the batch in progress; code that it runs may ask the store. Null when no
  // thread leads.
  private volatile @Nullable Thread leader;

  private final Clock clock;
  private final Threads threads;

  public Leadership(Clock clock, Threads threads) {
    this.clock = clock;
    this.threads = threads;
  }

  /// Begins to lead, if no thread leads; returns whether it did.
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

  /// Returns whether a thread leads or has a hold.
  public boolean isTaken() {
    return leading.get();
  }

  /// Waits until the batch in progress is over, unless the current thread leads it; returns whether
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

  /// Waits for the batch in progress, and prevents another one until [#letGo].
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

  /// Ends the hold that [#hold] began.
  public void letGo() {
    turns.incrementAndGet();
    holds.incrementAndGet();
    leading.set(false);
    holding.decrementAndGet();
  }

  /// Lets other threads take a hold, and then leads again. Waits for a little while when no thread
  /// wants one.
  public void stepAside() {
    Thread self = leader;
    aside = true;
    leader = null;
    turns.incrementAndGet();
    leading.set(false);
    long before = holds.get();
    long end = clock.nowMicros() + ASIDE_MICROS;
    do {
      threads.pause();
    } while (holding.get() > 0
        || (holds.get() == before && clock.nowMicros() < end)
        || !leading.compareAndSet(false, true));
    aside = false;
    leader = self;
  }

  private static Unavailable tooLong() {
    return new Unavailable("a batch of the log is under way for too long");
  }
}
