package stoa.objects;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Blob;
import stoa.BlobWrite;
import stoa.NotShareable;
import stoa.Shared;
import stoa.Stoa;
import stoa.StreamKey;

/// The values in a shared object stay the same: after transactions, when the store is opened again,
/// in history, and at clients.
class SameValuesTest {
  private static final int CALLS = 200;
  private static final int ENTRIES_MAX = 8;
  private static final String HALF = "\uD800";

  private static Map<String, Integer> lru() {
    return Collections.synchronizedMap(new LinkedHashMap<>(16, 0.75f, true));
  }

  /// Uses a key; answers the keys that are there, the least recently used first.
  private static List<String> use(Map<String, Integer> map, String key) {
    Integer uses = map.get(key);
    map.put(key, uses == null ? 1 : uses + 1);
    if (map.size() > ENTRIES_MAX) map.remove(map.keySet().iterator().next());
    return new ArrayList<>(map.keySet());
  }

  @Shared(name = "test.Cache")
  static class Cache {
    private final Map<String, Integer> entries = lru();

    protected Cache() {}

    List<String> use(String key) {
      return SameValuesTest.use(entries, key);
    }

    @Accessor
    List<String> keys() {
      return new ArrayList<>(entries.keySet());
    }
  }

  @Shared(name = "test.Keeper")
  static class Keeper {
    private final TreeMap<String, Object> kept = new TreeMap<>();

    protected Keeper() {}

    @Nullable Object keep(String name, Object value) {
      return kept.put(name, value);
    }

    @Accessor
    @Nullable Object kept(String name) {
      return kept.get(name);
    }

    void complain(String message) {
      throw new IllegalStateException(message);
    }
  }

  @TempDir Path directory;

  private Stoa open() {
    return Stoa.open("file:" + directory);
  }

  // ---- caches

  @Test
  void aCacheInTheOrderOfAccessEvictsTheSameWhateverHappensInBetween() {
    Map<String, Integer> expected = lru();
    var random = new Random(11);
    var orders = new ArrayList<List<String>>();
    for (int call = 0; call < CALLS; ) {
      try (Stoa stoa = open()) {
        Cache cache = stoa.get(Cache.class, "a");
        for (int until = call + 50; call < until; call++) {
          String key = "k" + (int) Math.abs(random.nextGaussian() * ENTRIES_MAX);
          List<String> order = call % 7 == 3 ? stoa.transact(() -> cache.use(key)) : cache.use(key);
          assertEquals(use(expected, key), order, "call " + call);
          orders.add(order);
        }
      }
    }
    try (Stoa stoa = open()) {
      Cache cache = stoa.get(Cache.class, "a");
      var history = stoa.history(cache);
      long begun = history.version() - CALLS;
      for (int call = 0; call < CALLS; call += 13) {
        assertEquals(orders.get(call), history.at(begun + call + 1).keys(), "call " + call);
      }
      try (var snapshot = stoa.snapshot()) {
        assertEquals(orders.getLast(), snapshot.on(cache).keys());
      }
    }
  }

  // ---- values

  private static Map<String, Object> values() {
    var twice = LocalDateTime.of(2024, 10, 27, 2, 30);
    ZoneId berlin = ZoneId.of("Europe/Berlin");
    return Map.of(
        "earlier", ZonedDateTime.ofLocal(twice, berlin, ZoneOffset.ofHours(2)),
        "later", ZonedDateTime.ofLocal(twice, berlin, ZoneOffset.ofHours(1)),
        "locale", Locale.forLanguageTag("sr-Latn-RS-u-co-phonebk"),
        "half", HALF,
        "question mark", "?",
        "halves", List.of("a" + HALF, Optional.of("\uDC00"), Map.entry(HALF, "?")),
        "keys", new TreeMap<>(Map.of(HALF, 1, "?", 2, "\uFFFD", 3)));
  }

