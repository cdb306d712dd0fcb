package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.DeadlineExceeded;
import stoa.Gone;
import stoa.NotShareable;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaException;
import stoa.spi.Forkable;

/// Calls that wait for conditions of their objects.
class AwaitTest {
  @Shared(name = "await.Box")
  static class Box {
    private final ArrayDeque<String> items = new ArrayDeque<>();
    private int taken;

    public void offer(String item) {
      items.add(item);
    }

    @Awaits
    public String take() {
      taken++; // a run that waits has no effect, wherever it changes the object
      Call.await(() -> !items.isEmpty());
      return items.remove();
    }

    @Awaits
    public String takeStubbornly() {
      taken++;
      try {
        Call.await(() -> !items.isEmpty());
      } catch (Throwable ignored) {
        taken += 100;
      }
      return items.isEmpty() ? "none" : items.remove();
    }

    @Awaits
    public String takeLong(int length) {
      Call.await(() -> !items.isEmpty() && items.peek().length() >= length);
      return items.remove();
    }

    public String takeUnmarked() {
      Call.await(() -> !items.isEmpty());
      return items.remove();
    }

    public String takeFrom(Box other) {
      return other.take();
    }

    @Awaits
    public void countAndWait(Box other) {
      other.offer("x");
      Call.await(() -> false);
    }

    @Awaits
    public void waitFor(Box other) {
      Call.await(() -> other.taken() > 0);
    }

    @Accessor
    public int taken() {
      return taken;
    }

    @Accessor
    public List<String> items() {
      return new ArrayList<>(items);
    }
  }

  @Shared(name = "await.Counter")
  static class Counter implements Forkable<Counter> {
    private int value;
    private int calls;

    public void add(int amount) {
      value += amount;
    }

    @Awaits
    public int take(int amount) {
      calls++;
      Call.await(() -> value >= amount);
      value -= amount;
      return calls;
    }

    @Accessor
    public List<Integer> seen() {
      return List.of(value, calls);
    }

    @Override
    public Counter fork() {
      var copy = new Counter();
      copy.value = value;
      copy.calls = calls;
      return copy;
    }
  }

  @Shared(name = "await.Party")
  static class Party {
    private final List<String> present = new ArrayList<>();
    private boolean open;

    public void come(String name) {
      present.add(name);
    }

    @Awaits(left = "leave")
    public boolean stay(String name, long dances) {
      Call.await(() -> open);
      return true;
    }

    public void leave(String name, long dances) {
      present.remove(name);
    }

    public void open() {
      open = true;
    }

    @Accessor
    public List<String> present() {
      return List.copyOf(present);
    }
  }

  @Shared(name = "await.Astray")
  static class Astray {
    private boolean open;

    @Awaits(left = "leave")
    public void stay(String name) {
      Call.await(() -> open);
    }

    public void leave(long name) {
      open = true;
    }
  }

  @Shared(name = "await.Asked")
  static class Asked {
    @Awaits
    @Accessor
    public int value() {
      return 1;
    }
  }

  private static Stoa open() {
    return Stoa.open("memory:");
  }

  /// Waits until an object has a version: a call that waits has then run there.
  private static void reach(Stoa stoa, Object shared, long version) {
    while (stoa.history(shared).version() < version) Thread.onSpinWait();
  }

  private static Throwable failure(CompletableFuture<?> call) {
    return Objects.requireNonNull(assertThrows(CompletionException.class, call::join).getCause());
  }

