package stoa.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import stoa.Stoa;

class CoordinationTest {
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final int CALLERS = 8;
  private static final int TURNS = 20;

  @Test
  void holdersOfALockNeverOverlapAndTheirTokensRise() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      var inside = new AtomicInteger();
      Set<Long> tokens = new ConcurrentSkipListSet<>();
      var done = new ArrayList<Future<?>>();
      for (int i = 0; i < CALLERS; i++) {
        done.add(
            callers.submit(() -> {
              SharedLock lock = stoa.get(SharedLock.class, "a");
              long last = 0;
              for (int turn = 0; turn < TURNS; turn++) {
                long token = lock.lock(LONG);
                assertEquals(1, inside.incrementAndGet());
                assertTrue(token > last, "tokens rise");
                last = token;
                tokens.add(token);
                inside.decrementAndGet();
                assertTrue(lock.unlock(token));
              }
              return null;
            }));
      }
      for (var one : done) one.get();
      assertEquals(CALLERS * TURNS, tokens.size());
    }
  }

  @Test
  void theLeaseOfAHolderThatIsGoneEnds() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedLock lock = stoa.get(SharedLock.class, "a");
      long gone = lock.lock(SHORT);
      long next = lock.lock(LONG); // waits for the end of the lease
      assertTrue(next > gone);
      assertFalse(lock.unlock(gone));
      assertFalse(lock.renew(gone, LONG));
      assertEquals(0, lock.tryLock(LONG));
      assertTrue(lock.renew(next, LONG));
      assertTrue(lock.unlock(next));
      assertTrue(lock.tryLock(LONG) > next);
      assertThrows(IllegalArgumentException.class, () -> lock.lock(Duration.ZERO));
    }
  }

  @Test
  void aLeaseThatEndsBehindTheLastMomentIsRefused() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Duration always = Duration.ofSeconds(Long.MAX_VALUE);
      SharedLock lock = stoa.get(SharedLock.class, "a");
      assertThrows(IllegalArgumentException.class, () -> lock.lock(always));
      long token = lock.lock(LONG);
      assertThrows(IllegalArgumentException.class, () -> lock.renew(token, always));
      assertTrue(lock.unlock(token));
      SharedReadWriteLock both = stoa.get(SharedReadWriteLock.class, "a");
      assertThrows(IllegalArgumentException.class, () -> both.readLock(always));
      assertThrows(IllegalArgumentException.class, () -> both.writeLock(always));
      SharedElection election = stoa.get(SharedElection.class, "a");
      assertThrows(IllegalArgumentException.class, () -> election.campaign("a", always));
    }
  }

  @Test
  void aSemaphoreGivesNoMorePermitsThanItHas() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      SharedSemaphore semaphore = stoa.create(SharedSemaphore.class, "a", 3);
      var inside = new AtomicInteger();
      var done = new ArrayList<Future<?>>();
      for (int i = 0; i < CALLERS; i++) {
        done.add(
            callers.submit(() -> {
              for (int turn = 0; turn < TURNS; turn++) {
                semaphore.acquire(1);
                assertTrue(inside.incrementAndGet() <= 3);
                inside.decrementAndGet();
                semaphore.release(1);
              }
              return null;
            }));
      }
      for (var one : done) one.get();
      assertEquals(3, semaphore.availablePermits());
      assertFalse(semaphore.tryAcquire(4));
      assertTrue(semaphore.tryAcquire(3));
    }
  }

  @Test
  @SuppressWarnings("NullAway") // Justification: a call without a result answers null
  void aLatchOpensForAllThatWait() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedLatch latch = stoa.create(SharedLatch.class, "a", 2L);
      var waiting = new ArrayList<CompletableFuture<?>>();
      for (int i = 0; i < 10; i++) {
        waiting.add(
            stoa.async(
                latch,
                l -> {
                  l.await();
                  return null;
                }));
      }
      assertEquals(1, latch.countDown());
      assertEquals(0, latch.countDown());
      waiting.forEach(CompletableFuture::join);
      latch.await();
      assertEquals(0, latch.countDown());
    }
  }
}
