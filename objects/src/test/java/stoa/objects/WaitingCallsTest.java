package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Awaits;
import stoa.Call;
import stoa.CallFailed;
import stoa.Closed;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.spi.Forkable;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.running.WaitingCalls;
import stoa.store.threads.Threads;

/// The calls that wait in the store of this process.
class WaitingCallsTest {
  @Shared(name = "waiting.Places")
  static class Places {
    private int free;
    private int taken;

    public void add(int count) {
      free += count;
    }

    @Awaits(inOrder = true)
    public int take(int count) {
      Call.await(() -> free >= count);
      free -= count;
      return ++taken;
    }
  }

  /// A place for one item. Its puts may wait, too.
  @Shared(name = "waiting.Slot")
  static class Slot implements Forkable<Slot> {
    private @Nullable String item;

    @Awaits
    public void put(String next) {
      Call.await(() -> item == null);
      item = next;
    }

    @Awaits
    public String take() {
      Call.await(() -> item != null);
      String taken = Objects.requireNonNull(item);
      item = null;
      return taken;
    }

    @Override
    public Slot fork() {
      var copy = new Slot();
      copy.item = item;
      return copy;
    }
  }

  private static List<ObjectCall> awaiting(Stoa stoa) {
    return LocalService.of(stoa).calls(10_000).stream()
        .filter(call -> call.progress() == ObjectCall.Progress.AWAITING)
        .toList();
  }

  private static void awaitWaiting(Stoa stoa, int count) {
    while (awaiting(stoa).size() != count) Thread.onSpinWait();
  }

  private static Throwable failure(CompletableFuture<?> call) {
    return Objects.requireNonNull(assertThrows(CompletionException.class, call::join).getCause());
  }

  @Test
  void waitingCallsGoOnInTheOrderOfTheirArrival() {
    try (Stoa stoa = Stoa.open("memory:")) {
      AwaitTest.Box box = stoa.get(AwaitTest.Box.class, "a");
      var calls = new ArrayList<CompletableFuture<String>>();
      for (int i = 0; i < 100; i++) {
        calls.add(stoa.async(box, AwaitTest.Box::take));
        awaitWaiting(stoa, i + 1);
      }
      for (int i = 0; i < 100; i++) box.offer("item " + i);
      for (int i = 0; i < 100; i++) assertEquals("item " + i, calls.get(i).join());
      assertEquals(List.of(), awaiting(stoa));
    }
  }

  /// The latch that the conditions of [Stall] wait for.
  private static volatile CountDownLatch released = new CountDownLatch(0);

  /// Counted down when a condition of [Stall] is asked.
  private static volatile CountDownLatch asked = new CountDownLatch(0);

  /// A box whose conditions can be made slow.
  @Shared(name = "waiting.Stall")
  static class Stall {
    private final ArrayDeque<String> items = new ArrayDeque<>();

    public boolean offer(String item) {
      return items.add(item);
    }

    public int size() {
      return items.size();
    }

    @Awaits
    public String take() {
      Call.await(this::isFilled);
      return items.remove();
    }

    private boolean isFilled() {
      asked.countDown();
      try {
        released.await();
      } catch (InterruptedException stopped) {
        throw new IllegalStateException(stopped);
      }
      return !items.isEmpty();
    }
  }

