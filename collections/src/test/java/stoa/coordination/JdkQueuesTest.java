package stoa.coordination;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import stoa.SharedBlockingDeque;
import stoa.Stoa;

/// Behaviors of the JDK's own tests of its blocking queues and deques, at the shared ones.
/// `docs/conformance.md` says which test has which.
class JdkQueuesTest {
  private static SharedBlockingDeque<Integer> deque(
      Stoa stoa, String name, int capacity, Integer... elements) {
    SharedBlockingDeque<Integer> deque = stoa.blockingDeque(name, Integer.class, capacity);
    for (Integer element : elements) deque.addLast(element);
    return deque;
  }

  private static void refuses(Class<? extends Throwable> why, Executable... calls) {
    for (Executable call : calls) assertThrows(why, call);
  }

  @Test
  void aNewQueueIsEmptyAndHasItsCapacity() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, "a", 3);
      assertTrue(deque.isEmpty());
      for (int i = 0; i < 3; i++) {
        assertEquals(i, deque.size());
        assertEquals(3 - i, deque.remainingCapacity());
        assertTrue(deque.add(i));
      }
      assertFalse(deque.isEmpty());
      assertEquals(0, deque.remainingCapacity());
      assertFalse(deque.offer(3));
      assertEquals(0, deque.remove());
      assertEquals(1, deque.remainingCapacity());
      assertEquals(Integer.MAX_VALUE, stoa.blockingQueue("b", Integer.class).remainingCapacity());
      refuses(
          IllegalArgumentException.class,
          () -> stoa.blockingQueue("c", Integer.class, 0),
          () -> stoa.blockingDeque("c", Integer.class, -1));
    }
  }

  @Test
  void addsAtBothEndsUntilItIsFull() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, "a", 4);
      assertTrue(deque.offerFirst(2));
      assertTrue(deque.offerLast(3));
      deque.addFirst(1);
      assertEquals(1, deque.peek());
      deque.push(0);
      assertEquals(0, deque.peek());
      assertEquals(List.of(0, 1, 2, 3), List.copyOf(deque));
      assertFalse(deque.offer(4));
      assertFalse(deque.offerFirst(4));
      assertFalse(deque.offerLast(4));
      refuses(
          IllegalStateException.class,
          () -> deque.add(4),
          () -> deque.addFirst(4),
          () -> deque.addLast(4),
          () -> deque.push(4));
    }
  }

  @Test
  void addsAllElementsOfACollectionOrNone() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, "a", 3, 0);
      Collection<Integer> itself = deque;
      refuses(IllegalArgumentException.class, () -> deque.addAll(itself));
      refuses(NullPointerException.class, () -> deque.addAll(nothing()));
      refuses(NullPointerException.class, () -> deque.addAll(Arrays.asList(1, null)));
      refuses(IllegalStateException.class, () -> deque.addAll(List.of(1, 2, 3)));
      assertEquals(List.of(0), List.copyOf(deque));
      assertFalse(deque.addAll(List.of()));
      assertTrue(deque.addAll(List.of(1, 2)));
      assertEquals(List.of(0, 1, 2), List.copyOf(deque));
    }
  }

  @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"}) // Justification: it is refused
  private static <T> T nothing() {
    return null;
  }

  @Test
  void refusesNullAndContainsNone() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, "a", 3, 0);
      refuses(
          NullPointerException.class,
          () -> deque.offer(nothing()),
          () -> deque.offerFirst(nothing()),
          () -> deque.offerLast(nothing()),
          () -> deque.add(nothing()),
          () -> deque.push(nothing()),
          () -> deque.offer(nothing(), 1, MINUTES),
          () -> deque.put(nothing()),
          () -> deque.putFirst(nothing()),
          () -> deque.putLast(nothing()),
          () -> deque.toArray((Object[]) nothing()),
          () -> deque.drainTo(nothing()),
          () -> deque.drainTo(nothing(), 0));
      assertFalse(deque.contains(nothing()));
      assertFalse(deque.remove(nothing()));
      assertFalse(deque.removeLastOccurrence(nothing()));
      assertEquals(List.of(0), List.copyOf(deque));
    }
  }

  @Test
  void givesItsElementsInOrderAtBothEnds() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, "a", 12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
      assertEquals(0, deque.peek());
      assertEquals(0, deque.peekFirst());
      assertEquals(11, deque.peekLast());
      assertEquals(0, deque.element());
      assertEquals(0, deque.getFirst());
      assertEquals(11, deque.getLast());
      assertEquals(0, deque.take());
      assertEquals(1, deque.takeFirst());
      assertEquals(11, deque.takeLast());
      assertEquals(2, deque.poll());
      assertEquals(3, deque.pollFirst());
      assertEquals(10, deque.pollLast());
      assertEquals(4, deque.poll(0, MILLISECONDS));
      assertEquals(5, deque.pollFirst(1, MINUTES));
      assertEquals(9, deque.pollLast(1, MINUTES));
      assertEquals(6, deque.pop());
      assertEquals(7, deque.removeFirst());
      assertEquals(8, deque.removeLast());
      assertNull(deque.peek());
      assertNull(deque.peekFirst());
      assertNull(deque.peekLast());
      assertNull(deque.poll());
      assertNull(deque.pollFirst());
      assertNull(deque.pollLast());
      assertNull(deque.poll(0, MILLISECONDS));
      assertNull(deque.pollFirst(0, MILLISECONDS));
      assertNull(deque.pollLast(0, MILLISECONDS));
      refuses(
          NoSuchElementException.class,
          deque::element,
          deque::getFirst,
          deque::getLast,
          deque::remove,
          deque::removeFirst,
          deque::removeLast,
          deque::pop);
    }
  }

  @Test
  void waitsNoLongerThanItsTime() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      var full = deque(stoa, "a", 1, 0);
      assertFalse(full.offer(1, 1, MILLISECONDS));
      assertFalse(full.offerFirst(1, 1, MILLISECONDS));
      assertFalse(full.offerLast(1, 1, MILLISECONDS));
      assertEquals(List.of(0), List.copyOf(full));
      var empty = deque(stoa, "b", 1);
      assertNull(empty.poll(1, MILLISECONDS));
      assertNull(empty.pollFirst(1, MILLISECONDS));
      assertNull(empty.pollLast(1, MILLISECONDS));
      assertTrue(empty.offer(1, 1, MINUTES));
    }
  }

  @Test
  void putsWaitForRoom() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      var deque = deque(stoa, "a", 1);
      deque.put(0);
      assertEquals(0, deque.take());
      deque.putFirst(1);
      var last =
          callers.submit(() -> {
            deque.putLast(2);
            return deque.offerFirst(3, 1, MINUTES);
          });
      assertEquals(1, deque.take());
      assertEquals(2, deque.take());
      assertTrue(last.get());
      var drained = new ArrayList<Integer>();
      var active =
          callers.submit(() -> {
            deque.put(4);
            return true;
          });
      while (drained.size() < 2) {
        var _ = deque.drainTo(drained);
      }
      assertTrue(active.get());
      assertEquals(List.of(3, 4), drained);
    }
  }

  @Test
  void takesWaitForAnElement() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      var deque = deque(stoa, "a", 2);
      var taken = callers.submit(deque::take);
      assertTrue(deque.offer(1, 1, MINUTES));
      assertEquals(1, taken.get());
      var first = callers.submit(() -> deque.pollFirst(1, MINUTES));
      assertTrue(deque.offerFirst(2, 1, MINUTES));
      assertEquals(2, first.get());
      var last = callers.submit(() -> deque.pollLast(1, MINUTES));
      assertTrue(deque.offerLast(3, 1, MINUTES));
      assertEquals(3, last.get());
      assertTrue(deque.isEmpty());
    }
  }

  @Test
  void findsAndRemovesElements() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, "a", 9, 1, 2, 3, 2, 1);
      var other = deque(stoa, "b", 9, 2, 3);
      assertTrue(deque.contains(3));
      assertFalse(deque.contains(4));
      assertTrue(deque.containsAll(other));
      assertFalse(other.containsAll(deque));
      assertTrue(deque.removeFirstOccurrence(1));
      assertFalse(deque.removeFirstOccurrence(9));
      assertTrue(deque.removeLastOccurrence(2));
      assertFalse(deque.removeLastOccurrence(9));
      assertTrue(deque.remove((Object) 3));
      assertFalse(deque.remove((Object) 3));
      assertTrue(deque.add(5));
      assertEquals(List.of(2, 1, 5), List.copyOf(deque));
      assertTrue(deque.retainAll(List.of(2, 5, 6)));
      assertFalse(deque.retainAll(List.of(2, 5, 6)));
      assertEquals(List.of(2, 5), List.copyOf(deque));
      assertTrue(deque.removeAll(other));
      assertFalse(deque.removeAll(other));
      assertEquals(List.of(5), List.copyOf(deque));
      deque.clear();
      assertTrue(deque.isEmpty());
      assertEquals(9, deque.remainingCapacity());
      assertTrue(deque.add(7));
    }
  }

  @Test
  void arraysHaveTheElementsInOrder() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, "a", 3, 2, 1, 0);
      assertArrayEquals(new Object[] {2, 1, 0}, deque.toArray());
      var room = new Integer[3];
      assertEquals(room, deque.toArray(room));
      assertArrayEquals(new Integer[] {2, 1, 0}, room);
      assertArrayEquals(new Integer[] {2, 1, 0}, deque.toArray(new Integer[0]));
      Object[] texts = new String[3];
      refuses(ArrayStoreException.class, () -> deque.toArray(texts));
    }
  }

  @Test
  void iteratesInOrderAndRemovesThereby() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, "a", 3, 0, 1, 2);
      assertFalse(deque(stoa, "b", 1).iterator().hasNext());
      var seen = new ArrayList<Integer>();
      deque.iterator().forEachRemaining(seen::add);
      assertEquals(List.of(0, 1, 2), seen);
      refuses(NoSuchElementException.class, () -> deque(stoa, "b", 1).iterator().next());
      Iterator<Integer> each = deque.iterator();
      assertEquals(0, each.next());
      assertEquals(1, each.next());
      each.remove();
      assertEquals(2, each.next());
      assertEquals(List.of(0, 2), List.copyOf(deque));
      Iterator<Integer> back = deque.descendingIterator();
      assertEquals(2, back.next());
      back.remove();
      assertEquals(0, back.next());
      assertFalse(back.hasNext());
      assertEquals(List.of(0), List.copyOf(deque));
    }
  }

  @Test
  void anIteratorGoesOnAfterChanges() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, "a", 3, 0, 1);
      Iterator<Integer> each = deque.iterator();
      assertEquals(0, each.next());
      assertEquals(0, deque.remove());
      assertTrue(deque.add(2));
      assertEquals(1, each.next());
    }
  }

  @Test
  void drainsIntoAnotherCollection() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var deque = deque(stoa, "a", 3, 0, 1, 2);
      var drained = new ArrayList<Integer>();
      assertEquals(0, deque.drainTo(drained, 0));
      assertEquals(0, deque.drainTo(drained, -1));
      assertEquals(2, deque.drainTo(drained, 2));
      assertEquals(1, deque.drainTo(drained, 9));
      assertEquals(List.of(0, 1, 2), drained);
      assertTrue(deque.isEmpty());
      assertEquals(0, deque.drainTo(drained));
      assertTrue(deque.addAll(List.of(3, 4)));
      assertEquals(2, deque.drainTo(drained));
      assertEquals(List.of(0, 1, 2, 3, 4), drained);
      refuses(
          IllegalArgumentException.class,
          () -> deque.drainTo(deque),
          () -> deque.drainTo(deque, 1));
    }
  }
}
