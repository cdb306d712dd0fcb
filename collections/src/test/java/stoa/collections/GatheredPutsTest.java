package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import stoa.Ref;
import stoa.Unavailable;

class GatheredPutsTest {
  private static final Ref<?> LEAF = new Ref<>("leaf", 1);

  private final GatheredPuts gathered = new GatheredPuts();

  // Guarded by the turn of the leaf.
  private final List<List<Object>> made = new ArrayList<>();

  private static List<Object> keys(List<GatheredPuts.Waiting> puts) {
    return puts.stream().map(GatheredPuts.Waiting::key).toList();
  }

  /// Makes a first put, and the others while it is made.
  private List<Future<Boolean>> putDuringAnother(
      int others, Predicate<List<GatheredPuts.Waiting>> together) throws Exception {
    var results = new ArrayList<Future<Boolean>>();
    var begun = new CountDownLatch(1);
    var waiting = new ArrayList<Thread>();
    try (var threads =
        Executors.newFixedThreadPool(
            others + 1,
            task -> {
              var thread = new Thread(task);
              synchronized (waiting) {
                waiting.add(thread);
              }
              return thread;
            })) {
      results.add(
          threads.submit(() ->
              gathered.put(
                  LEAF,
                  0,
                  "value",
                  puts -> {
                    made.add(keys(puts));
                    begun.countDown();
                    while (!areWaiting(waiting, others)) Thread.onSpinWait();
                    return true;
                  })));
      begun.await();
      for (int i = 1; i <= others; i++) {
        int key = i;
        results.add(threads.submit(() -> gathered.put(LEAF, key, "value", together)));
      }
      for (var result : results) {
        while (!result.isDone()) Thread.onSpinWait();
      }
    }
    return results;
  }

  private static boolean areWaiting(List<Thread> threads, int count) {
    synchronized (threads) {
      return threads.stream().filter(one -> one.getState() == Thread.State.WAITING).count()
          == count;
    }
  }

  @Test
  void putsThatComeDuringOneGoTogetherAfterIt() throws Exception {
    var results =
        putDuringAnother(
            20,
            puts -> {
              made.add(keys(puts));
              return !keys(puts).contains(20);
            });
    assertEquals(List.of(1, 8, 8, 4), made.stream().map(List::size).toList());
    var all = new TreeSet<Object>();
    made.forEach(all::addAll);
    assertEquals(21, all.size());
    for (List<Object> together : made) {
      boolean isMade = !together.contains(20);
      for (Object key : together) assertEquals(isMade, results.get((int) key).get());
    }
  }

  @Test
  void putsThatAreMadeTogetherFailTogether() throws Exception {
    var failure = new Unavailable("away");
    var results =
        putDuringAnother(
            3,
            _ -> {
              throw failure;
            });
    assertTrue(results.getFirst().get());
    for (var result : results.subList(1, 4)) {
      Exception thrown = assertThrows(ExecutionException.class, result::get);
      assertSame(failure, thrown.getCause());
    }
    assertTrue(gathered.put(LEAF, 4, "value", puts -> made.add(keys(puts))));
    assertEquals(List.of(List.of(0), List.of(4)), made);
  }
}
