package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.store.Script.bytes;
import static stoa.store.Script.key;
import static stoa.store.Script.lines;
import static stoa.store.Script.put;
import static stoa.store.Script.text;

import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import stoa.CallFailed;
import stoa.DeadlineExceeded;
import stoa.base.Existence;
import stoa.storage.disk.MemoryDisk;
import stoa.store.calls.KeyEntry;
import stoa.store.calls.OngoingCall;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.past.Past;
import stoa.store.running.Request;
import stoa.store.running.StoreTransaction;
import stoa.store.threads.Threads;

/// Calls that end before they would, by a time limit of their own or by an operator.
@Timeout(60)
class IsolationTest {
  private static final Existence ANY = new Existence.Any(null);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Duration SHORT = Duration.ofMillis(120);

  private final MemoryDisk disk = new MemoryDisk(256 << 20);

  private Store open() {
    return Script.open(disk, Threads.real(), LONG, 64 << 20);
  }

  private static Request begin(Store store, String name, String line) {
    return store.putAsync(store.target(key(name)), Put.of(bytes(line)), Terms.expecting(ANY));
  }

  private static Request begin(Store store, String name, String line, Duration timeMax) {
    return store.putAsync(
        store.target(key(name)), Put.of(bytes(line)), Terms.expecting(ANY).within(timeMax));
  }

  private static String answer(Request request) {
    while (!request.isDone()) Thread.onSpinWait();
    return text(request.answer().encoded());
  }

  /// Waits until there is such a call.
  private static OngoingCall call(Store store, Predicate<OngoingCall> such) {
    while (true) {
      for (OngoingCall call : store.calls(100)) {
        if (such.test(call)) return call;
      }
      Thread.onSpinWait();
    }
  }

  private static OngoingCall call(Store store, String name, OngoingCall.Progress progress) {
    return call(store, call -> call.key().equals(key(name)) && call.progress() == progress);
  }

  private static void awaitNoCalls(Store store) {
    while (!store.calls(100).isEmpty()) Thread.onSpinWait();
  }

  private static long takenBack(Store store, String name) {
    return store.events(key(name), 1, Long.MAX_VALUE).stream()
        .filter(event -> event.event() instanceof KeyEntry.What.TakenBack)
        .count();
  }

  @Test
  void takesARunBackThatOutlastsItsOwnTime() {
    try (var store = open()) {
      put(store, "k", "a");
      var late =
          store.put(
              store.target(key("k")), Put.of(bytes("spin")), Terms.expecting(ANY).within(SHORT));
      assertThrows(DeadlineExceeded.class, late::answer);
      assertEquals("2:b", put(store, "k", "b"));
      assertEquals(1, takenBack(store, "k"));
      awaitNoCalls(store); // its thread has come back
    }
    try (var store = open()) {
      assertEquals("a,b", lines(store, "k")); // the loop does not run again
    }
  }

  @Test
  void logsNothingOfACallWhoseTimeIsOver() {
    try (var store = open()) {
      put(store, "k", "a");
      long position = store.position(key("k"));
      var late =
          store.put(
              store.target(key("k")),
              Put.of(bytes("b")),
              Terms.expecting(ANY).within(Duration.ZERO));
      assertThrows(DeadlineExceeded.class, late::answer);
      assertEquals(position, store.position(key("k")));
      assertEquals(
          "2:c",
          text(
              store
                  .put(
                      store.target(key("k")),
                      Put.of(bytes("c")),
                      Terms.expecting(ANY).within(Duration.ofMinutes(1)))
                  .answer()
                  .encoded()));
    }
  }

  @Test
  void takesAPutBackThatWaitsForLongerThanItsTime() {
    try (var store = open()) {
      Request first = begin(store, "k", "spin");
      var _ = call(store, "k", OngoingCall.Progress.RUNNING);
      Request second = begin(store, "k", "never to be seen", SHORT);
      Request third = begin(store, "k", "c");
      assertThrows(DeadlineExceeded.class, () -> answer(second));
      assertFalse(first.isDone());
      assertTrue(store.cancel(call(store, "k", OngoingCall.Progress.RUNNING).id()));
      assertThrows(CallFailed.class, () -> answer(first));
      // Its own put was to begin the key, which therefore is absent.
      assertThrows(stoa.Gone.class, () -> answer(third));
      assertEquals("1:d", put(store, "k", "d"));
      assertEquals(2, takenBack(store, "k"));
    }
    try (var store = open()) {
      assertEquals("d", lines(store, "k"));
    }
  }

