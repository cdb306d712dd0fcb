package stoa.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import stoa.DeadlineExceeded;
import stoa.Stoa;

/// What the classes of the JDK say about their synchronizers, and what leases add.
class SynchronizersTest {
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration SHORT = Duration.ofMillis(50);

  // ---- a read-write lock

  @Test
  void aPartyMayWaitForVeryLong() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedBarrier barrier = stoa.create(SharedBarrier.class, "alone", 1);
      assertEquals(0, SharedBarrier.await(barrier, Duration.ofSeconds(Long.MAX_VALUE)));
      assertThrows(IllegalArgumentException.class, () -> barrier.awaitOpening(0));
      assertThrows(IllegalArgumentException.class, () -> barrier.awaitOpening(2));
    }
  }

  @Test
  void readersShareALockAndAWriterHasItAlone() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedReadWriteLock lock = stoa.get(SharedReadWriteLock.class, "a");
      long one = lock.readLock(LONG);
      long two = lock.tryReadLock(LONG);
      assertTrue(two > one);
      assertEquals(0, lock.tryWriteLock(LONG));
      assertTrue(lock.unlock(one));
      assertFalse(lock.unlock(one));
      assertTrue(lock.renew(two, LONG));
      assertTrue(lock.unlock(two));
      long writer = lock.writeLock(LONG);
      assertTrue(writer > two);
      assertEquals(0, lock.tryReadLock(LONG));
      assertEquals(0, lock.tryWriteLock(LONG));
      assertFalse(lock.renew(two, LONG));
      assertTrue(lock.renew(writer, LONG));
      assertTrue(lock.unlock(writer));
      assertFalse(lock.unlock(writer));
      assertThrows(IllegalArgumentException.class, () -> lock.readLock(Duration.ZERO));
    }
  }

  @Test
  void theLeasesOfReadersAndWritersEnd() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedReadWriteLock lock = stoa.get(SharedReadWriteLock.class, "a");
      long gone = lock.readLock(SHORT);
      long writer = lock.writeLock(SHORT); // waits for the end of the lease
      assertTrue(writer > gone);
      assertFalse(lock.unlock(gone));
      long next = lock.readLock(LONG);
      assertTrue(next > writer);
      assertFalse(lock.unlock(writer));
      assertEquals(1, lock.readers());
    }
  }

  @Test
  void writersAmongReadersDoNotStarve() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      SharedReadWriteLock lock = stoa.get(SharedReadWriteLock.class, "a");
      var writers = new AtomicInteger();
      var readers = new AtomicInteger();
      var done = new ArrayList<Future<?>>();
      for (int i = 0; i < 6; i++) {
        boolean writes = i < 2;
        done.add(
            callers.submit(() -> {
              for (int turn = 0; turn < 10; turn++) {
                long token = writes ? lock.writeLock(LONG) : lock.readLock(LONG);
                int others = writes ? writers.getAndIncrement() + readers.get() : writers.get();
                if (!writes) readers.incrementAndGet();
                assertEquals(0, others);
                (writes ? writers : readers).decrementAndGet();
                assertTrue(lock.unlock(token));
              }
              return null;
            }));
      }
      for (var one : done) one.get();
    }
  }

  // ---- a barrier

  @Test
  void aBarrierOpensForAllPartiesAgainAndAgain() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      SharedBarrier barrier = stoa.create(SharedBarrier.class, "a", 3);
      for (int round = 0; round < 3; round++) {
        var waiting = new ArrayList<Future<Integer>>();
        for (int i = 0; i < 3; i++) {
          waiting.add(callers.submit(() -> SharedBarrier.await(barrier, LONG)));
        }
        var missing = new TreeSet<Integer>();
        for (var one : waiting) missing.add(one.get());
        assertEquals(new TreeSet<>(List.of(0, 1, 2)), missing);
        assertEquals(0, barrier.getNumberWaiting());
      }
      assertEquals(3, barrier.getParties());
      assertThrows(
          IllegalArgumentException.class, () -> stoa.create(SharedBarrier.class, "b", 0).reset());
    }
  }

  @Test
  void aBarrierBreaksWhenThePartyThatWaitsHasNoMoreTime() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedBarrier barrier = stoa.create(SharedBarrier.class, "a", 3);
      var arrival = barrier.arrive(LONG);
      assertThrows(BrokenBarrierException.class, () -> SharedBarrier.await(barrier, SHORT));
      assertTrue(barrier.isBroken());
      assertThrows(BrokenBarrierException.class, () -> barrier.awaitOpening(arrival.round()));
      assertThrows(BrokenBarrierException.class, () -> barrier.arrive(LONG));
      barrier.reset();
      assertFalse(barrier.isBroken());
      assertThrows(BrokenBarrierException.class, () -> barrier.awaitOpening(arrival.round()));
      assertEquals(2, barrier.arrive(LONG).missing());
    }
  }

  @Test
  void aResetBreaksTheBarrierForThePartiesThatWait() {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      SharedBarrier barrier = stoa.create(SharedBarrier.class, "a", 2);
      Future<Integer> waiting = callers.submit(() -> SharedBarrier.await(barrier, LONG));
      while (barrier.getNumberWaiting() == 0) Thread.onSpinWait();
      barrier.reset();
      var failed = assertThrows(ExecutionException.class, waiting::get);
      assertInstanceOf(BrokenBarrierException.class, failed.getCause());
    }
  }

  // ---- a phaser

  @Test
  void aPhaserAdvancesWhenAllItsPartiesHaveArrived() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedPhaser phaser = stoa.create(SharedPhaser.class, "a", 1);
      assertEquals(0, phaser.register());
      assertEquals(0, phaser.bulkRegister(0));
      CompletableFuture<Integer> other = stoa.async(phaser, p -> p.awaitAdvance(0));
      assertEquals(0, phaser.arrive());
      assertEquals(1, phaser.getArrivedParties());
      assertEquals(1, phaser.getUnarrivedParties());
      assertEquals(1, SharedPhaser.arriveAndAwaitAdvance(phaser));
      assertEquals(1, other.join());
      assertEquals(1, phaser.awaitAdvance(0)); // an earlier phase
      assertEquals(-5, phaser.awaitAdvance(-5));
      assertEquals(2, phaser.getRegisteredParties());
      assertThrows(IllegalArgumentException.class, () -> phaser.bulkRegister(-1));
    }
  }

  @Test
  void aPhaserEndsWithItsLastParty() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedPhaser phaser = stoa.get(SharedPhaser.class, "a");
      assertThrows(IllegalStateException.class, phaser::arrive);
      assertEquals(0, phaser.bulkRegister(2));
      assertEquals(0, phaser.arriveAndDeregister());
      CompletableFuture<Integer> other = stoa.async(phaser, p -> p.awaitAdvance(0));
      assertEquals(0, phaser.arriveAndDeregister());
      assertTrue(other.join() < 0);
      assertTrue(phaser.isTerminated());
      assertTrue(phaser.register() < 0);
      assertTrue(phaser.arrive() < 0);
      assertEquals(0, phaser.getRegisteredParties());
    }
  }

  // ---- a semaphore and a latch

  @Test
  void aSemaphoreRefusesWhatItCannotCountAndWaitsNoLongerThanItsCaller() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedSemaphore semaphore = stoa.create(SharedSemaphore.class, "a", 1);
      assertThrows(IllegalArgumentException.class, () -> semaphore.acquire(0));
      assertThrows(IllegalArgumentException.class, () -> semaphore.release(-1));
      assertThrows(ArithmeticException.class, () -> semaphore.release(Integer.MAX_VALUE));
      assertThrows(DeadlineExceeded.class, () -> stoa.within(SHORT, semaphore).acquire(2));
      assertEquals(1, semaphore.availablePermits());
      semaphore.release(3);
      semaphore.acquire(2);
      assertEquals(2, semaphore.drainPermits());
      assertEquals(0, semaphore.availablePermits());
    }
  }

  @Test
  void aLatchThatIsOpenStaysOpen() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedLatch latch = stoa.create(SharedLatch.class, "a", 1L);
      assertThrows(DeadlineExceeded.class, () -> stoa.within(SHORT, latch).await());
      assertEquals(1, latch.count());
      assertEquals(0, latch.countDown());
      latch.await();
      latch.await();
      assertEquals(0, latch.countDown());
    }
  }
}
