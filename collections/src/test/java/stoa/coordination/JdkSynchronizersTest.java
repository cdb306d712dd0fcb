package stoa.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import stoa.DeadlineExceeded;
import stoa.Stoa;

/// Behaviors of the JDK's own tests of its synchronizers, at the shared ones. `docs/conformance.md`
/// says which test has which.
class JdkSynchronizersTest {
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration SHORT = Duration.ofMillis(50);

  // ---- locks

  @Test
  void aLockIsFreeUntilItIsAcquired() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedLock lock = stoa.get(SharedLock.class, "a");
      assertEquals(0, lock.token());
      assertEquals(Instant.EPOCH, lock.end());
      long held = lock.lock(LONG);
      assertEquals(held, lock.token());
      assertTrue(lock.end().isAfter(Instant.EPOCH));
      assertTrue(lock.unlock(held));
      assertEquals(Instant.EPOCH, lock.end());
    }
  }

  @Test
  void aLockThatNoTokenHoldsIsNotUnlocked() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedLock lock = stoa.get(SharedLock.class, "a");
      assertFalse(lock.unlock(0));
      long held = lock.lock(LONG);
      assertFalse(lock.unlock(held + 1));
      assertTrue(lock.unlock(held));
      assertFalse(lock.unlock(held));
      SharedReadWriteLock both = stoa.get(SharedReadWriteLock.class, "b");
      assertFalse(both.unlock(0));
      long read = both.readLock(LONG);
      assertFalse(both.unlock(read + 1));
      assertTrue(both.unlock(read));
      assertFalse(both.unlock(read));
    }
  }

  @Test
  void aLockThatIsHeldIsNotAcquiredInTime() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedLock lock = stoa.get(SharedLock.class, "a");
      long held = lock.tryLock(LONG);
      assertTrue(held > 0);
      assertEquals(0, lock.tryLock(LONG));
      assertThrows(DeadlineExceeded.class, () -> stoa.within(SHORT, lock).lock(LONG));
      assertEquals(held, lock.token());
      SharedReadWriteLock both = stoa.get(SharedReadWriteLock.class, "b");
      long written = both.tryWriteLock(LONG);
      assertTrue(written > 0);
      assertEquals(0, both.tryReadLock(LONG));
      assertEquals(0, both.tryWriteLock(LONG));
      assertThrows(DeadlineExceeded.class, () -> stoa.within(SHORT, both).readLock(LONG));
      assertThrows(DeadlineExceeded.class, () -> stoa.within(SHORT, both).writeLock(LONG));
      assertTrue(both.unlock(written));
      assertTrue(both.tryReadLock(LONG) > 0);
      assertEquals(0, both.tryWriteLock(LONG));
      assertTrue(both.tryReadLock(LONG) > 0);
    }
  }

  @Test
  void aWriterComesAfterAllReadersAndReadersAfterTheWriter() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedReadWriteLock lock = stoa.get(SharedReadWriteLock.class, "a");
      long one = lock.readLock(LONG);
      long two = lock.readLock(LONG);
      CompletableFuture<Long> writer = stoa.async(lock, l -> l.writeLock(LONG));
      assertTrue(lock.unlock(one));
      assertFalse(writer.isDone());
      assertTrue(lock.unlock(two));
      long written = writer.join();
      assertTrue(written > two);
      CompletableFuture<Long> behind = stoa.async(lock, l -> l.readLock(LONG));
      assertEquals(0, lock.readers());
      assertFalse(behind.isDone());
      assertTrue(lock.unlock(written));
      assertTrue(behind.join() > written);
    }
  }

  @Test
  void aReaderThatTriesPassesAWriterThatWaits() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedReadWriteLock lock = stoa.get(SharedReadWriteLock.class, "a");
      long first = lock.readLock(LONG);
      CompletableFuture<Long> writer = stoa.async(lock, l -> l.writeLock(LONG));
      long passing = lock.tryReadLock(LONG);
      assertTrue(passing > first);
      assertTrue(lock.unlock(first));
      assertTrue(lock.unlock(passing));
      assertTrue(writer.join() > passing);
    }
  }

  // ---- semaphore and latch

  @Test
  void aSemaphoreCountsItsPermits() {
    try (Stoa stoa = Stoa.open("memory:")) {
      for (int permits : new int[] {0, 1, 42}) {
        SharedSemaphore one = stoa.create(SharedSemaphore.class, "of " + permits, permits);
        assertEquals(permits, one.availablePermits());
        assertEquals(permits, one.drainPermits());
        assertEquals(0, one.drainPermits());
      }
      SharedSemaphore semaphore = stoa.create(SharedSemaphore.class, "a", 2);
      assertTrue(semaphore.tryAcquire(1));
      assertTrue(semaphore.tryAcquire(1));
      assertFalse(semaphore.tryAcquire(1));
      assertEquals(0, semaphore.availablePermits());
      semaphore.release(1);
      semaphore.acquire(1);
      semaphore.release(3);
      assertTrue(semaphore.tryAcquire(2));
      assertFalse(semaphore.tryAcquire(2));
      assertThrows(DeadlineExceeded.class, () -> stoa.within(SHORT, semaphore).acquire(2));
      assertEquals(1, semaphore.availablePermits());
      assertThrows(IllegalArgumentException.class, () -> semaphore.release(-1));
    }
  }

  @Test
  void anAcquisitionWaitsForPermitsOfAnotherCaller() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      SharedSemaphore semaphore = stoa.create(SharedSemaphore.class, "a", 0);
      Future<?> two = callers.submit(() -> semaphore.acquire(2));
      semaphore.release(1);
      assertFalse(two.isDone());
      semaphore.release(1);
      two.get();
      assertEquals(0, semaphore.availablePermits());
    }
  }

  @Test
  void aLatchCountsDownToZero() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      assertThrows(
          IllegalArgumentException.class, () -> stoa.create(SharedLatch.class, "b", -1L).count());
      SharedLatch latch = stoa.create(SharedLatch.class, "a", 2L);
      assertEquals(2, latch.count());
      Future<?> waiting = callers.submit(latch::await);
      assertThrows(DeadlineExceeded.class, () -> stoa.within(SHORT, latch).await());
      assertEquals(1, latch.countDown());
      assertFalse(waiting.isDone());
      assertEquals(0, latch.countDown());
      waiting.get();
      stoa.within(LONG, latch).await();
      assertEquals(0, latch.countDown());
      assertEquals(0, latch.count());
    }
  }

  // ---- barrier

  @Test
  void aBarrierOfOnePartyIsAlwaysOpen() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      for (int parties : new int[] {0, -1}) {
        assertThrows(
            IllegalArgumentException.class,
            () -> stoa.create(SharedBarrier.class, "of " + parties, parties).reset());
      }
      SharedBarrier barrier = stoa.create(SharedBarrier.class, "a", 1);
      assertEquals(1, barrier.getParties());
      assertEquals(0, SharedBarrier.await(barrier, LONG));
      assertEquals(0, SharedBarrier.await(barrier, LONG));
      assertEquals(0, barrier.getNumberWaiting());
    }
  }

  @Test
  void aResetReadiesABarrierAfterATime() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedBarrier barrier = stoa.create(SharedBarrier.class, "a", 2);
      for (int i = 0; i < 2; i++) {
        assertThrows(BrokenBarrierException.class, () -> SharedBarrier.await(barrier, SHORT));
        assertTrue(barrier.isBroken());
        assertEquals(2, barrier.getParties());
        barrier.reset();
        assertFalse(barrier.isBroken());
        assertEquals(0, barrier.getNumberWaiting());
      }
      meet(barrier);
    }
  }

  @Test
  void aResetOfABarrierWithoutPartiesBreaksNothing() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedBarrier barrier = stoa.create(SharedBarrier.class, "a", 2);
      for (int i = 0; i < 3; i++) {
        barrier.reset();
        assertFalse(barrier.isBroken());
        meet(barrier);
        assertFalse(barrier.isBroken());
        assertEquals(0, barrier.getNumberWaiting());
      }
    }
  }

  private static void meet(SharedBarrier barrier) throws Exception {
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Future<Integer> other = callers.submit(() -> SharedBarrier.await(barrier, LONG));
      int mine = SharedBarrier.await(barrier, LONG);
      assertEquals(1, other.get() + mine);
    }
  }

  @Test
  void morePartiesThanABarrierHasMeetInTurn() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      SharedBarrier barrier = stoa.create(SharedBarrier.class, "a", 3);
      var all = new ArrayList<Future<Integer>>();
      for (int i = 0; i < 9; i++) {
        all.add(callers.submit(() -> SharedBarrier.await(barrier, LONG)));
      }
      int sum = 0;
      for (var one : all) sum += one.get();
      assertEquals(3 * (2 + 1), sum);
      assertEquals(0, barrier.getNumberWaiting());
    }
  }

  // ---- phaser

  private static void requireCounts(SharedPhaser phaser, int phase, int parties, int unarrived) {
    assertEquals(phase, phaser.getPhase());
    assertEquals(parties, phaser.getRegisteredParties());
    assertEquals(unarrived, phaser.getUnarrivedParties());
    assertEquals(parties - unarrived, phaser.getArrivedParties());
    assertEquals(phase < 0, phaser.isTerminated());
  }

  @Test
  void aPhaserBeginsWithItsParties() {
    try (Stoa stoa = Stoa.open("memory:")) {
      requireCounts(stoa.get(SharedPhaser.class, "a"), 0, 0, 0);
      requireCounts(stoa.create(SharedPhaser.class, "b", 5), 0, 5, 5);
      for (int parties : new int[] {-1, SharedPhaser.PARTIES_MAX + 1}) {
        assertThrows(
            IllegalArgumentException.class,
            () -> stoa.create(SharedPhaser.class, "of " + parties, parties).arrive());
      }
    }
  }

  @Test
  void registeredPartiesHaveNotArrived() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedPhaser phaser = stoa.get(SharedPhaser.class, "a");
      assertEquals(0, phaser.register());
      requireCounts(phaser, 0, 1, 1);
      assertEquals(0, phaser.arrive());
      assertEquals(1, phaser.register());
      requireCounts(phaser, 1, 2, 2);
      assertEquals(1, phaser.arrive());
      assertEquals(1, phaser.register());
      requireCounts(phaser, 1, 3, 2);
      assertEquals(1, phaser.bulkRegister(20));
      requireCounts(phaser, 1, 23, 22);
      assertThrows(IllegalArgumentException.class, () -> phaser.bulkRegister(-1));
      assertThrows(
          IllegalStateException.class, () -> phaser.bulkRegister(SharedPhaser.PARTIES_MAX - 22));
      SharedPhaser full = stoa.create(SharedPhaser.class, "b", SharedPhaser.PARTIES_MAX);
      assertThrows(IllegalStateException.class, full::register);
      requireCounts(full, 0, SharedPhaser.PARTIES_MAX, SharedPhaser.PARTIES_MAX);
    }
  }

  @Test
  void arrivalsAdvanceAPhaser() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedPhaser phaser = stoa.create(SharedPhaser.class, "a", 1);
      for (int phase = 0; phase < 5; phase++) {
        requireCounts(phaser, phase, 1, 1);
        assertEquals(phase, phaser.arrive());
      }
      phaser.forceTermination();
      requireCounts(phaser, 5 + Integer.MIN_VALUE, 1, 1);
      assertTrue(phaser.arrive() < 0);
      assertTrue(phaser.register() < 0);
      assertTrue(phaser.arriveAndDeregister() < 0);
    }
  }

  @Test
  void deregistrationsReduceThePartiesAndDoNotWait() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedPhaser empty = stoa.get(SharedPhaser.class, "a");
      assertThrows(IllegalStateException.class, empty::arriveAndDeregister);
      SharedPhaser phaser = stoa.create(SharedPhaser.class, "b", 2);
      assertEquals(0, phaser.arrive());
      assertEquals(0, phaser.arriveAndDeregister());
      requireCounts(phaser, 1, 1, 1);
      assertEquals(1, phaser.arriveAndDeregister());
      assertTrue(phaser.isTerminated());
      assertEquals(0, phaser.getRegisteredParties());
    }
  }

  @Test
  void callersWaitForThePhaseTheyName() {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      SharedPhaser phaser = stoa.create(SharedPhaser.class, "a", 3);
      assertTrue(phaser.awaitAdvance(-1) < 0);
      requireCounts(phaser, 0, 3, 3);
      var waiting = new ArrayList<CompletableFuture<Integer>>();
      for (int i = 0; i < 2; i++) {
        waiting.add(
            CompletableFuture.supplyAsync(
                () -> SharedPhaser.arriveAndAwaitAdvance(phaser), callers));
      }
      assertEquals(1, SharedPhaser.arriveAndAwaitAdvance(phaser));
      for (var one : waiting) assertEquals(1, one.join());
      assertEquals(1, phaser.awaitAdvance(0));
      CompletableFuture<Integer> last = stoa.async(phaser, p -> p.awaitAdvance(1));
      phaser.forceTermination();
      assertTrue(last.join() < 0);
      SharedPhaser empty = stoa.get(SharedPhaser.class, "b");
      assertThrows(IllegalStateException.class, () -> SharedPhaser.arriveAndAwaitAdvance(empty));
    }
  }

  // ---- values

  @Test
  void aPromiseMayHaveNoValueAndIsDoneOnce() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedPromise<String> promise = Coordination.promise(stoa, "a", String.class);
      assertFalse(promise.isDone());
      assertEquals("later", promise.getNow("later"));
      assertThrows(DeadlineExceeded.class, () -> stoa.within(SHORT, promise).get());
      assertThrows(NullPointerException.class, () -> fail(promise));
      assertTrue(promise.complete(null));
      assertFalse(promise.complete("b"));
      assertTrue(promise.isDone());
      assertEquals(null, promise.get());
      assertEquals(null, promise.getNow("later"));
    }
  }

  @SuppressWarnings("NullAway") // Justification: it is refused
  private static void fail(SharedPromise<?> promise) {
    var _ = promise.completeExceptionally(null);
  }

  @Test
  void numbersAndReferencesBeginEmptyOrWithAValue() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      assertEquals(0, stoa.get(SharedLong.class, "a").get());
      assertEquals(0, stoa.get(SharedAdder.class, "a").sum());
      SharedLong number = stoa.create(SharedLong.class, "b", 1L);
      Future<Boolean> changed =
          callers.submit(() -> {
            while (!number.compareAndSet(2, 3)) Thread.onSpinWait();
            return true;
          });
      assertTrue(number.compareAndSet(1, 2));
      assertTrue(changed.get());
      assertEquals(3, number.get());
      SharedReference<String> text = Coordination.reference(stoa, "a", String.class);
      Future<Boolean> also =
          callers.submit(() -> {
            while (!text.compareAndSet("two", "three")) Thread.onSpinWait();
            return true;
          });
      assertTrue(text.compareAndSet(null, "two"));
      assertTrue(also.get());
      assertEquals("three", text.get());
      text.set("four");
      assertEquals("four", text.get());
    }
  }

  @Test
  void manyCallersAddToOneSum() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      SharedAdder adder = stoa.get(SharedAdder.class, "a");
      var all = new ArrayList<Future<?>>();
      for (int delta : List.of(1, 2, 3, 4)) {
        all.add(
            callers.submit(() -> {
              for (int i = 0; i < 25; i++) adder.add(delta);
            }));
      }
      for (var one : all) one.get();
      assertEquals(250, adder.sum());
    }
  }
}
