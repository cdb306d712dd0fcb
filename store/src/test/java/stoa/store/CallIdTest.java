package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static stoa.store.Script.bytes;
import static stoa.store.Script.key;
import static stoa.store.Script.text;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.base.Answer;
import stoa.base.CallId;
import stoa.base.Existence;
import stoa.storage.disk.MemoryDisk;
import stoa.store.calls.PriorOutcome;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.Request;

class CallIdTest {
  private static final Existence ANY = new Existence.Any(null);
  private static final Duration LONG = Duration.ofSeconds(10);

  private final MemoryDisk disk = new MemoryDisk(64 << 20);

  private static String put(Store store, String name, String line, CallId id) {
    var done = new CompletableFuture<Request>();
    var target = store.target(key(name));
    store
        .putAsync(target, Put.of(bytes(line)), Terms.expecting(ANY).within(LONG).of(id))
        .whenDone(done::complete);
    return text(done.join().answer().encoded());
  }

  private static String answer(@Nullable PriorOutcome earlier) {
    Answer answer = Objects.requireNonNull(earlier).answer();
    return answer == null ? "deleted" : text(answer.encoded());
  }

  @Test
  void aPutOfAClientIsFoundAgainWithItsAnswerAfterARestart() {
    long since;
    try (var store = Script.open(disk)) {
      Script.put(store, "k", "before");
      since = store.moment();
      assertEquals("2:a", put(store, "k", "a", new CallId(7, 1)));
      assertEquals("3:b", put(store, "k", "b", new CallId(7, 2)));
      Script.put(store, "k", "after");
    }
    try (var store = Script.open(disk)) {
      assertEquals("2:a", answer(store.earlier(key("k"), new CallId(7, 1), since)));
      assertEquals("3:b", answer(store.earlier(key("k"), new CallId(7, 2), since)));
      assertNull(store.earlier(key("k"), new CallId(7, 3), since));
      assertNull(store.earlier(key("k"), new CallId(8, 1), since));
      assertNull(store.earlier(key("other"), new CallId(7, 1), since));
      assertEquals("before,a,b,after", Script.lines(store, "k"));
    }
  }

  @Test
  void aPutThatBeganItsKeyAndOneThatCalledAnotherAreFoundAgain() {
    try (var store = Script.open(disk)) {
      put(store, "k", "first", new CallId(7, 1));
      put(store, "k", "call other x", new CallId(7, 2));
    }
    try (var store = Script.open(disk)) {
      assertEquals("1:first", answer(store.earlier(key("k"), new CallId(7, 1), 0)));
      assertEquals("2:1:x", answer(store.earlier(key("k"), new CallId(7, 2), 0)));
      assertEquals("x", Script.lines(store, "other"));
    }
  }

  @Test
  void aDeletionIsFoundAgainWithTheGenerationThatItEnded() {
    long generation;
    try (var store = Script.open(disk)) {
      Script.put(store, "k", "a");
      generation = store.generation(key("k"));
      var done = new CompletableFuture<Request>();
      store
          .deleteAsync(store.target(key("k")), Terms.expecting(ANY).of(new CallId(7, 1)))
          .whenDone(done::complete);
      assertEquals(generation, done.join().number());
    }
    try (var store = Script.open(disk)) {
      PriorOutcome earlier = store.earlier(key("k"), new CallId(7, 1), 0);
      assertEquals("deleted", answer(earlier));
      assertEquals(generation, Objects.requireNonNull(earlier).generation());
    }
  }
}
