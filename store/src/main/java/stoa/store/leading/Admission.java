package stoa.store.leading;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import stoa.Closed;
import stoa.LimitExceeded;

/// Limits how many requests are in progress, and lets closing wait for them. Thread-safe.
public final class Admission {
  private final Health health;
  private final int queuedCallsMax;
  private final AtomicInteger underWay = new AtomicInteger();
  private final Object idle = new Object();

  public Admission(Health health, int queuedCallsMax) {
    this.health = health;
    this.queuedCallsMax = queuedCallsMax;
  }

  /// Accepts work that calls [#settled] later; closing waits for it.
  ///
  /// @throws LimitExceeded when too many requests are in progress
  /// @throws Closed when the store is closed
  public void accept() {
    if (underWay.incrementAndGet() > queuedCallsMax) {
      settled();
      throw new LimitExceeded(
          "more than "
              + queuedCallsMax
              + " calls are under way (queuedCallsMax); wait for some, or raise the limit");
    }
    if (health.isClosed()) {
      settled();
      health.checkOpen();
    }
  }

  /// Accepts a request, and pins its key.
  public <T> T accepted(Supplier<T> pin) {
    accept();
    try {
      return pin.get();
    } catch (RuntimeException unreadable) {
      settled();
      throw unreadable;
    }
  }

  /// Accepts a request without a limit, because others wait for it.
  public void begun() {
    underWay.incrementAndGet();
  }

  /// Notes that a request, or other accepted work, is settled.
  public void settled() {
    if (underWay.decrementAndGet() == 0 && health.isClosed()) {
      synchronized (idle) {
        idle.notifyAll();
      }
    }
  }

  /// Returns how many requests are in progress.
  public int underWay() {
    return underWay.get();
  }

  /// Waits, when the store is closed, until no request is in progress, or until a time is over.
  public void awaitIdle(Duration timeMax) {
    long end = System.nanoTime() + timeMax.toNanos();
    synchronized (idle) {
      while (underWay.get() > 0) {
        long millis = (end - System.nanoTime()) / 1_000_000;
        if (millis <= 0) return;
        try {
          idle.wait(Math.min(millis, 10));
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }
}