  @Test
  void aCallGoesOnWhenALaterCallMakesItsConditionTrue() {
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      CompletableFuture<String> taken = stoa.async(box, Box::take);
      reach(stoa, box, 1);
      box.offer("apple");
      assertEquals("apple", taken.join());
      assertEquals(List.of(), box.items());
      assertEquals(1, box.taken());
    }
  }

  @Test
  void aCallWhoseConditionIsTrueDoesNotWait() {
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      box.offer("apple");
      assertEquals("apple", box.take());
      assertEquals(2, stoa.history(box).version());
    }
  }

  @Test
  void aRunThatWaitsLeavesNoTraceInTheObject() {
    try (Stoa stoa = open()) {
      Counter counter = stoa.get(Counter.class, "a");
      CompletableFuture<Integer> taken = stoa.async(counter, c -> c.take(3));
      reach(stoa, counter, 1);
      counter.add(2);
      assertEquals(List.of(2, 0), counter.seen());
      counter.add(2);
      assertEquals(1, taken.join());
      assertEquals(List.of(1, 1), counter.seen());

      Box box = stoa.get(Box.class, "a");
      CompletableFuture<String> stubborn = stoa.async(box, Box::takeStubbornly);
      reach(stoa, box, 1);
      assertEquals(0, box.taken());
      box.offer("apple");
      assertEquals("apple", stubborn.join());
      assertEquals(1, box.taken());
    }
  }

  @Test
  void eachWaitingCallHasAConditionOfItsOwn() {
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      CompletableFuture<String> longer = stoa.async(box, b -> b.takeLong(5));
      reach(stoa, box, 1);
      CompletableFuture<String> any = stoa.async(box, Box::take);
      box.offer("fig");
      assertEquals("fig", any.join());
      box.offer("cherry");
      assertEquals("cherry", longer.join());
    }
  }

  @Test
  void everyItemIsTakenOnce() {
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      var calls = new ArrayList<CompletableFuture<String>>();
      Set<String> offered = new TreeSet<>();
      for (int i = 0; i < 40; i++) calls.add(stoa.async(box, Box::take));
      for (int i = 0; i < 40; i++) {
        offered.add("item " + i);
        box.offer("item " + i);
      }
      Set<String> taken = new TreeSet<>();
      for (var call : calls) taken.add(call.join());
      assertEquals(offered, taken);
      assertEquals(40, box.taken());
    }
  }

  @Test
  void aTransactionThatChangesTheObjectWakesItsCalls() {
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      CompletableFuture<String> taken = stoa.async(box, Box::take);
      reach(stoa, box, 1);
      stoa.transact(() -> {
        box.offer("apple");
        box.offer("pear");
      });
      assertEquals("apple", taken.join());
      assertEquals(List.of("pear"), box.items());
    }
  }

  @Test
  void aCallWaitsForNoLongerThanItsTime() {
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      box.offer("pear");
      assertEquals("pear", box.take()); // the first run of a program takes long
      Box hasty = stoa.within(Duration.ofMillis(300), box);
      var late = assertThrows(DeadlineExceeded.class, hasty::take);
      assertTrue(String.valueOf(late.getMessage()).contains("take()"), late::toString);
      box.offer("apple");
      assertEquals(List.of("apple"), box.items());
      assertEquals("apple", hasty.take());
    }
  }

  @Test
  void aCallMayWaitForVeryLong() {
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      box.offer("pear");
      Box patient = stoa.within(Duration.ofSeconds(Long.MAX_VALUE), box);
      assertEquals(List.of("pear"), patient.items());
      assertEquals("pear", patient.take());
    }
  }

  @Test
  void theObjectLearnsWhenACallerLeavesThatWaits() {
    try (Stoa stoa = open()) {
      Party party = stoa.get(Party.class, "a");
      party.come("ann");
      party.come("bob");
      CompletableFuture<Boolean> ann = stoa.async(party, p -> p.stay("ann", 1));
      Party hasty = stoa.within(Duration.ofMillis(50), party);
      assertThrows(DeadlineExceeded.class, () -> hasty.stay("bob", 1));
      assertEquals(List.of("ann"), party.present());
      party.open();
      assertTrue(ann.join());
      assertTrue(hasty.stay("bob", 2));
      assertEquals(List.of("ann"), party.present());
      var astray = assertThrows(NotShareable.class, () -> stoa.get(Astray.class, "a"));
      assertTrue(String.valueOf(astray.getMessage()).contains("leave"), astray::toString);
    }
  }

  @Test
  void aWaitingCallIsTakenBackWithItsFuture() {
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      CompletableFuture<String> waiting = stoa.async(box, Box::take);
      reach(stoa, box, 1);
      assertTrue(waiting.cancel(false));
      CompletableFuture<String> next = stoa.async(box, Box::take);
      box.offer("apple");
      assertEquals("apple", next.join());

      // A call that is canceled at once runs once, and does not wait.
      assertTrue(stoa.async(box, Box::take).cancel(false));
      CompletableFuture<String> late = stoa.async(box, Box::take);
      assertTrue(late.completeExceptionally(new TimeoutException())); // as by orTimeout
      box.offer("pear");
      assertEquals(List.of("pear"), box.items());
      assertEquals(1, box.taken());
    }
  }

  @Test
  void theObjectLearnsWhenACallerCancelsItsWaitingCall() {
    try (Stoa stoa = open()) {
      Party party = stoa.get(Party.class, "a");
      party.come("ann");
      CompletableFuture<Boolean> ann = stoa.async(party, p -> p.stay("ann", 1));
      assertTrue(ann.cancel(false));
      while (!party.present().isEmpty()) Thread.onSpinWait();
    }
  }

  @Test
  void aCallThatHasGoneOnStandsWhenItsFutureIsCanceled() {
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      box.offer("apple");
      CompletableFuture<String> taken = stoa.async(box, Box::take);
      reach(stoa, box, 2);
      taken.cancel(false);
      assertEquals(List.of(), box.items());
      assertEquals(1, box.taken());
    }
  }

  @Test
  void aCallThatWaitsEndsWithItsObject() {
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      CompletableFuture<String> taken = stoa.async(box, Box::take);
      reach(stoa, box, 1);
      stoa.delete(box);
      assertInstanceOf(Gone.class, failure(taken));
    }
  }

  @Test
  void aCallThatWaitsEndsWithTheStoreOfItsCaller() {
    CompletableFuture<String> taken;
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      taken = stoa.async(box, Box::take);
      reach(stoa, box, 1);
    }
    assertInstanceOf(StoaException.class, failure(taken));
  }

  @Test
  void onlyAMarkedMethodThatACallerOutsideCallsMayWait() {
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      Box other = stoa.get(Box.class, "b");
      assertThrows(IllegalStateException.class, box::takeUnmarked);
      assertThrows(IllegalStateException.class, () -> box.takeFrom(other));
      assertThrows(IllegalStateException.class, () -> stoa.transact(() -> box.take()));
      assertThrows(IllegalStateException.class, () -> box.countAndWait(other));
      assertThrows(IllegalStateException.class, () -> box.waitFor(other));
      assertThrows(NotShareable.class, () -> stoa.get(Asked.class, "a"));
    }
  }

  @Test
  void theHistoryOfAnObjectHasItsWaitingCallsAndTheirRuns() {
    try (Stoa stoa = open()) {
      Box box = stoa.get(Box.class, "a");
      CompletableFuture<String> taken = stoa.async(box, Box::take);
      reach(stoa, box, 1);
      box.offer("apple");
      taken.join();
      var history = stoa.history(box);
      assertEquals(3, history.version());
      assertEquals(List.of(), history.at(1).items());
      assertEquals(List.of("apple"), history.at(2).items());
      assertEquals(1, history.at(3).taken());
      assertEquals(0, history.at(2).taken());
    }
  }
}
