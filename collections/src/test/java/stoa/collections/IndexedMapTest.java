package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.Condition.atLeast;
import static stoa.Condition.eq;
import static stoa.Condition.field;
import static stoa.Condition.in;
import static stoa.Condition.less;
import static stoa.Condition.meets;
import static stoa.Condition.not;
import static stoa.Condition.part;
import static stoa.Condition.startsWith;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.CallFailed;
import stoa.Change;
import stoa.Changes;
import stoa.Index;
import stoa.LiveQuery;
import stoa.LogAddress;
import stoa.MapQuery;
import stoa.NotShareable;
import stoa.NotUnique;
import stoa.Query;
import stoa.ShardedMap;
import stoa.SharedMap;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.Unique;
import stoa.spi.Collections;

/// Maps whose values have indexes: in the process, at a server, and over three groups.
@SuppressWarnings(
    "NullAway") // A code may be null, which NullAway does not see in a method reference.
class IndexedMapTest {
  /// A value with indexes on components and on a method.
  record Product(@Index String category, @Unique @Nullable String code, long cents) {
    @Index
    boolean isDear() {
      return cents >= 1_000;
    }

    long euros() {
      if (cents < 0) throw new IllegalStateException("no price");
      return cents / 100;
    }
  }

  private static SharedMap<String, Product> products(Stoa stoa) {
    return stoa.map("products", String.class, Product.class);
  }

  private static ShardedMap<String, Product> sharded(Stoa stoa) {
    return stoa.shardedMap("products", String.class, Product.class, 4);
  }

  private static Product tool(String code, long cents) {
    return new Product("tools", code, cents);
  }

  private static List<String> keys(MapQuery<String, Product> query) {
    return query.list().stream().map(Map.Entry::getKey).toList();
  }

  private static List<String> differences(Stoa stoa, ConcurrentMap<String, Product> map) {
    return map instanceof SharedMap<String, Product> one
        ? stoa.checkIndexes(one)
        : stoa.checkIndexes((ShardedMap<String, Product>) map);
  }

  private static MapQuery<String, Product> query(Stoa stoa, ConcurrentMap<String, Product> map) {
    return map instanceof SharedMap<String, Product> one
        ? stoa.query(one)
        : stoa.query((ShardedMap<String, Product>) map);
  }

  /// A predicate of a query.
  record Between(long from, long to) implements Predicate<Product> {
    @Override
    public boolean test(Product product) {
      return from <= product.cents() && product.cents() < to;
    }
  }

  @Test
  void changesShowTheValuesThatWerePut() throws InterruptedException {
    try (Stoa stoa = Stoa.open("memory:");
        var changes = stoa.changes(Changes.all())) {
      products(stoa).put("saw", tool("s-1", 900));
      var told = new ArrayList<>();
      while (!told.contains(tool("s-1", 900))) {
        if (changes.next() instanceof Change.Called<?> call) told.addAll(call.arguments());
      }
      assertFalse(told.stream().anyMatch(Indexed.class::isInstance), told::toString);
    }
  }

