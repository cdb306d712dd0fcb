package stoa.coordination;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import stoa.SharedBlockingDeque;
import stoa.SharedBlockingQueue;
import stoa.Stoa;
import stoa.View;

/// What the interfaces of the JDK say about blocking queues and deques.
class BlockingDequeTest {
  private static final int PRODUCERS = 4;
  private static final int EACH = 25;

  record Job(String name) {}

  private static SharedBlockingDeque<String> deque(Stoa stoa, int capacity, String... elements) {
    SharedBlockingDeque<String> deque = stoa.blockingDeque("a", String.class, capacity);
    for (String element : elements) deque.addLast(element);
    return deque;
  }

  @Test
  void waitsForVeryLongTimes() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedBlockingDeque<String> deque = deque(stoa, 2);
      assertTrue(deque.offer("a", Long.MAX_VALUE, TimeUnit.DAYS));
      assertEquals("a", deque.poll(Long.MAX_VALUE, TimeUnit.DAYS));
    }
  }

  @Test
  void elementsComeAndGoAtBothEnds() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, 10);
      deque.putLast("b");
      deque.putFirst("a");
      assertTrue(deque.offerLast("c", 1, TimeUnit.SECONDS));
      assertTrue(deque.offer("d"));
      deque.push("0");
      assertEquals(List.of("0", "a", "b", "c", "d"), List.copyOf(deque));
      var backwards = new ArrayList<String>();
      deque.descendingIterator().forEachRemaining(backwards::add);
      assertEquals(List.of("d", "c", "b", "a", "0"), backwards);
      assertEquals("0", deque.peekFirst());
      assertEquals("d", deque.peekLast());
      assertEquals("0", deque.takeFirst());
      assertEquals("d", deque.takeLast());
      assertEquals("a", deque.poll(1, TimeUnit.SECONDS));
      assertEquals("c", deque.pollLast());
      assertEquals("b", deque.pop());
      assertTrue(deque.isEmpty());
    }
  }

  @Test
  void aFullQueueRefusesWhatDoesNotWait() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, 2, "a", "b");
      assertEquals(0, deque.remainingCapacity());
      assertFalse(deque.offer("c"));
      assertFalse(deque.offerFirst("c"));
      assertFalse(deque.offer("c", 1, TimeUnit.MILLISECONDS));
      assertFalse(deque.offerFirst("c", 0, TimeUnit.SECONDS));
      assertThrows(IllegalStateException.class, () -> deque.add("c"));
      assertThrows(IllegalStateException.class, () -> deque.push("c"));
      assertEquals("a", deque.remove());
      assertEquals(1, deque.remainingCapacity());
      assertThrows(IllegalStateException.class, () -> deque.addAll(List.of("c", "d")));
      assertEquals(List.of("b"), List.copyOf(deque));
      assertTrue(deque.addAll(List.of("c")));
      assertEquals(Integer.MAX_VALUE, stoa.blockingQueue("b", String.class).remainingCapacity());
    }
  }

  @Test
  void anEmptyQueueHasNothingForWhatDoesNotWait() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, 2);
      assertNull(deque.poll());
      assertNull(deque.pollLast());
      assertNull(deque.peek());
      assertNull(deque.poll(1, TimeUnit.MILLISECONDS));
      assertNull(deque.pollLast(-1, TimeUnit.SECONDS));
      assertThrows(NoSuchElementException.class, deque::remove);
      assertThrows(NoSuchElementException.class, deque::element);
      assertThrows(NoSuchElementException.class, deque::getLast);
      assertFalse(deque.remove("a"));
      assertEquals(0, deque.drainTo(new ArrayList<>()));
    }
  }

  @Test
  void putWaitsForAPlaceAndTakeForAnElement() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      var deque = deque(stoa, 1, "a");
      Future<?> put =
          callers.submit(() -> {
            deque.put("b");
            return null;
          });
      assertEquals("a", deque.take());
      put.get();
      assertEquals("b", deque.take());
      Future<String> taken = callers.submit(deque::takeLast);
      deque.put("c");
      assertEquals("c", taken.get());
    }
  }

  @Test
  void eachElementIsTakenOnce() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      SharedBlockingQueue<Integer> queue = stoa.blockingQueue("a", Integer.class, 5);
      Set<Integer> taken = new ConcurrentSkipListSet<>();
      var done = new ArrayList<Future<?>>();
      for (int i = 0; i < PRODUCERS; i++) {
        int first = i * EACH;
        done.add(
            callers.submit(() -> {
              for (int each = 0; each < EACH; each++) queue.put(first + each);
              return null;
            }));
        done.add(
            callers.submit(() -> {
              for (int each = 0; each < EACH; each++) assertTrue(taken.add(queue.take()));
              return null;
            }));
      }
      for (var one : done) one.get();
      assertEquals(PRODUCERS * EACH, taken.size());
      assertTrue(queue.isEmpty());
    }
  }

  @Test
  void drainsInOrderAndOnlyIntoAnotherCollection() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, 5, "a", "b", "c", "d");
      SharedBlockingQueue<String> same = stoa.blockingQueue("a", String.class);
      var drained = new ArrayList<String>();
      assertEquals(0, deque.drainTo(drained, 0));
      assertEquals(3, deque.drainTo(drained, 3));
      assertEquals(1, deque.drainTo(drained));
      assertEquals(List.of("a", "b", "c", "d"), drained);
      assertThrows(IllegalArgumentException.class, () -> deque.drainTo(same));
      assertThrows(IllegalArgumentException.class, () -> deque.addAll(same));
    }
  }

  @Test
  void refusesNullAndFindsAndRemovesElements() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, 9, "a", "b", "a", "c");
      assertThrows(NullPointerException.class, () -> nothing(deque));
      assertTrue(deque.contains("c"));
      assertTrue(deque.removeLastOccurrence("a"));
      assertEquals(List.of("a", "b", "c"), List.copyOf(deque));
      assertTrue(deque.removeAll(Set.of("a", "c")));
      assertEquals(List.of("b"), List.copyOf(deque));
      deque.clear();
      assertEquals(0, deque.size());
    }
  }

  @SuppressWarnings("NullAway") // Justification: it is refused
  private static void nothing(BlockingQueue<String> queue) {
    queue.offer(null);
  }

  @Test
  void theCapacityIsFixedWhenTheQueueBegins() {
    try (Stoa stoa = Stoa.open("memory:")) {
      deque(stoa, 3, "a");
      assertEquals(2, stoa.blockingQueue("a", String.class).remainingCapacity());
      assertThrows(IllegalArgumentException.class, () -> stoa.blockingQueue("a", String.class, 4));
      assertThrows(IllegalArgumentException.class, () -> stoa.blockingQueue("b", String.class, 0));
    }
  }

  @Test
  void transactionsOfferAndPollTogetherAndDoNotWait() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedBlockingQueue<Job> todo = stoa.blockingQueue("todo", Job.class);
      SharedBlockingQueue<Job> done = stoa.blockingQueue("done", Job.class);
      todo.add(new Job("one"));
      assertThrows(
          IllegalStateException.class,
          () -> {
            stoa.transact(() -> {
              assertTrue(done.add(todo.remove()));
              throw new IllegalStateException("no");
            });
          });
      assertEquals(new Job("one"), todo.peek());
      stoa.transact(() -> {
        assertTrue(done.offer(todo.remove()));
      });
      assertEquals(List.of(new Job("one")), List.copyOf(done));
      assertThrows(
          IllegalStateException.class,
          () -> {
            stoa.transact(() -> {
              var _ = todo.take();
            });
          });
    }
  }

  @Test
  void itsHistoryAndViewsShowItsElements() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, 3, "a");
      var before = stoa.snapshot();
      deque.add("b");
      var then = before.on(deque);
      assertEquals(List.of("a"), List.copyOf(then));
      SharedBlockingQueue<?> viewed =
          stoa.view(SharedBlockingQueue.class, stoa.ref(deque), new View.Remote());
      assertEquals(new TreeSet<>(Set.of("a", "b")), new TreeSet<>(viewed));
    }
  }
}