  @Test
  void valuesStayWhatTheyAreWhenTheStoreIsOpenedAgainAndInHistory() {
    try (Stoa stoa = open()) {
      Keeper keeper = stoa.get(Keeper.class, "a");
      values().forEach(keeper::keep);
      values().forEach((name, value) -> assertEquals(value, keeper.kept(name)));
      keeper.keep("pattern", Pattern.compile("a(?i)b"));
    }
    try (Stoa stoa = open()) {
      Keeper keeper = stoa.get(Keeper.class, "a");
      values().forEach((name, value) -> assertEquals(value, keeper.kept(name)));
      assertEquals(
          values(),
          stoa.transact(() -> {
            var before = new TreeMap<String, @Nullable Object>();
            for (String name : values().keySet()) before.put(name, keeper.keep(name, "gone"));
            return before;
          }));
      var pattern = (Pattern) java.util.Objects.requireNonNull(keeper.kept("pattern"));
      assertTrue(pattern.matcher("aB").matches());
      assertTrue(!pattern.matcher("AB").matches());
    }
    try (Stoa stoa = open()) {
      Keeper keeper = stoa.get(Keeper.class, "a");
      var history = stoa.history(keeper);
      long full = history.version() - values().size();
      values().forEach((name, value) -> assertEquals(value, history.at(full).kept(name)));
      values().keySet().forEach(name -> assertEquals("gone", keeper.kept(name)));
    }
  }

  // ---- text with half of a surrogate pair

  @Test
  void anExceptionOfAMethodKeepsItsMessageAsItIs() {
    try (Stoa stoa = open()) {
      Keeper keeper = stoa.get(Keeper.class, "a");
      var thrown = assertThrows(IllegalStateException.class, () -> keeper.complain("a" + HALF));
      assertEquals("a" + HALF, thrown.getMessage());
    }
  }

  @Test
  void valuesOfTheKeyValueStoreAreKeptAndKeysAreRefused() {
    try (Stoa stoa = open()) {
      stoa.store().put("k", HALF);
      assertEquals(HALF, stoa.store().get("k"));
      assertThrows(NotShareable.class, () -> stoa.store().put(HALF, "x"));
      assertThrows(NotShareable.class, () -> stoa.store().get(HALF));
    }
  }

  @Test
  void keysAndNamesThatUtf8CannotSayAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> StreamKey.of(HALF));
    assertThrows(IllegalArgumentException.class, () -> StreamKey.of("a\uDC00b"));
    try (Stoa stoa = open()) {
      assertThrows(NotShareable.class, () -> stoa.get(Keeper.class, HALF).kept("a"));
      assertThrows(NotShareable.class, () -> stoa.get(Blob.class, HALF).size());
      assertThrows(IllegalArgumentException.class, () -> stoa.snapshot(HALF));
      assertThrows(IllegalArgumentException.class, () -> stoa.findSnapshot(HALF));
      assertThrows(IllegalArgumentException.class, () -> stoa.deleteSnapshot(HALF));
      stoa.snapshot("?").close();
      assertTrue(stoa.findSnapshot("?").isPresent());
    }
  }

  @Test
  void attributesOfBlobsThatUtf8CannotSayAreRefused() {
    byte[] value = "v".getBytes(UTF_8);
    try (Stoa stoa = open()) {
      Blob blob = stoa.get(Blob.class, "b");
      assertThrows(IllegalArgumentException.class, () -> blob.attribute(HALF, value));
      assertTrue(stoa.find(Blob.class, "b").isEmpty());
      blob.attribute("?", value);
      assertThrows(IllegalArgumentException.class, () -> blob.attribute(HALF));
      assertThrows(IllegalArgumentException.class, () -> blob.removeAttribute(HALF));
      try (BlobWrite write = blob.begin()) {
        assertThrows(IllegalArgumentException.class, () -> write.attribute("a" + HALF, value));
        assertThrows(IllegalArgumentException.class, () -> write.removeAttribute(HALF));
        write.attribute("😀", value);
        write.commit();
      }
      assertEquals(2, blob.attributes().size());
      assertArrayEquals(value, blob.attribute("😀").orElseThrow());
      assertEquals(2, blob.version());
    }
  }
}