  @Test
  void executesWhatWaitsBehindAPutThatWasTakenBack() {
    try (var store = open()) {
      put(store, "k", "a");
      Request first = begin(store, "k", "spin");
      var _ = call(store, "k", OngoingCall.Progress.RUNNING);
      Request second = begin(store, "k", "never to be seen", SHORT);
      Request third = begin(store, "k", "c");
      assertThrows(DeadlineExceeded.class, () -> answer(second));
      assertTrue(store.cancel(call(store, "k", OngoingCall.Progress.RUNNING).id()));
      assertThrows(CallFailed.class, () -> answer(first));
      assertEquals("2:c", answer(third));
      assertEquals("a,c", lines(store, "k"));
      for (long version = 1; version <= store.position(key("k")); version++) {
        var past = store.past(key("k"), version).get("lines", ANY, Pace.SHORT);
        assertTrue(List.of("a", "a,c").contains(text(past.encoded())));
      }
    }
    try (var store = open()) {
      assertEquals("a,c", lines(store, "k"));
      assertEquals("3:d", put(store, "k", "d"));
    }
  }

  @Test
  void endsQuestionsThatTakeLongerThanTheirTime() {
    try (var store = open()) {
      put(store, "k", "a");
      var target = store.target(key("k"));
      assertThrows(
          DeadlineExceeded.class,
          () -> store.get(target, "spin", Terms.expecting(ANY).within(SHORT)).answer());
      Request first = begin(store, "k", "spin");
      var _ = call(store, "k", OngoingCall.Progress.RUNNING);
      Request second =
          store.getAsync(target, "lines", Terms.expecting(ANY).at(Pace.SHORT).within(SHORT));
      assertThrows(DeadlineExceeded.class, () -> answer(second));
      assertTrue(store.cancel(call(store, "k", OngoingCall.Progress.RUNNING).id()));
      assertThrows(CallFailed.class, () -> answer(first));
      assertEquals("a", lines(store, "k"));
    }
  }

  @Test
  void endsQuestionsToViewsAndToThePast() {
    try (var store = open()) {
      put(store, "k", "a");
      put(store, "k", "b");
      var follower = store.follow(store.target(key("k")));
      assertThrows(DeadlineExceeded.class, () -> follower.now("spin", ANY, SHORT, (_, _) -> {}));
      assertThrows(DeadlineExceeded.class, () -> follower.seen("spin", ANY, SHORT, (_, _) -> {}));
      assertEquals("a,b", text(follower.now("lines", ANY, SHORT, (_, _) -> {}).answer().encoded()));
      Past past = store.past(key("k"), 1).within(SHORT);
      assertThrows(DeadlineExceeded.class, () -> past.get("spin", ANY, Pace.LONG));
      assertEquals("a", text(past.get("lines", ANY, Pace.LONG).encoded()));
      awaitNoCalls(store);
    }
  }

  @Test
  void endsACallOfATransactionThatRunsTooLong() {
    try (var store = Script.open(disk, Threads.real(), SHORT, 64 << 20)) {
      put(store, "k", "a");
      var bounds =
          new StoreTransaction.Bounds(StoreTransaction.Access.WRITES, Long.MAX_VALUE, 10, 1 << 20);
      try (StoreTransaction transaction = store.begin(bounds)) {
        assertThrows(
            DeadlineExceeded.class,
            () -> transaction.put(store.target(key("k")), bytes("spin"), ANY, Pace.LONG));
      }
      awaitNoCalls(store);
      assertEquals("a", lines(store, "k"));
    }
  }

  @Test
  void toldACallerThatWhatItCalledWasCancelled() {
    try (var store = open()) {
      Request outer = begin(store, "a", "call b spin");
      OngoingCall calling = call(store, "a", OngoingCall.Progress.CALLING);
      assertEquals(key("b"), calling.callsKey());
      OngoingCall inner = call(store, "b", OngoingCall.Progress.RUNNING);
      assertEquals(1, inner.depth());
      assertEquals("spin", text(java.util.Objects.requireNonNull(inner.value())));
      assertTrue(store.cancel(inner.id()));
      assertEquals("1:CallFailed", answer(outer));
      assertFalse(store.cancel(inner.id()));
    }
  }

  @Test
  void cancelsACallThatWaitsForAnotherAndOneThatWaitsForItsTurn() {
    try (var store = open()) {
      Request outer = begin(store, "a", "call b spin");
      var _ = call(store, "b", OngoingCall.Progress.RUNNING);
      Request behind = begin(store, "b", "x");
      assertTrue(store.cancel(call(store, "b", OngoingCall.Progress.WAITING).id()));
      assertThrows(CallFailed.class, () -> answer(behind));
      assertTrue(store.cancel(call(store, "a", OngoingCall.Progress.CALLING).id()));
      assertThrows(CallFailed.class, () -> answer(outer));
      assertTrue(store.cancel(call(store, "b", OngoingCall.Progress.RUNNING).id()));
      awaitNoCalls(store);
      assertEquals("", lines(store, "a"));
      assertEquals("", lines(store, "b"));
    }
    try (var store = open()) {
      assertEquals("", lines(store, "a"));
      assertEquals("", lines(store, "b"));
    }
  }

  @Test
  void givesNestedCallsTheTimeOfTheirCaller() {
    try (var store = open()) {
      Request outer = begin(store, "a", "call b spin", SHORT);
      while (!outer.isDone()) Thread.onSpinWait();
      awaitNoCalls(store);
      assertEquals("", lines(store, "b"));
      assertEquals(1, takenBack(store, "b"));
    }
  }
}
