package stoa.timers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.DurableTimer;
import stoa.Expires;
import stoa.Gone;
import stoa.History;
import stoa.KeyHandler;
import stoa.NotShareable;
import stoa.Placement;
import stoa.ShardedMap;
import stoa.Shared;
import stoa.Stoa;
import stoa.Unique;

/// Objects, keys and entries that end by themselves.
class ExpiryTest {
  private static final Duration SHORT = Duration.ofMillis(200);

  /// Ends after its last change.
  @Shared(name = "expiry.Cart")
  @Expires(value = 200, unit = TimeUnit.MILLISECONDS)
  public static class Cart {
    private int items;

    public int add() {
      return ++items;
    }

    public void move(Cart other) {
      items--;
      other.add();
    }

    @Accessor
    public int items() {
      return items;
    }
  }

  /// Ends after its creation.
  @Shared(name = "expiry.Offer")
  @Expires(value = 200, unit = TimeUnit.MILLISECONDS, since = Expires.Since.CREATION)
  public static class Offer {
    @SuppressWarnings("unused") // the index reads it
    @Unique
    private @Nullable String code;

    public void name(String name) {
      code = name;
    }
  }

  /// Stays for long.
  @Shared(name = "expiry.Draft")
  @Expires(value = 30, unit = TimeUnit.DAYS)
  public static class Draft {
    private int changes;

    public int change() {
      return ++changes;
    }
  }

  /// Cannot end.
  @Shared(name = "expiry.Placed", placement = Placement.CLIENT)
  @Expires(1)
  public static class Placed {}

  /// Never begins.
  @Shared(name = "expiry.Never")
  @Expires(0)
  public static class Never {}

  /// Tells of removals.
  public record Removals() implements KeyHandler<String, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      return value == null ? before : null;
    }
  }

  private static void awaitEnd(Stoa stoa, Class<?> type, Object key) {
    while (stoa.find(type, key).isPresent()) Thread.onSpinWait();
  }

  private static List<History.Entry> entries(Stoa stoa) {
    return stoa.history(stoa.get(Cart.class, "a")).entries(1, 1_000);
  }

  private static boolean isEnd(History.Entry entry) {
    return entry.event() instanceof History.Event.Deleted;
  }

  @Test
  void anObjectEndsAfterItsLastChangeAndBeginsAgainAsAnother(@TempDir Path dir) {
    String url = "file:" + dir.resolve("s");
    try (Stoa stoa = Stoa.open(url)) {
      Cart cart = stoa.get(Cart.class, "a");
      assertEquals(1, cart.add());
      try {
        assertEquals(2, cart.add());
      } catch (Gone slow) {
        // This process was slower than the life of the object.
      }
      awaitEnd(stoa, Cart.class, "a");
      List<History.Entry> all = entries(stoa);
      assertTrue(isEnd(all.getLast()), all.toString());
      Instant changed = Instant.EPOCH;
      for (History.Entry one : all) {
        if (one.event() instanceof History.Event.Called) changed = one.time();
      }
      assertFalse(all.getLast().time().isBefore(changed.plus(SHORT)), "not before its time");
      assertThrows(Gone.class, cart::add);
      assertEquals(1, stoa.get(Cart.class, "a").add());
    }
    try (Stoa stoa = Stoa.open(url)) {
      awaitEnd(stoa, Cart.class, "a");
      assertEquals(2, entries(stoa).stream().filter(ExpiryTest::isEnd).count(), "once each");
    }
  }

  @Test
  void whatATransactionCreatesEndsToo() {
    try (Stoa stoa = Stoa.open("memory:")) {
      stoa.<Boolean, RuntimeException>transact(() -> {
        var _ = stoa.get(Cart.class, "a").add();
        stoa.get(Cart.class, "a").move(stoa.get(Cart.class, "b"));
        return true;
      });
      awaitEnd(stoa, Cart.class, "a");
      awaitEnd(stoa, Cart.class, "b");
      assertThrows(
          IllegalStateException.class,
          () ->
              stoa.transact(() -> {
                var _ = stoa.get(Draft.class, "dropped").change();
                throw new IllegalStateException("no");
              }));
      assertEquals(List.of(), stoa.timers().of(stoa.get(Draft.class, "dropped")));
    }
  }

  @Test
  void aUniqueValueIsFreeWhenItsObjectHasEnded() {
    try (Stoa stoa = Stoa.open("memory:")) {
      stoa.get(Offer.class, 1).name("ten percent");
      awaitEnd(stoa, Offer.class, 1);
      assertEquals(0, stoa.query(Offer.class).count());
      stoa.get(Offer.class, 2).name("ten percent");
      awaitEnd(stoa, Offer.class, 2);
    }
  }

  @Test
  void anObjectHasOneTimerHoweverOftenItChanges() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Draft draft = stoa.get(Draft.class, "d");
      for (int i = 0; i < 20; i++) assertEquals(i + 1, draft.change());
      List<DurableTimer> timers = stoa.timers().of(draft);
      assertEquals(1, timers.size());
      assertNull(timers.getFirst().name());
      assertEquals("@Expires", timers.getFirst().method());
      assertEquals(timers, stoa.timers().next(10));
      stoa.delete(draft);
      assertEquals(1, stoa.get(Draft.class, "d").change());
      assertEquals(1, stoa.timers().of(draft).size());
    }
  }

  @Test
  void whatCannotEndIsRefused() {
    try (Stoa stoa = Stoa.open("memory:")) {
      assertThrows(NotShareable.class, () -> stoa.get(Placed.class, 1));
      assertThrows(NotShareable.class, () -> stoa.get(Never.class, 1));
    }
  }

  @Test
  void theValueOfAKeyEndsAndItsListenersAreTold(@TempDir Path dir) throws InterruptedException {
    String url = "file:" + dir.resolve("s");
    try (Stoa stoa = Stoa.open(url)) {
      var removed = new LinkedBlockingQueue<String>();
      try (var _ =
          stoa.store().register("k", event -> removed.add(event.value()), new Removals())) {
        stoa.store().put("k", "stays");
        stoa.store().put("k", "again", Duration.ofHours(1));
        stoa.store().put("k", "last", SHORT);
        assertEquals("last", removed.take());
        assertNull(stoa.store().get("k"));
      }
      stoa.store().putAsync("next", "value", SHORT).join();
      stoa.store().put("stays", "a", SHORT);
      stoa.store().put("stays", "b");
      assertThrows(IllegalArgumentException.class, () -> stoa.store().put("k", "v", Duration.ZERO));
    }
    try (Stoa stoa = Stoa.open(url)) {
      while (stoa.store().get("next") != null) Thread.onSpinWait();
      assertEquals("b", stoa.store().get("stays"));
    }
  }

  @Test
  void anEntryOfAShardedMapEnds() {
    try (Stoa stoa = Stoa.open("memory:")) {
      ShardedMap<String, String> map = stoa.shardedMap("m", String.class, String.class, 4);
      for (int i = 0; i < 20; i++) assertNull(map.put("ends " + i, "a", SHORT));
      assertNull(map.put("long", "b", Duration.ofHours(1)));
      while (map.size() > 1) Thread.onSpinWait();
      assertEquals("b", map.get("long"));
      assertThrows(IllegalArgumentException.class, () -> map.put("x", "y", Duration.ZERO));
      for (int i = 0; i < 20; i++) assertNull(map.put("far " + i, "c", Duration.ofHours(1)));
      map.clear();
      assertTrue(map.isEmpty());
    }
  }
}
