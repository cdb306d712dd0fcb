package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.store.Script.key;
import static stoa.store.Script.put;
import static stoa.store.Script.text;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import stoa.Gone;
import stoa.base.Existence;
import stoa.storage.disk.MemoryDisk;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.past.LocalView;
import stoa.store.threads.Threads;

class FollowerTest {
  private static final Existence ANY = new Existence.Any(null);

  private final MemoryDisk disk = new MemoryDisk(256 << 20);

  private static LocalView follow(Store store, String name) {
    return store.follow(store.target(key(name)));
  }

  private static String now(LocalView follower) {
    return text(follower.now("lines", ANY).answer().encoded());
  }

  private static String seen(LocalView follower) {
    return text(follower.seen("lines", ANY).answer().encoded());
  }

  private static int count(String lines) {
    return lines.isEmpty() ? 0 : lines.split(",").length;
  }

  @Test
  void followsPutsDeletionsAndBeginnings() {
    try (var store = Script.open(disk)) {
      LocalView local = follow(store, "k");
      LocalView cached = follow(store, "k");
      assertEquals("", now(local));
      put(store, "k", "a");
      put(store, "k", "call other x");
      assertEquals("a,1:x", now(local));
      assertEquals("a,1:x", seen(cached));
      store.delete(store.target(key("k")), Terms.expecting(ANY));
      assertEquals("", now(local));
      assertEquals(0, local.now("lines", ANY).generation());
      assertThrows(Gone.class, () -> local.now("lines", new Existence.Undeleted(null)));
      put(store, "k", "b");
      assertEquals("b", now(local));
      assertEquals("b", seen(cached));
      assertEquals(store.generation(key("k")), local.now("lines", ANY).generation());
    }
    try (var store = Script.open(disk)) {
      assertEquals("b", now(follow(store, "k")));
      assertEquals("b", seen(follow(store, "k")));
    }
  }

  @Test
  void beginsAtACheckpointAndPassesCheckpoints() {
    try (var store = Script.open(disk)) {
      LocalView early = follow(store, "k");
      String line = "x".repeat(900);
      for (int i = 0; i < 300; i++) {
        put(store, "k", line + i);
        if (i % 7 == 0) assertEquals(i + 1, count(now(early)));
      }
      assertTrue(store.engine().streams().lastCheckpoint(key("k").stream(), 300) != null);
      assertEquals(now(early), now(follow(store, "k")));
      assertEquals(Script.lines(store, "k"), now(early));
    }
  }

  @Test
  void seesWhatWasAnsweredBefore() throws Exception {
    try (var store = Script.open(disk, Threads.real(), Duration.ofSeconds(10), 40_000);
        var threads = Executors.newFixedThreadPool(4)) {
      var answered = new AtomicInteger();
      var ended = new AtomicBoolean();
      var readers = new ArrayList<Future<Integer>>();
      LocalView shared = follow(store, "k");
      for (int i = 0; i < 3; i++) {
        boolean own = i == 0;
        readers.add(
            threads.submit(() -> {
              LocalView follower = own ? follow(store, "k") : shared;
              int reads = 0;
              while (!ended.get()) {
                int before = answered.get();
                int now = count(now(follower));
                assertTrue(now >= before, now + " is older than " + before);
                int seen = count(seen(follower));
                assertTrue(seen >= now, seen + " is older than " + now);
                reads++;
              }
              return reads;
            }));
      }
      for (int i = 1; i <= 400; i++) {
        put(store, "k", "x");
        answered.set(i);
        put(store, "other" + i % 9, "y".repeat(2_000)); // takes the memory
      }
      ended.set(true);
      for (var reader : readers) assertTrue(reader.get() > 0);
    }
  }

  @Test
  void showsNoOlderStateThanWasSeenOfAnotherKey() throws Exception {
    try (var store = Script.open(disk);
        var threads = Executors.newFixedThreadPool(3)) {
      var ended = new AtomicBoolean();
      var readers = new ArrayList<Future<?>>();
      for (int i = 0; i < 2; i++) {
        readers.add(
            threads.submit(() -> {
              LocalView x = follow(store, "x");
              LocalView y = follow(store, "y");
              while (!ended.get()) {
                int seenX = count(seen(x));
                int seenY = count(seen(y));
                assertTrue(seenY >= seenX, "x at " + seenX + " and then y at " + seenY);
              }
              return null;
            }));
      }
      // y is always put to before x.
      for (int i = 0; i < 500; i++) {
        var first =
            store.putAsync(store.target(key("y")), Put.of(Script.bytes("n")), Terms.expecting(ANY));
        var second =
            store.putAsync(store.target(key("x")), Put.of(Script.bytes("n")), Terms.expecting(ANY));
        while (i % 5 == 0 && !(first.isDone() && second.isDone())) Thread.onSpinWait();
      }
      ended.set(true);
      for (var reader : readers) reader.get();
    }
  }

  @Test
  void seesWhatItsOwnCallsMadeOthersPut() {
    try (var store = Script.open(disk)) {
      LocalView other = follow(store, "other");
      for (int i = 1; i <= 50; i++) {
        put(store, "k", "call other x");
        assertEquals(i, count(seen(other)));
      }
    }
  }

  @Test
  void letsGoOfItsStateWhenMemoryIsShort() {
    try (var store = Script.open(disk, Threads.real(), Duration.ofSeconds(10), 40_000)) {
      var followers = new ArrayList<LocalView>();
      for (int i = 0; i < 100; i++) {
        put(store, "k" + i, "y".repeat(500));
        followers.add(follow(store, "k" + i));
      }
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) assertEquals(500, now(followers.get(i)).length());
      }
      assertTrue(store.engine().versions().keptBytes() <= 12_000);
      assertFalse(store.engine().versions().keptBytes() == 0);
    }
  }
}
