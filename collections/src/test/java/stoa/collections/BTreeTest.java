package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.SharedBTree;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Transaction;
import stoa.TxOptions;

class BTreeTest {
  private static final Stoa STOA = Stoa.open("memory:");

  /// How many times fewer calls are made where each goes to a server.
  private static final int LESS = Integer.getInteger("stoa.test.groups") == null ? 1 : 4;

  @AfterAll
  static void close() {
    STOA.close();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void isATreeMapUnderRandomCalls(long seed) {
    SharedBTree<Integer, Integer> tree = STOA.bTree("model " + seed, Integer.class, Integer.class);
    var nodes = new TreeEntries(ConsistentAccess.live(STOA), "model " + seed);
    var model = new TreeMap<Integer, Integer>();
    var random = new Random(seed);
    for (int i = 0; i < 2_500 / LESS; i++) {
      // Grows, then shrinks to nothing, so that every split and merge happens.
      int key = random.nextInt(1_200 / LESS);
      boolean grows = i < 1_300 / LESS;
      switch (random.nextInt(10)) {
        case 0 -> assertEquals(model.get(key), tree.get(key));
        case 1 -> assertEquals(model.floorKey(key), tree.floorKey(key));
        case 2 -> assertEquals(model.higherEntry(key), tree.higherEntry(key));
        case 3 -> assertEquals(model.putIfAbsent(key, i), tree.putIfAbsent(key, i));
        case 4, 5 -> {
          if (!grows) key %= 100;
          model.put(key, i);
          tree.fastPut(key, i);
        }
        default -> {
          if (grows) assertEquals(model.put(key, i), tree.put(key, i));
          else if (random.nextBoolean()) assertEquals(model.remove(key), tree.remove(key));
          else assertEquals(model.pollFirstEntry(), tree.pollFirstEntry());
        }
      }
      if (i % 250 == 0) nodes.check();
    }
    nodes.check();
    assertEquals(model, tree);
    assertEquals(model.size(), tree.size());
  }

  @Test
  void growsAndShrinksByLevels() {
    SharedBTree<Integer, String> tree = STOA.bTree("levels", Integer.class, String.class);
    var nodes = new TreeEntries(ConsistentAccess.live(STOA), "levels");
    assertEquals(1, tree.height());
    int count = 5_000;
    int step = 100 * LESS;
    for (int at = 0; at < count; at += step) {
      var part = new TreeMap<Integer, String>();
      for (int i = at; i < Math.min(count, at + step); i++) part.put(i, "v" + i);
      tree.putAll(part);
    }
    Trips.atMost(6, 8, STOA, () -> assertEquals(count, tree.size()));
    assertEquals(3, tree.height());
    nodes.check();
    Trips.atMost(4, 6, STOA, () -> tree.fastPut(100, "first"));
    Trips.atMost(2, 3, STOA, () -> tree.fastPut(100, "second"));
    Trips.atMost(1, 2, STOA, () -> assertEquals("second", tree.get(100)));
    Trips.atMost(1, 2, STOA, () -> assertEquals(20, tree.ceilingEntries(100, 20).size()));
    tree.headMap(4_800).clear();
    assertEquals(200, tree.size());
    nodes.check();
    assertTrue(tree.height() <= 2, "height is " + tree.height());
    Trips.atMost(4, 6, STOA, tree::clear);
    assertEquals(1, tree.height());
    assertTrue(tree.isEmpty());
    assertEquals(1, nodes.check());
  }

  @Test
  void fastPutFindsTheLeafWhenOthersHaveChangedTheTree() {
    SharedBTree<Integer, String> tree = STOA.bTree("others", Integer.class, String.class);
    SharedBTree<Integer, String> others = STOA.bTree("others", Integer.class, String.class);
    var nodes = new TreeEntries(ConsistentAccess.live(STOA), "others");
    var model = new TreeMap<Integer, String>();
    tree.fastPut(1, "one"); // remembers a root that is a leaf
    model.put(1, "one");
    var many = new TreeMap<Integer, String>();
    for (int i = 2; i < 200; i++) many.put(i, "v" + i);
    others.putAll(many);
    model.putAll(many);
    for (int key : List.of(0, 100, 300, 100)) {
      tree.fastPut(key, "two " + key);
      model.put(key, "two " + key);
    }
    assertEquals(model, tree);
    nodes.check();

    // The leaves that this one remembers are deleted, then split.
    others.clear();
    model.clear();
    tree.fastPut(100, "three");
    model.put(100, "three");
    assertEquals(model, tree);
    others.putAll(many);
    model.putAll(many);
    tree.fastPut(150, "four");
    model.put(150, "four");
    others.headMap(140).clear();
    model.headMap(140).clear();
    tree.fastPut(141, "five");
    model.put(141, "five");
    assertEquals(model, tree);
    nodes.check();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void readsFindTheLeavesWhenOthersHaveChangedTheTree(long seed) {
    String name = "read " + seed;
    SharedBTree<Integer, String> tree = STOA.bTree(name, Integer.class, String.class);
    SharedBTree<Integer, String> others = STOA.bTree(name, Integer.class, String.class);
    var model = new TreeMap<Integer, String>();
    var random = new Random(seed);
    for (int round = 0; round < 24 / LESS; round++) {
      switch (random.nextInt(4)) {
        case 0 -> {
          int from = random.nextInt(2_000);
          others.subMap(from, from + 600).clear();
          model.subMap(from, from + 600).clear();
        }
        case 1 -> {
          if (random.nextInt(4) == 0) {
            others.clear();
            model.clear();
          }
        }
        default -> {
          var some = new TreeMap<Integer, String>();
          int apart = 1 + random.nextInt(8);
          int from = random.nextInt(2_000);
          for (int i = 0; i < 250; i++) some.put(from + apart * i, "r" + round);
          others.putAll(some);
          model.putAll(some);
        }
      }
      for (int i = 0; i < 5; i++) {
        int key = random.nextInt(2_100);
        int max = 1 + random.nextInt(random.nextBoolean() ? 40 : 300);
        assertEquals(model.get(key), tree.get(key));
        assertEquals(model.higherEntry(key), tree.higherEntry(key));
        assertEquals(model.lowerEntry(key), tree.lowerEntry(key));
        assertEquals(
            model.tailMap(key).entrySet().stream().limit(max).toList(),
            tree.ceilingEntries(key, max));
        assertEquals(
            model.headMap(key, false).descendingMap().entrySet().stream().limit(max).toList(),
            tree.headMap(key).descendingMap().entrySet().stream().limit(max).toList());
      }
      assertEquals(model.subMap(300, 1_700), tree.subMap(300, 1_700));
    }
  }

  @Test
  void readsSeeOneMoment() {
    SharedBTree<Integer, Integer> tree = STOA.bTree("moment", Integer.class, Integer.class);
    var all = new TreeMap<Integer, Integer>();
    for (int i = 0; i < 300; i++) all.put(i, 0);
    tree.putAll(all);
    assertEquals(200, tree.ceilingEntries(100, 1_000).size()); // remembers the way
    assertThrows(IllegalArgumentException.class, () -> tree.ceilingEntries(100, 0));
    try (Transaction reading = STOA.begin(TxOptions.reading())) {
      long before = sum(reading.on(tree).ceilingEntries(0, 250));
      STOA.transact(() -> {
        for (int i = 0; i < 300; i += 30) tree.put(i, 1);
        assertEquals(9, sum(tree.ceilingEntries(0, 250)));
        assertEquals(1, tree.get(30));
        return tree;
      });
      assertEquals(before, sum(reading.on(tree).ceilingEntries(0, 250)));
      assertEquals(9, sum(tree.ceilingEntries(0, 250)));
      Snapshot there = STOA.snapshot();
      tree.clear();
      assertEquals(9, sum(there.on(tree).ceilingEntries(0, 250)));
      assertEquals(List.of(), tree.ceilingEntries(0, 250));
      there.close();
    }
  }

  private static long sum(List<Map.Entry<Integer, Integer>> entries) {
    return entries.stream().mapToLong(Map.Entry::getValue).sum();
  }

  @Test
  void fastPutIsPartOfTheTransactionOfTheProgram() {
    SharedBTree<Integer, String> tree = STOA.bTree("takes part", Integer.class, String.class);
    SharedBTree<Integer, String> others = STOA.bTree("takes part", Integer.class, String.class);
    var nodes = new TreeEntries(ConsistentAccess.live(STOA), "takes part");
    tree.fastPut(0, "kept");
    assertThrows(
        IllegalStateException.class,
        () ->
            STOA.transact(() -> {
              // Splits the root, and remembers nodes that never come to be.
              for (int i = 0; i < 70; i++) tree.fastPut(i, "lost");
              assertEquals(70, tree.size());
              throw new IllegalStateException("back");
            }));
    tree.fastPut(1, "kept");
    assertEquals(Map.of(0, "kept", 1, "kept"), tree);

    // A way that is out of date takes back its own attempt alone.
    var many = new TreeMap<Integer, String>();
    for (int i = 0; i < 70; i++) many.put(i, "many");
    others.putAll(many);
    STOA.transact(() -> {
      tree.put(500, "before");
      tree.fastPut(60, "after");
      return tree;
    });
    assertEquals("before", tree.get(500));
    assertEquals("after", tree.get(60));
    assertEquals(71, tree.size());
    nodes.check();
  }

  @Test
  void noNodeIsLeftBehindByMergesAndClearsBesideOtherCallers() throws Exception {
    SharedBTree<Integer, Integer> tree = STOA.bTree("cleared", Integer.class, Integer.class);
    var nodes = new TreeEntries(ConsistentAccess.live(STOA), "cleared");
    var many = new TreeMap<Integer, Integer>();
    for (int i = 0; i < 200; i++) many.put(i, i);
    tree.putAll(many);
    try (var threads = Executors.newFixedThreadPool(1)) {
      Future<?> putting =
          threads.submit(() -> {
            for (int i = 0; i < 200 / LESS; i++) tree.fastPut(i * LESS, -1);
          });
      tree.headMap(60).clear();
      tree.clear();
      tree.putAll(many);
      tree.clear();
      putting.get();
    }
    tree.forEach((_, value) -> assertEquals(-1, value)); // what was put after the last clear
    assertEquals(nodes.check(), nodesOf("cleared"));
    tree.putAll(many);
    tree.clear();
    assertEquals(1, nodesOf("cleared"));
  }

  @Test
  void putsOfManyThreadsToAdjacentKeysAreAllThere() throws Exception {
    SharedBTree<Integer, Integer> tree = STOA.bTree("adjacent", Integer.class, Integer.class);
    var nodes = new TreeEntries(ConsistentAccess.live(STOA), "adjacent");
    int count = 800 / LESS;
    var next = new AtomicInteger();
    try (var threads = Executors.newFixedThreadPool(16)) {
      var putting = new ArrayList<Future<?>>();
      for (int i = 0; i < 16; i++) {
        putting.add(
            threads.submit(() -> {
              for (int key; (key = next.getAndIncrement()) < count; ) {
                tree.fastPut(key, key);
                assertEquals(key, tree.get(key));
              }
            }));
      }
      for (Future<?> one : putting) one.get();
    }
    assertEquals(count, tree.size());
    tree.forEach((key, value) -> assertEquals(key, value));
    nodes.check();
  }

  private static int nodesOf(String tree) {
    try (var all = STOA.list(NodeObject.class)) {
      return (int)
          all.stream()
              .filter(node -> NodeKey.tree((String) STOA.ref(node).key()).equals(tree))
              .count();
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void clearsRangesAsATreeMapDoes(long seed) {
    SharedBTree<Integer, Integer> tree = STOA.bTree("ranges " + seed, Integer.class, Integer.class);
    var nodes = new TreeEntries(ConsistentAccess.live(STOA), "ranges " + seed);
    var model = new TreeMap<Integer, Integer>();
    var random = new Random(seed);
    for (int i = 0; i < 10 / LESS; i++) {
      var part = new TreeMap<Integer, Integer>();
      for (int n = 0; n < 100; n++) part.put(random.nextInt(2_000), i);
      tree.putAll(part);
      model.putAll(part);
      int low = random.nextInt(2_000);
      int high = low + random.nextInt(i % 5 == 4 ? 2_000 : 200);
      boolean lowIn = random.nextBoolean();
      boolean highIn = random.nextBoolean();
      switch (random.nextInt(5)) {
        case 0 -> {
          model.headMap(low, highIn).clear();
          tree.headMap(low, highIn).clear();
        }
        case 1 -> {
          model.tailMap(high, lowIn).clear();
          tree.tailMap(high, lowIn).clear();
        }
        default -> {
          model.subMap(low, lowIn, high, highIn).clear();
          tree.subMap(low, lowIn, high, highIn).clear();
        }
      }
      nodes.check();
      assertEquals(model, tree);
    }
  }

  @Test
  void readsAsManyNodesAsItHasLevels() {
    SharedBTree<Integer, String> tree = STOA.bTree("reads", Integer.class, String.class);
    var all = new TreeMap<Integer, String>();
    for (int i = 0; i < 1_000; i++) all.put(i, "v" + i);
    tree.putAll(all);
    var reads = new AtomicInteger();
    var counted =
        new TreeEntries(ConsistentAccess.live(STOA), "reads")
            .through(node -> {
              reads.incrementAndGet();
              return node;
            });
    assertEquals("v500", counted.get(500));
    assertEquals(tree.height(), reads.get());
    reads.set(0);
    assertEquals(
        new Pair(501, "v501"),
        counted.edge(new Scan(Span.ALL.from(500, false), Scan.Direction.ASCENDING)));
    assertTrue(reads.get() <= 2 * tree.height(), reads + " reads");
  }

  @Test
  void splitsAndMergesInATransactionOfTheProgram() {
    SharedBTree<Integer, String> tree = STOA.bTree("program", Integer.class, String.class);
    var nodes = new TreeEntries(ConsistentAccess.live(STOA), "program");
    int put = 300 / LESS; // more than a node has
    int removed = 250 / LESS;
    STOA.transact(() -> {
      for (int i = 0; i < put; i++) tree.put(i, "v" + i);
      for (int i = 0; i < removed; i++) assertEquals("v" + i, tree.remove(i));
      return tree.size();
    });
    assertEquals(put - removed, tree.size());
    nodes.check();
    assertThrows(
        IllegalStateException.class,
        () ->
            STOA.transact(() -> {
              tree.clear();
              assertTrue(tree.isEmpty());
              throw new IllegalStateException("back");
            }));
    assertEquals(put - removed, tree.size());
    nodes.check();
  }

  @Test
  void staysWholeWhileManySplitAndMerge() throws Exception {
    SharedBTree<Integer, Integer> tree = STOA.bTree("many", Integer.class, Integer.class);
    var nodes = new TreeEntries(ConsistentAccess.live(STOA), "many");
    int callers = 3;
    var models = new ArrayList<TreeMap<Integer, Integer>>();
    var futures = new ArrayList<Future<?>>();
    try (var threads = Executors.newFixedThreadPool(callers)) {
      for (int t = 0; t < callers; t++) {
        int own = t;
        var model = new TreeMap<Integer, Integer>();
        models.add(model);
        futures.add(
            threads.submit(() -> {
              var random = new Random(own);
              for (int i = 0; i < 600 / LESS; i++) {
                // Each caller has keys of its own, beside those of the others.
                int key = random.nextInt(150 / LESS) * callers + own;
                boolean grows = i < 250 / LESS;
                if (grows || random.nextInt(4) == 0) {
                  model.put(key, i);
                  if (i % 2 == 0) tree.put(key, i);
                  else tree.fastPut(key, i);
                } else {
                  Integer first = model.isEmpty() ? key : model.firstKey();
                  assertEquals(model.remove(first), tree.remove(first));
                }
                if (i % 50 == 0) nodes.check();
              }
            }));
      }
    }
    for (Future<?> future : futures) future.get();
    nodes.check();
    var all = new TreeMap<Integer, Integer>();
    models.forEach(all::putAll);
    assertEquals(all, tree);
  }

  @Test
  void entriesUpToTheLimitSplitAndMergeAndLargerOnesAreRefused() {
    int callBytesMax = 1 << 16;
    int valueChars = callBytesMax / 72 - 64;
    var limits = Limits.standard().withCallBytesMax(callBytesMax);
    try (Stoa stoa = Stoa.open(StoaConfig.of("memory:").withLimits(limits))) {
      SharedBTree<Integer, String> tree = stoa.bTree("large", Integer.class, String.class);
      var nodes = new TreeEntries(ConsistentAccess.live(stoa), "large");
      String value = "x".repeat(valueChars);
      for (int i = 0; i < 300; i++) tree.put(i, value + i);
      nodes.check();
      assertEquals(2, tree.height());
      for (int i = 0; i < 280; i++) assertEquals(value + i, tree.remove(i));
      nodes.check();
      String tooLarge = "x".repeat(callBytesMax / 72);
      var refused = assertThrows(LimitExceeded.class, () -> tree.put(290, tooLarge));
      String message = String.valueOf(refused.getMessage());
      assertTrue(message.contains("callBytesMax"), message);
      assertTrue(message.contains("290 in B-tree large"), message);
      assertThrows(LimitExceeded.class, () -> tree.replace(290, tooLarge));
      assertEquals(value + 290, tree.get(290));
      // The leaf is as writable as before.
      tree.put(290, "small");
      assertEquals("small", tree.get(290));
    }
  }

  @Test
  void aScanSeesOneMoment() {
    SharedBTree<Integer, String> tree = STOA.bTree("scan", Integer.class, String.class);
    var all = new TreeMap<Integer, String>();
    int count = 1_000 / LESS;
    for (int i = 0; i < count; i++) all.put(i, "v" + i);
    tree.putAll(all);
    var keys = tree.keySet().iterator();
    for (int i = 0; i < count; i++) {
      assertEquals(i, keys.next());
      if (i == count / 3) tree.clear();
    }
    assertTrue(tree.isEmpty());
  }
}