  @Test
  void findsEntriesByPartsOfTheirValues() {
    try (Stoa stoa = Stoa.open("memory:")) {
      for (ConcurrentMap<String, Product> map : List.of(products(stoa), sharded(stoa))) {
        map.put("saw", tool("s-1", 900));
        map.put("drill", tool("d-1", 5_000));
        map.put("tulip", new Product("flowers", null, 200));
        map.put("rose", new Product("flowers", null, 300));
        MapQuery<String, Product> all = query(stoa, map);
        assertEquals(
            List.of(Map.entry("saw", tool("s-1", 900)), Map.entry("drill", tool("d-1", 5_000))),
            all.where(eq(part(Product::category), "tools")).list());
        assertEquals(
            List.of("rose", "tulip", "saw"),
            keys(all.where(eq(part(Product::isDear), false)).orderBy(part(Product::category))));
        assertEquals(List.of("saw"), keys(all.where(startsWith(part(Product::code), "s-"))));
        assertEquals(
            List.of("drill", "saw"),
            keys(all.where(not(eq(field("code"), (String) null))).orderBy(part(Product::code))));
        assertEquals(
            List.of("saw", "drill"),
            keys(all.where(in(part(Product::category), List.of("tools", "x")))));
        // A part without an index, and a predicate.
        MapQuery<String, Product> tools = all.where(eq(part(Product::category), "tools"));
        assertEquals(List.of("saw"), keys(tools.where(less(part(Product::euros), 10L))));
        assertEquals(List.of("saw", "drill"), keys(tools.orderBy(part(Product::cents))));
        assertEquals(List.of("rose"), keys(all.where(meets(new Between(250, 900)))));
        assertEquals(1, all.where(atLeast(part(Product::cents), 1_000L)).count());
        var counts = new LinkedHashMap<String, Long>();
        counts.put("flowers", 2L);
        counts.put("tools", 2L);
        assertEquals(counts, all.countBy(part(Product::category)));
        assertEquals("saw", tools.first().orElseThrow().getKey());
        MapQuery<String, Product> byPrice = all.orderBy(part(Product::cents)).descending().limit(3);
        Query.Page<Map.Entry<String, Product>> page = byPrice.page(null);
        assertEquals("rose", page.objects().getLast().getKey());
        assertEquals("tulip", byPrice.page(page.next()).objects().getFirst().getKey());
        assertTrue(
            tools
                .where(less(part(Product::euros), 1L))
                .explain()
                .endsWith(
                    "products by its index category text: 1 value; compares euros in each entry"));
        map.put("gift", new Product("tools", null, -1));
        CallFailed thrown =
            assertThrows(
                CallFailed.class, () -> tools.where(less(part(Product::euros), 1L)).count());
        assertTrue(String.valueOf(thrown.getMessage()).contains("\"gift\""));
        assertThrows(NotShareable.class, () -> all.where(eq(field("color"), "red")));
        assertThrows(NotShareable.class, () -> all.where(meets(p -> p.cents() > 1)));
        assertThrows(
            IllegalArgumentException.class, () -> all.where(eq(Product::category, "tools")));
        assertThrows(IllegalArgumentException.class, () -> part((Product p) -> p.cents() + 1));
        assertEquals(List.of(), differences(stoa, map));
      }
      SharedMap<String, Long> plain = stoa.map("plain", String.class, Long.class);
      assertThrows(IllegalArgumentException.class, () -> stoa.query(plain));
    }
  }

  /// Checks the map and the answers of its indexes against a plain map.
  private static void check(
      Stoa stoa, ConcurrentMap<String, Product> map, Map<String, Product> model) {
    assertEquals(model, map);
    var byCategory = new HashMap<String, Long>();
    for (Product product : model.values()) byCategory.merge(product.category(), 1L, Long::sum);
    assertEquals(byCategory, query(stoa, map).countBy(part(Product::category)));
    assertEquals(List.of(), differences(stoa, map));
  }

  @Test
  void everyWayToChangeAMapKeepsItsIndexes() {
    try (Stoa stoa = Stoa.open("memory:")) {
      for (ConcurrentMap<String, Product> map : List.of(products(stoa), sharded(stoa))) {
        var model = new HashMap<String, Product>();
        assertEquals(null, map.put("a", tool("1", 1)));
        assertEquals(tool("1", 1), map.put("a", tool("2", 2)));
        assertEquals(tool("2", 2), map.putIfAbsent("a", tool("3", 3)));
        assertEquals(null, map.putIfAbsent("b", tool("1", 4)));
        assertEquals(tool("1", 4), map.replace("b", new Product("toys", "5", 5)));
        assertTrue(map.replace("a", tool("2", 2), new Product("toys", "2", 2)));
        assertFalse(map.replace("a", tool("2", 2), tool("9", 9)));
        assertTrue(map.containsValue(new Product("toys", "2", 2)));
        model.put("a", new Product("toys", "2", 2));
        model.put("b", new Product("toys", "5", 5));
        check(stoa, map, model);
        map.compute("a", (_, was) -> was == null ? null : tool(was.code(), 2_000));
        map.merge("b", tool("6", 6), (was, add) -> new Product(add.category(), "6", was.cents()));
        map.computeIfAbsent("c", key -> tool(key, 7));
        map.computeIfPresent("c", (_, _) -> null);
        model.put("a", tool("2", 2_000));
        model.put("b", tool("6", 5));
        check(stoa, map, model);
        var more = Map.of("d", tool("8", 8), "b", tool("9", 9), "e", tool("10", 10));
        map.putAll(more);
        model.putAll(more);
        assertFalse(map.remove("d", tool("9", 9)));
        assertTrue(map.remove("d", tool("8", 8)));
        model.remove("d");
        map.entrySet().iterator().next().setValue(new Product("books", "11", 11));
        model.put(map.keySet().iterator().next(), new Product("books", "11", 11));
        check(stoa, map, model);
        map.replaceAll((key, was) -> new Product("all", was.code() + key, was.cents()));
        model.replaceAll((key, was) -> new Product("all", was.code() + key, was.cents()));
        check(stoa, map, model);
        String first = map.keySet().iterator().next();
        map.keySet().removeIf(first::equals);
        model.remove(first);
        check(stoa, map, model);
        map.clear();
        check(stoa, map, Map.of());
        map.put("a", tool("2", 2));
        check(stoa, map, Map.of("a", tool("2", 2)));
      }
    }
  }

