package stoa.store.leading;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.store.threads.Threads;

/// The turn to write a batch: one thread at a time has it. Thread-safe.
public final class BatchTurn {
  /*
   * Invariants:
   * (1) Either one thread writes a batch, or one holder has a hold; no other thread begins.
   * (2) A thread that steps aside keeps its batch. A holder may take a hold meanwhile, and no other
   *     thread begins a batch.
   */
  private static final int PAUSES_COUNTED = 1_024;

  // How long to wait for a batch in progress; the batch itself may be waiting for other groups.
  private static final long BATCH_MICROS_MAX = 30_000_000;

  private static final long ASIDE_MICROS = 10_000;

  private final AtomicBoolean taken = new AtomicBoolean();

  // How many threads want a hold: no thread begins another batch.
  private final AtomicInteger holding = new AtomicInteger();

  // How often a hold has ended.
  private final AtomicLong holds = new AtomicLong();

  // How often a turn or a hold has ended, and how often a thread has stepped aside.
  private final AtomicLong ended = new AtomicLong();

  // Whether a thread waits for the addresses of its batch while it lets others take a hold.
  private volatile boolean aside;

  // The thread that writes the batch in progress; code that it runs may ask the store. Null when no
  // batch is in progress.
  private volatile @Nullable Thread writer;

  private final Clock clock;
  private final Threads threads;

  public BatchTurn(Clock clock, Threads threads) {
    this.clock = clock;
    this.threads = threads;
  }

  /// Begins a batch, if none is in progress; returns whether it did.
  public boolean tryBegin() {
    if (taken.get() || holding.get() > 0 || !taken.compareAndSet(false, true)) return false;
    if (aside) {
      taken.set(false);
      return false;
    }
    writer = Thread.currentThread();
    return true;
  }

  /// Ends the turn of the current thread.
  public void end() {
    writer = null;
    ended.incrementAndGet();
    taken.set(false);
  }

  /// Returns whether a thread writes a batch or has a hold.
  public boolean isTaken() {
    return taken.get();
  }

  /// Waits until the batch in progress is over, unless the current thread writes it; returns
  /// whether it waited.
  ///
  /// @throws Unavailable when that takes too long
  public boolean awaitBatch() {
    if (!taken.get() || Thread.currentThread().equals(writer)) return false;
    long turn = ended.get();
    long end = 0;
    for (int spin = 0; taken.get() && ended.get() == turn; spin++) {
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
    for (int spin = 0; !taken.compareAndSet(false, true); spin++) {
      threads.pause(spin);
      if (spin % PAUSES_COUNTED == 0 && clock.nowMicros() > end) {
        holding.decrementAndGet();
        throw tooLong();
      }
    }
  }

  /// Ends the hold that [#hold] began.
  public void letGo() {
    ended.incrementAndGet();
    holds.incrementAndGet();
    taken.set(false);
    holding.decrementAndGet();
  }

  /// Lets other threads take a hold, and then goes on with the batch. Waits for a little while when
  /// no thread wants one.
  public void stepAside() {
    Thread self = writer;
    aside = true;
    writer = null;
    ended.incrementAndGet();
    taken.set(false);
    long before = holds.get();
    long end = clock.nowMicros() + ASIDE_MICROS;
    do {
      threads.pause();
    } while (holding.get() > 0
        || (holds.get() == before && clock.nowMicros() < end)
        || !taken.compareAndSet(false, true));
    aside = false;
    writer = self;
  }

  private static Unavailable tooLong() {
    return new Unavailable("a batch of the log is under way for too long");
  }
}
