package stoa.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import stoa.DeadlineExceeded;
import stoa.Stoa;

/// Numbers, references, promises, topics, elections and rate limiters.
class SharedValuesTest {
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration SHORT = Duration.ofMillis(50);

  record Point(int x, int y) {}

  @Test
  void aLongCountsAsTheAtomicOneOfTheJdk() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedLong number = stoa.create(SharedLong.class, "a", 5L);
      assertEquals(5, number.get());
      assertEquals(5, number.getAndIncrement());
      assertEquals(7, number.incrementAndGet());
      assertEquals(7, number.getAndDecrement());
      assertEquals(5, number.decrementAndGet());
      assertEquals(5, number.getAndAdd(-7));
      assertEquals(1, number.addAndGet(3));
      assertFalse(number.compareAndSet(2, 9));
      assertTrue(number.compareAndSet(1, 9));
      assertEquals(9, number.compareAndExchange(1, 2));
      assertEquals(9, number.compareAndExchange(9, 2));
      assertEquals(2, number.getAndSet(Long.MAX_VALUE));
      number.add(1);
      assertEquals(Long.MIN_VALUE, number.get());
      number.set(0);
      assertEquals(0, number.get());
    }
  }

  @Test
  void anAdderSums() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedAdder adder = stoa.get(SharedAdder.class, "a");
      adder.add(3);
      adder.increment();
      stoa.transact(adder::decrement);
      assertEquals(3, adder.sum());
      assertEquals(3, adder.sumThenReset());
      adder.increment();
      adder.reset();
      assertEquals(0, adder.sum());
    }
  }

  @Test
  void aReferenceHoldsAValueAndComparesItByItsContents() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedReference<Point> point = Coordination.reference(stoa, "a", Point.class);
      assertNull(point.get());
      assertTrue(point.compareAndSet(null, new Point(1, 2)));
      assertFalse(point.compareAndSet(new Point(2, 2), new Point(0, 0)));
      assertTrue(point.compareAndSet(new Point(1, 2), new Point(3, 4)));
      assertEquals(new Point(3, 4), point.compareAndExchange(null, null));
      assertEquals(new Point(3, 4), point.getAndSet(new Point(5, 6)));
      assertEquals(new Point(5, 6), point.compareAndExchange(new Point(5, 6), null));
      assertNull(point.get());
    }
  }

  @Test
  void aReferenceHoldsASharedObject() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedReference<SharedLong> holder = Coordination.reference(stoa, "a", SharedLong.class);
      holder.set(stoa.create(SharedLong.class, "b", 3L));
      assertEquals(4, Objects.requireNonNull(holder.get()).incrementAndGet());
      assertEquals(4, stoa.get(SharedLong.class, "b").get());
    }
  }

  @Test
  @SuppressWarnings("NullAway") // Justification: this promise has no null
  void aPromiseIsCompletedOnceForAllThatWait() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedPromise<Point> promise = Coordination.promise(stoa, "a", Point.class);
      CompletableFuture<Point> waiting = stoa.async(promise, SharedPromise::get);
      assertFalse(promise.isDone());
      assertEquals(new Point(0, 0), promise.getNow(new Point(0, 0)));
      assertTrue(promise.complete(new Point(1, 2)));
      assertFalse(promise.complete(new Point(3, 4)));
      assertFalse(promise.completeExceptionally("too late"));
      assertEquals(new Point(1, 2), waiting.join());
      assertEquals(new Point(1, 2), promise.get());
      assertTrue(promise.isDone());
      assertFalse(promise.isCompletedExceptionally());
    }
  }

  @Test
  void aPromiseFailsWithItsReason() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedPromise<Point> promise = Coordination.promise(stoa, "a", Point.class);
      assertTrue(promise.completeExceptionally("no points"));
      var failed = assertThrows(ExecutionException.class, promise::get);
      assertEquals("no points", failed.getMessage());
      assertTrue(promise.isCompletedExceptionally());
    }
  }

  @Test
  void subscribersOfATopicGetItsMessagesInOrder() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedTopic<Point> topic = Coordination.topic(stoa, "a", Point.class);
      assertEquals(1, topic.publish(new Point(0, 1)));
      assertEquals(0, topic.size()); // nobody has subscribed
      assertEquals(1, topic.subscribe("anna"));
      assertEquals(1, topic.subscribe("ben"));
      assertEquals(2, topic.publish(new Point(0, 2)));
      assertEquals(3, topic.offer(new Point(0, 3)));
      assertEquals(new SharedTopic.Message(2, new Point(0, 2)), topic.next("anna"));
      assertEquals(new SharedTopic.Message(2, new Point(0, 2)), topic.peek("anna"));
      assertTrue(topic.acknowledge("anna", 2));
      assertFalse(topic.acknowledge("anna", 1));
      assertEquals(3, topic.next("anna").number());
      assertEquals(2, topic.size());
      assertTrue(topic.acknowledge("ben", 3));
      assertEquals(1, topic.size());
      assertEquals(2, topic.subscribe("anna"));
      assertTrue(topic.unsubscribe("anna"));
      assertEquals(0, topic.size());
      assertEquals(List.of("ben"), topic.subscribers());
      assertNull(topic.peek("ben"));
      CompletableFuture<SharedTopic.Message> next = stoa.async(topic, t -> t.next("ben"));
      assertEquals(4, topic.publish(new Point(0, 4)));
      assertEquals(4, next.join().number());
      assertThrows(IllegalArgumentException.class, () -> topic.next("anna"));
      assertThrows(IllegalArgumentException.class, () -> topic.acknowledge("ben", 9));
    }
  }

  @Test
  void aFullTopicWaitsForItsSlowestSubscriber() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedTopic<String> topic = Coordination.topic(stoa, "a", String.class, 2);
      assertEquals(0, topic.subscribe("slow"));
      assertEquals(1, topic.publish("one"));
      assertEquals(2, topic.publish("two"));
      assertEquals(0, topic.offer("three"));
      CompletableFuture<Long> third = stoa.async(topic, t -> t.publish("three"));
      assertEquals(1, topic.next("slow").number());
      assertTrue(topic.acknowledge("slow", 1));
      assertEquals(3, third.join());
    }
  }

  @Test
  void candidatesOfAnElectionLeadOneAfterTheOther() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedElection election = stoa.get(SharedElection.class, "a");
      assertNull(election.leader());
      long anna = election.campaign("anna", LONG);
      assertEquals(0, election.tryCampaign("ben", LONG));
      CompletableFuture<Long> ben = stoa.async(election, e -> e.campaign("ben", SHORT));
      assertTrue(election.renew(anna, LONG));
      assertEquals("anna", Objects.requireNonNull(election.leader()).candidate());
      assertTrue(election.resign(anna));
      assertTrue(ben.join() > anna);
      assertFalse(election.renew(anna, LONG));
      assertFalse(election.resign(anna));
      long next = election.campaign("cleo", LONG); // waits for the end of the lease
      assertTrue(next > ben.join());
      assertFalse(election.resign(ben.join()));
    }
  }

  @Test
  void aRateLimiterGivesItsPermitsInATime() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedRateLimiter rare = stoa.create(SharedRateLimiter.class, "a", 3, LONG);
      assertTrue(rare.tryAcquire(2));
      assertFalse(rare.tryAcquire(2));
      rare.acquire(1);
      assertFalse(rare.tryAcquire(1));
      assertThrows(DeadlineExceeded.class, () -> stoa.within(SHORT, rare).acquire(1));
      assertThrows(IllegalArgumentException.class, () -> rare.acquire(4));
      SharedRateLimiter often = stoa.create(SharedRateLimiter.class, "b", 2, Duration.ofMillis(10));
      for (int i = 0; i < 5; i++) often.acquire(2);
      assertThrows(
          IllegalArgumentException.class,
          () -> stoa.create(SharedRateLimiter.class, "c", 5, Duration.ofNanos(10)).permits());
    }
  }

  @Test
  void aRateLimiterHasAnyTimeUpToItsLongest() {
    try (Stoa stoa = Stoa.open("memory:")) {
      int many = Integer.MAX_VALUE;
      Duration longest = SharedRateLimiter.PER_MAX;
      SharedRateLimiter rare = stoa.create(SharedRateLimiter.class, "a", many, longest);
      assertTrue(rare.tryAcquire(many));
      assertFalse(rare.tryAcquire(many));
      SharedRateLimiter one = stoa.create(SharedRateLimiter.class, "b", 1, longest);
      one.acquire(1);
      assertFalse(one.tryAcquire(1));
      for (Duration longer : List.of(longest.plusNanos(1), Duration.ofSeconds(Long.MAX_VALUE))) {
        assertThrows(
            IllegalArgumentException.class,
            () -> stoa.create(SharedRateLimiter.class, "c", 2, longer));
      }
      assertEquals(0, stoa.history(stoa.get(SharedRateLimiter.class, "c")).version());
    }
  }
}