  @Test
  void aUniqueValueBelongsToOneEntry() {
    try (Stoa stoa = Stoa.open("memory:")) {
      for (ConcurrentMap<String, Product> map : List.of(products(stoa), sharded(stoa))) {
        map.put("a", tool("1", 1));
        map.put("b", tool("2", 2));
        for (int i = 0; i < 3; i++) map.put("null " + i, new Product("tools", null, 3));
        NotUnique taken = assertThrows(NotUnique.class, () -> map.put("b", tool("1", 3)));
        assertEquals(
            "products: the value of \"b\" cannot have \"1\" as its code, since that of \"a\" has it;"
                + " choose another value, or change that entry first",
            taken.getMessage());
        var refused = new LinkedHashMap<String, Product>();
        refused.put("c", tool("4", 4));
        refused.put("d", tool("4", 5));
        assertThrows(NotUnique.class, () -> map.putAll(refused));
        assertEquals(tool("2", 2), map.get("b"));
        assertEquals(5, map.size());
        map.remove("a");
        map.put("b", tool("1", 3));
        assertEquals(
            "b", query(stoa, map).where(eq(part(Product::code), "1")).list().getFirst().getKey());
        assertEquals(List.of(), differences(stoa, map));
      }
      // One call may exchange values.
      SharedMap<String, Product> map = products(stoa);
      map.put("a", tool("2", 1));
      map.putAll(Map.of("a", tool("1", 1), "b", tool("2", 2)));
      assertEquals(List.of("b"), keys(stoa.query(map).where(eq(part(Product::code), "2"))));
      assertEquals(List.of(), stoa.checkIndexes(map));
    }
  }

  @Test
  void mapsThatKeepNoIndexesRefuseSuchValues() {
    try (Stoa stoa = Stoa.open("memory:")) {
      NotShareable refused =
          assertThrows(
              NotShareable.class, () -> stoa.navigableMap("n", String.class, Product.class));
      assertEquals(
          Product.class.getName()
              + " has @Index on category, which a SharedNavigableMap does not keep; put such values"
              + " into a SharedMap or ShardedMap, or use a class without the annotation here",
          refused.getMessage());
      assertThrows(NotShareable.class, () -> stoa.rangeMap("r", String.class, Product.class));
      assertThrows(NotShareable.class, () -> stoa.bTree("t", String.class, Product.class));
    }
  }

  @Test
  void aQuerySeesTheEntriesAsOfALogAddress() {
    try (Stoa stoa = Stoa.open("memory:")) {
      for (ConcurrentMap<String, Product> map : List.of(products(stoa), sharded(stoa))) {
        map.put("a", tool("1", 1));
        assertEquals(1, query(stoa, map).count()); // from now on the indexes have all entries
        LogAddress then;
        try (Snapshot moment = stoa.snapshot()) {
          then = moment.address();
        }
        map.put("a", new Product("toys", "2", 2));
        map.put("b", tool("1", 3));
        MapQuery<String, Product> tools =
            query(stoa, map).where(eq(part(Product::category), "tools"));
        assertEquals(List.of("b"), keys(tools));
        assertEquals(List.of(Map.entry("a", tool("1", 1))), tools.at(then).list());
        assertEquals(1, query(stoa, map).at(then).count());
      }
    }
  }

  record Id(int number) {}