  @Test
  void aChangeDuringALongSearchLetsTheFirstCallGoOn() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Stall stall = stoa.get(Stall.class, "a");
      var calls = new ArrayList<CompletableFuture<String>>();
      for (int i = 0; i < 200; i++) {
        calls.add(stoa.async(stall, Stall::take));
        awaitWaiting(stoa, i + 1);
      }
      var offers = new ArrayList<CompletableFuture<?>>();
      released = new CountDownLatch(1);
      try {
        asked = new CountDownLatch(1);
        offers.add(stoa.async(stall, Stall::size));
        while (asked.getCount() > 0) Thread.onSpinWait();
        offers.add(stoa.async(stall, s -> s.offer("apple")));
        // The offer is behind the question about the first calls, and before that about others.
        while (!isQueued(stoa, "offer")) Thread.onSpinWait();
      } finally {
        released.countDown();
      }
      assertEquals("apple", calls.getFirst().join());
      for (var offer : offers) offer.join();
      for (int i = 1; i < 200; i++) stall.offer("item " + i);
      for (int i = 1; i < 200; i++) assertEquals("item " + i, calls.get(i).join());
    }
  }

  private static boolean isQueued(Stoa stoa, String method) {
    return LocalService.of(stoa).calls(10_000).stream()
        .anyMatch(call ->
            call.progress() == ObjectCall.Progress.WAITING && call.method().startsWith(method));
  }

  @Test
  void aCallThatWaitsInOrderIsOvertakenByNone() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Places places = stoa.get(Places.class, "a");
      places.add(1);
      CompletableFuture<Integer> first = stoa.async(places, p -> p.take(3));
      awaitWaiting(stoa, 1);
      CompletableFuture<Integer> second = stoa.async(places, p -> p.take(1));
      awaitWaiting(stoa, 2); // although there is a place
      places.add(3);
      assertEquals(1, first.join());
      assertEquals(2, second.join());
    }
  }

  @Test
  void aCallGoesOnWhenTheOneThatHeldItIsCancelled() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Places places = stoa.get(Places.class, "a");
      places.add(1);
      CompletableFuture<Integer> first = stoa.async(places, p -> p.take(3));
      awaitWaiting(stoa, 1);
      ObjectCall held = awaiting(stoa).getFirst();
      CompletableFuture<Integer> second = stoa.async(places, p -> p.take(1));
      awaitWaiting(stoa, 2);
      assertTrue(LocalService.of(stoa).cancel(held.id()));
      assertInstanceOf(CallFailed.class, failure(first));
      assertEquals(1, second.join());
    }
  }

  @Test
  void anOperatorSeesAWaitingCallAndCancelsIt() {
    try (Stoa stoa = Stoa.open("memory:")) {
      AwaitTest.Box box = stoa.get(AwaitTest.Box.class, "a");
      CompletableFuture<String> taken = stoa.async(box, AwaitTest.Box::take);
      awaitWaiting(stoa, 1);
      ObjectCall waiting = awaiting(stoa).getFirst();
      assertEquals("take()", waiting.method());
      assertTrue(LocalService.of(stoa).cancel(waiting.id()));
      assertInstanceOf(CallFailed.class, failure(taken));
      box.offer("apple");
      assertEquals(List.of("apple"), box.items());
    }
  }

  @Test
  void aStoreThatClosesEndsItsWaitingCalls(@TempDir Path folder) {
    CompletableFuture<String> taken;
    String url = "file:" + folder.resolve("store");
    try (Stoa stoa = Stoa.open(url)) {
      AwaitTest.Box box = stoa.get(AwaitTest.Box.class, "a");
      taken = stoa.async(box, AwaitTest.Box::take);
      awaitWaiting(stoa, 1);
      box.offer("apple");
      assertEquals("apple", taken.join());
      taken = stoa.async(box, AwaitTest.Box::take);
      awaitWaiting(stoa, 1);
    }
    assertInstanceOf(Closed.class, failure(taken));
    try (Stoa stoa = Stoa.open(url)) {
      AwaitTest.Box box = stoa.get(AwaitTest.Box.class, "a");
      assertEquals(List.of(), box.items());
      assertEquals(1, box.taken());
      // The second one has an entry of its own unless the first one was still in the line.
      long entries = stoa.history(box).version();
      assertTrue(entries == 3 || entries == 4, entries + " entries");
    }
  }

  @Test
  void anObjectKeepsALimitOfWaitingCalls() {
    try (Stoa stoa = Stoa.open("memory:")) {
      AwaitTest.Box box = stoa.get(AwaitTest.Box.class, "a");
      var calls = new ArrayList<CompletableFuture<String>>();
      for (int i = 0; i < WaitingCalls.OF_KEY_MAX; i++) {
        calls.add(stoa.async(box, AwaitTest.Box::take));
      }
      awaitWaiting(stoa, WaitingCalls.OF_KEY_MAX);
      assertInstanceOf(LimitExceeded.class, failure(stoa.async(box, AwaitTest.Box::take)));
      for (int i = 0; i < calls.size(); i++) box.offer("item");
      for (var call : calls) assertEquals("item", call.join());
    }
  }

  @Test
  void objectsWithWaitingCallsStayWhileOthersLeaveMemory() {
    var limits = Limits.standard().withResidentBytesMax(1 << 16);
    try (Stoa stoa = Stoa.open(StoaConfig.of("memory:").withLimits(limits))) {
      AwaitTest.Box box = stoa.get(AwaitTest.Box.class, "a");
      CompletableFuture<String> taken = stoa.async(box, AwaitTest.Box::take);
      awaitWaiting(stoa, 1);
      for (int i = 0; i < 500; i++) stoa.get(AwaitTest.Box.class, i).offer("x".repeat(1_000));
      box.offer("apple");
      assertEquals("apple", taken.join());
    }
  }

  @Test
  void aPutForWhichATakeWaitsIsLoggedTogetherWithIt() {
    var device = Device.open(new MemoryDisk(64 << 20), DeviceConfig.standard());
    var config = StoaConfig.of("file:simulated");
    long fewest = Long.MAX_VALUE;
    try (Stoa stoa = EmbeddedEngine.open(config, () -> device, Clock.system(), Threads.real())) {
      Slot slot = stoa.get(Slot.class, "a");
      for (int i = 0; i < 50; i++) {
        CompletableFuture<String> taken = stoa.async(slot, Slot::take);
        awaitWaiting(stoa, 1);
        long before = device.stats().syncs();
        slot.put("item " + i);
        assertEquals("item " + i, taken.join());
        fewest =
            Math.min(fewest, device.stats().syncs() - before); // the note of an arrival adds one
      }
    }
    assertEquals(1, fewest);
  }
}