  @Test
  void keysOfSuchAMapArePlain() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedMap<Id, Product> map = stoa.map("ids", Id.class, Product.class);
      assertThrows(NotShareable.class, () -> map.put(new Id(1), tool("1", 1)));
      SharedMap<Integer, Product> numbers = stoa.map("numbers", Integer.class, Product.class);
      numbers.put(-7, tool("1", 1));
      assertEquals(-7, stoa.query(numbers).first().orElseThrow().getKey());
    }
  }

  @Test
  void anIndexThatIsDeclaredLaterGetsTheExistingEntries() {
    try (Stoa stoa = Stoa.open("memory:")) {
      String classes = Classes.of(String.class, Product.class).names();
      // Code without an index, as of an earlier version of the class.
      stoa.map("any", String.class, Product.class);
      MapObject plain = stoa.get(MapObject.class, "products", classes);
      for (int i = 0; i < 300; i++) plain.fastPut("key " + i, tool("code " + i, i));
      SharedMap<String, Product> map = products(stoa);
      map.put("key 7", new Product("toys", "code 7", 7));
      MapQuery<String, Product> tools = stoa.query(map).where(eq(part(Product::category), "tools"));
      assertTrue(tools.explain().contains("enters existing entries"), tools::explain);
      assertThrows(IllegalStateException.class, () -> stoa.transact(tools::count));
      assertEquals(299, tools.count());
      assertFalse(tools.explain().contains("enters existing entries"), tools::explain);
      assertEquals(List.of(), stoa.checkIndexes(map));
      // It does not keep the index.
      plain.fastPut("key 8", tool("code 9", 8));
      assertTrue(tools.explain().contains("enters existing entries"), tools::explain);
      NotUnique taken = assertThrows(NotUnique.class, tools::count);
      assertTrue(String.valueOf(taken.getMessage()).contains("\"code 9\""));
      plain.fastPut("key 8", tool("code 8", 8));
      plain.fastRemove("key 10");
      assertEquals(298, tools.count());
      assertEquals(List.of(), stoa.checkIndexes(map));
      // Deletion takes the entries from the indexes.
      assertTrue(stoa.delete(map));
      SharedMap<String, Product> next = products(stoa);
      assertEquals(0, stoa.query(next).count());
      next.put("a", tool("code 1", 1));
      assertEquals(List.of(), stoa.checkIndexes(next));
    }
  }

  @Test
  void aTransactionSeesItsChangesAndIsProtectedFromOthers() {
    try (Stoa stoa = Stoa.open("memory:")) {
      for (ConcurrentMap<String, Product> map : List.of(products(stoa), sharded(stoa))) {
        map.put("a", tool("1", 1));
        MapQuery<String, Product> tools =
            query(stoa, map).where(eq(part(Product::category), "tools"));
        assertEquals(1, tools.count());
        var runs = new AtomicInteger();
        long found =
            stoa.transact(() -> {
              int run = runs.incrementAndGet();
              long count = tools.count();
              if (run == 1) {
                // Another caller's entry comes into the answer.
                CompletableFuture.runAsync(() -> map.put("b", tool("2", 2))).join();
              }
              map.put("count", new Product("counts", "c", count));
              assertEquals(
                  1, query(stoa, map).where(eq(part(Product::category), "counts")).list().size());
              return count;
            });
        assertEquals(2, found);
        assertEquals(2, runs.get());
        runs.set(0);
        stoa.transact(() -> {
          if (runs.incrementAndGet() == 1) {
            var _ = tools.list();
            // Of another category, and another value.
            CompletableFuture.runAsync(() -> map.put("c", new Product("toys", "3", 3))).join();
          }
          map.put("other", new Product("counts", "o", 1));
        });
        assertTrue(runs.get() <= 2);
        assertThrows(
            NotUnique.class,
            () ->
                stoa.transact(() -> {
                  map.put("d", tool("4", 4));
                  map.put("e", tool("4", 5));
                }));
        assertThrows(
            IllegalStateException.class,
            () ->
                stoa.transact(() -> {
                  map.put("d", tool("4", 4));
                  throw new IllegalStateException("no");
                }));
        assertFalse(map.containsKey("d"));
        assertEquals(List.of("a", "b"), keys(tools));
        assertEquals(List.of(), differences(stoa, map));
      }
    }
  }

  @Test
  void theIndexEqualsARecountAtRandomMoments() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var random = new Random(7);
      SharedMap<String, Product> map = products(stoa);
      assertEquals(0, stoa.query(map).count());
      var moments = new ArrayList<Snapshot>();
      var models = new ArrayList<Map<String, Product>>();
      var model = new HashMap<String, Product>();
      for (int i = 0; i < 60; i++) {
        String key = "k" + random.nextInt(12);
        Product product =
            new Product("c" + random.nextInt(3), "u" + random.nextInt(9), random.nextInt(2_000));
        try {
          switch (random.nextInt(6)) {
            case 0 -> {
              map.remove(key);
              model.remove(key);
            }
            case 1 -> {
              if (random.nextInt(10) == 0) {
                map.clear();
                model.clear();
              }
            }
            case 2 -> {
              stoa.transact(() -> {
                map.remove(key);
                map.put(key + " again", product);
              });
              model.remove(key);
              model.put(key + " again", product);
            }
            default -> {
              map.put(key, product);
              model.put(key, product);
            }
          }
        } catch (NotUnique taken) {
          assertFalse(model.containsValue(null));
        }
        if (random.nextInt(10) > 0) continue;
        moments.add(stoa.snapshot());
        models.add(Map.copyOf(model));
      }
      for (int i = 0; i < moments.size(); i++) {
        Snapshot moment = moments.get(i);
        assertEquals(
            List.of(), Collections.installed().indexes().differences(stoa, map, moment.address()));
        var found = new HashMap<String, Product>();
        for (var entry : stoa.query(map).at(moment).list())
          found.put(entry.getKey(), entry.getValue());
        assertEquals(models.get(i), found);
        moment.close();
      }
      assertEquals(List.of(), stoa.checkIndexes(map));
    }
  }

  @Test
  void callersOfOneMapChangeItsIndexesAtOnce() {
    try (Stoa stoa = Stoa.open("memory:")) {
      ShardedMap<String, Product> map = sharded(stoa);
      var taken = new AtomicInteger();
      var callers = new ArrayList<CompletableFuture<Void>>();
      for (int caller = 0; caller < 4; caller++) {
        int own = caller;
        callers.add(
            CompletableFuture.runAsync(() -> {
              for (int i = 0; i < 25; i++) {
                try {
                  map.put(own + " " + i % 5, new Product("c" + i % 3, "u" + i, i));
                } catch (NotUnique other) {
                  taken.incrementAndGet();
                }
              }
            }));
      }
      callers.forEach(CompletableFuture::join);
      assertTrue(taken.get() > 0);
      assertEquals(map.size(), stoa.query(map).count());
      assertEquals(List.of(), stoa.checkIndexes(map));
    }
  }

  @Test
  void aLiveQueryTellsWhatEntersAndLeaves() throws InterruptedException {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedMap<String, Product> map = products(stoa);
      MapQuery<String, Product> tools = stoa.query(map).where(eq(part(Product::category), "tools"));
      try (LiveQuery<Map.Entry<String, Product>> live = tools.watch();
          LiveQuery<Map.Entry<String, Product>> dear =
              tools.where(atLeast(part(Product::cents), 10L)).watch()) {
        assertEquals(List.of(), live.next().objects());
        assertEquals(List.of(), dear.next().objects());
        map.put("a", tool("1", 20));
        assertEquals(List.of(Map.entry("a", tool("1", 20))), live.next().entered());
        assertEquals(List.of(Map.entry("a", tool("1", 20))), dear.next().entered());
        map.put("a", tool("1", 5), Duration.ofMillis(1));
        assertEquals("a", dear.next().left().getFirst().getKey());
        // The map's timer removes the entry.
        assertEquals("a", live.next().left().getFirst().getKey());
      }
      assertEquals(List.of(), stoa.checkIndexes(map));
    }
  }

  @Test
  void theIndexesAreThereWhenTheStoreOpensAgain(@TempDir Path folder) {
    String url = "file:" + folder.resolve("store");
    try (Stoa stoa = Stoa.open(url)) {
      for (ConcurrentMap<String, Product> map : List.of(products(stoa), sharded(stoa))) {
        for (int i = 0; i < 20; i++) map.put("k" + i, new Product("c" + i % 3, "u" + i, i));
        map.put("k0", tool("u0", 1));
        assertEquals(1, query(stoa, map).where(eq(part(Product::category), "tools")).count());
      }
    }
    try (Stoa stoa = Stoa.open(url)) {
      for (ConcurrentMap<String, Product> map : List.of(products(stoa), sharded(stoa))) {
        MapQuery<String, Product> tools =
            query(stoa, map).where(eq(part(Product::category), "tools"));
        assertEquals(List.of("k0"), keys(tools));
        assertThrows(NotUnique.class, () -> map.put("k1", tool("u2", 1)));
        map.remove("k0");
        map.put("k1", tool("u0", 1));
        assertEquals(List.of("k1"), keys(tools));
        assertEquals(List.of(), differences(stoa, map));
      }
    }
  }
}
