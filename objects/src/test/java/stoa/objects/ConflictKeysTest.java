package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Call;
import stoa.Commutes;
import stoa.Key;
import stoa.NotShareable;
import stoa.Shared;
import stoa.Stoa;
import stoa.Transaction;
import stoa.Transactional;
import stoa.TxOptions;

/// Transactions conflict over the parts of objects on which they work.
class ConflictKeysTest {
  enum Size {
    SMALL,
    LARGE
  }

  record Article(String name, Size size, LocalDate since) {}

  @Shared(name = "keys.Stock")
  static class Stock {
    private final Map<String, Long> counts = new TreeMap<>();

    public long put(@Key String article, long count) {
      counts.put(article, count);
      return count;
    }

    public long take(@Key String article, long count) {
      long left = get(article) - count;
      if (left < 0) throw new IllegalStateException("only " + get(article));
      return put(article, left);
    }

    public long stamp(@Key String article) {
      return put(article, Call.now().getEpochSecond());
    }

    public void putLarge(@Key Article article, long count) {
      counts.put(article.toString(), count);
    }

    public void putMany(@Key Object articles, long count) {
      for (Object article : (List<?>) articles) counts.put((String) article, count);
    }

    @Commutes
    public void addEverywhere(long count) {
      counts.replaceAll((_, before) -> before + count);
    }

    @Commutes
    public void add(@Key String article, long count) {
      counts.merge(article, count, Long::sum);
    }

    public void clear() {
      counts.clear();
    }

    @Accessor
    public long get(@Key String article) {
      return counts.getOrDefault(article, 0L);
    }

    @Accessor
    public long total() {
      return counts.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  @Shared(name = "keys.Counter")
  static class Counter {
    private long value;

    @Commutes
    public void add(long more) {
      if (more < 0 && value + more < 0) throw new IllegalStateException("only " + value);
      value += more;
    }

    public void set(long next) {
      value = next;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  /// The calls of another caller in the middle of a transaction.
  private interface Meanwhile {
    void run();
  }

  /// The calls of a transaction.
  private interface Body {
    void run(Stock stock, Counter counter);
  }

  /// Returns whether a transaction commits although others have changed something meanwhile.
  private static boolean commits(Stoa stoa, Body body, Meanwhile others) {
    try (Transaction transaction = stoa.begin(TxOptions.STANDARD)) {
      body.run(
          transaction.on(stoa.get(Stock.class, "s")), transaction.on(stoa.get(Counter.class, "c")));
      others.run();
      return transaction.commit() instanceof Transaction.Outcome.Committed;
    }
  }

  private static Stock stock(Stoa stoa) {
    Stock stock = stoa.create(Stock.class, "s");
    stock.put("a", 10);
    stock.put("b", 20);
    return stock;
  }

  private static Counter counter(Stoa stoa) {
    return stoa.create(Counter.class, "c");
  }

  @Test
  void callsOfDifferentKeysDoNotConflict() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Stock stock = stock(stoa);
      Counter counter = counter(stoa);
      assertTrue(
          commits(
              stoa,
              (s, c) -> {
                c.set(s.take("a", 1));
                assertEquals(9, s.get("a"));
              },
              () -> {
                stock.take("b", 5);
                stoa.transact(() -> stock.take("b", 5));
              }));
      assertEquals(9, counter.value());
      assertEquals(9, stock.get("a"));
      assertEquals(10, stock.get("b"));
      assertTrue(commits(stoa, (s, c) -> c.set(s.get("a")), () -> stock.put("b", 1)));
    }
  }

  @Test
  void callsOfOneKeyConflict() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Stock stock = stock(stoa);
      Counter counter = counter(stoa);
      assertFalse(commits(stoa, (s, _) -> s.take("a", 1), () -> stock.take("a", 10)));
      assertFalse(commits(stoa, (s, c) -> c.set(s.get("b")), () -> stock.put("b", 1)));
      assertFalse(
          commits(
              stoa,
              (s, c) -> c.set(s.get("b")),
              () -> stoa.transact(() -> stock.put("a", stock.put("b", 2)))));
      assertEquals(0, counter.value());
    }
  }

  @Test
  void aCallOnTheWholeObjectConflictsWithEveryKey() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Stock stock = stock(stoa);
      counter(stoa);
      assertFalse(commits(stoa, (s, c) -> c.set(s.total()), () -> stock.put("b", 1)));
      assertFalse(commits(stoa, (s, _) -> s.take("a", 1), stock::clear));
      assertFalse(commits(stoa, (s, c) -> c.set(s.get("a")), stock::clear));
      assertFalse(commits(stoa, (s, _) -> s.put("z", s.total()), () -> stock.put("b", 1)));
      // A list does not tell which lists are equal to it.
      assertFalse(
          commits(
              stoa, (s, _) -> s.putMany(List.of("x"), 1), () -> stock.putMany(List.of("y"), 1)));
    }
  }

  @Test
  void equalKeysOfOtherInstancesConflict() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Stock stock = stock(stoa);
      counter(stoa);
      var since = LocalDate.of(2026, 11, 27);
      assertFalse(
          commits(
              stoa,
              (s, _) -> s.putLarge(new Article("x", Size.LARGE, since), 1),
              () -> stock.putLarge(new Article("x", Size.LARGE, LocalDate.of(2026, 11, 27)), 2)));
      assertTrue(
          commits(
              stoa,
              (s, _) -> s.putLarge(new Article("x", Size.LARGE, since), 1),
              () -> stock.putLarge(new Article("x", Size.SMALL, since), 2)));
    }
  }

  @Test
  void commutingCallsConflictWithOthersOnly() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Stock stock = stock(stoa);
      Counter counter = counter(stoa);
      assertTrue(
          commits(
              stoa,
              (_, c) -> c.add(1),
              () -> {
                counter.add(2);
                stoa.transact(() -> counter.add(3));
              }));
      assertEquals(6, counter.value());
      assertFalse(commits(stoa, (_, c) -> c.add(1), () -> counter.set(100)));
      assertFalse(commits(stoa, (_, c) -> c.set(c.value() + 1), () -> counter.add(2)));
      assertFalse(commits(stoa, (s, c) -> s.put("a", c.value()), () -> counter.add(2)));
      assertEquals(104, counter.value());
      assertTrue(commits(stoa, (s, _) -> s.add("a", 1), () -> stock.add("a", 2)));
      assertTrue(commits(stoa, (s, _) -> s.add("a", 1), () -> stock.put("b", 2)));
      assertTrue(commits(stoa, (s, _) -> s.add("a", 1), () -> stock.addEverywhere(1)));
      assertTrue(commits(stoa, (s, _) -> s.addEverywhere(1), () -> stock.add("a", 2)));
      assertFalse(commits(stoa, (s, _) -> s.addEverywhere(1), () -> stock.put("b", 2)));
      assertFalse(commits(stoa, (s, _) -> s.take("a", 1), () -> stock.addEverywhere(1)));
      // The first call could change the part by what another part is.
      assertFalse(
          commits(
              stoa,
              (s, _) -> {
                s.addEverywhere(1);
                s.take("a", 1);
              },
              () -> stock.add("b", 1)));
      assertEquals(20, stock.get("a"));
      assertFalse(commits(stoa, (s, _) -> s.add("a", 1), () -> stock.put("a", 2)));
      assertFalse(commits(stoa, (s, c) -> c.set(s.get("a")), () -> stock.add("a", 2)));
    }
  }

  @Test
  void aCommutingCallThatThrowsHasToldSomething() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Stock stock = stock(stoa);
      Counter counter = counter(stoa);
      assertFalse(
          commits(
              stoa,
              (s, c) -> {
                assertThrows(IllegalStateException.class, () -> c.add(-5));
                s.put("a", 0);
              },
              () -> counter.add(10)));
      assertEquals(10, stock.get("a"));
    }
  }

  @Test
  void aCallThatWentByTheTimeConflictsWithEveryChange() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Stock stock = stock(stoa);
      counter(stoa);
      assertTrue(commits(stoa, (s, _) -> s.stamp("a"), () -> {}));
      assertFalse(commits(stoa, (s, _) -> s.stamp("a"), () -> stock.put("b", 1)));
    }
  }

  @Test
  void theBeginningAndTheEndOfAnObjectConflictWithEveryKey() {
    try (Stoa stoa = Stoa.open("memory:")) {
      counter(stoa);
      Stock stock = stoa.get(Stock.class, "s");
      assertFalse(commits(stoa, (s, _) -> s.add("a", 1), () -> stock.add("b", 1)));
      assertFalse(
          commits(
              stoa,
              (s, c) -> c.set(s.get("a")),
              () -> {
                stoa.delete(stock);
                stoa.create(Stock.class, "s");
              }));
    }
  }

  @Test
  void aNestedTransactionThatIsDroppedHasReadItsKeys() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Stock stock = stock(stoa);
      Counter counter = counter(stoa);
      var attempts = new ArrayList<Long>();
      stoa.transact(() -> {
        long[] left = new long[1];
        assertThrows(
            IllegalStateException.class,
            () ->
                stoa.transact(() -> {
                  left[0] = stock.take("a", 1);
                  throw new IllegalStateException("not today");
                }));
        attempts.add(left[0]);
        if (attempts.size() == 1) elsewhere(() -> stock.put("a", 5));
        counter.set(left[0]);
      });
      assertEquals(List.of(9L, 4L), attempts);
      assertEquals(4, counter.value());
    }
  }

  private static void elsewhere(Runnable task) {
    var thread = new Thread(task);
    thread.start();
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aTransactionOverManyObjectsConflictsByTheirKeys() {
    try (Stoa stoa = Stoa.open("memory:")) {
      List<Stock> stocks = new ArrayList<>();
      for (int i = 0; i < 8; i++) stocks.add(stoa.create(Stock.class, "stock " + i));
      try (Transaction transaction = stoa.begin(TxOptions.STANDARD)) {
        for (Stock stock : stocks) transaction.on(stock).put("a", 1);
        for (Stock stock : stocks) stock.put("b", 2);
        assertInstanceOf(Transaction.Outcome.Committed.class, transaction.commit());
      }
      try (Transaction transaction = stoa.begin(TxOptions.STANDARD)) {
        for (Stock stock : stocks) transaction.on(stock).put("a", 3);
        stocks.get(5).take("a", 1);
        assertInstanceOf(Transaction.Outcome.Aborted.class, transaction.commit());
      }
      assertEquals(8 * 3 - 1, stocks.stream().mapToLong(Stock::total).sum());
    }
  }

  @Test
  void theLogTellsTheSameWhenItIsReadAgain(@TempDir Path folder) {
    String url = "file:" + folder.resolve("store");
    try (Stoa stoa = Stoa.open(url)) {
      Stock stock = stock(stoa);
      Counter counter = counter(stoa);
      assertTrue(
          commits(
              stoa,
              (s, c) -> {
                c.add(s.take("a", 1));
                s.add("c", 7);
              },
              () -> {
                stock.put("b", 3);
                stock.add("c", 4);
                counter.add(100);
              }));
      var entries = stoa.history(stock).entries(1, 99);
      for (int i = 1; i < entries.size(); i++) {
        assertTrue(
            !entries.get(i).time().isBefore(entries.get(i - 1).time()), "time never goes back");
      }
    }
    try (Stoa stoa = Stoa.open(url)) {
      Stock stock = stoa.get(Stock.class, "s");
      assertEquals(109, stoa.get(Counter.class, "c").value());
      assertEquals(9 + 3 + 11, stock.total());
      assertEquals(9, stock.get("a"));
    }
  }

  @Test
  void theFirstCallAfterARestartConflictsByItsKeyToo(@TempDir Path folder) {
    String url = "file:" + folder.resolve("store");
    try (Stoa stoa = Stoa.open(url)) {
      stock(stoa);
      counter(stoa);
    }
    try (Stoa stoa = Stoa.open(url);
        Transaction transaction = stoa.begin(TxOptions.STANDARD)) {
      stoa.get(Stock.class, "s").put("b", 1);
      stoa.get(Counter.class, "c").add(1);
      transaction.on(stoa.get(Stock.class, "s")).put("a", 2);
      transaction.on(stoa.get(Counter.class, "c")).add(2);
      assertInstanceOf(Transaction.Outcome.Committed.class, transaction.commit());
      assertEquals(3, stoa.get(Counter.class, "c").value());
    }
  }

  // ---- misuse

  @Shared
  static class Telling {
    @Commutes
    public long add(long more) {
      return more;
    }
  }

  @Shared
  static class Reading {
    @Commutes
    @Accessor
    public void nothing() {}
  }

  @Shared
  static class Bodies {
    @Transactional
    public void move(@Key String from) {}
  }

  @Shared
  static class Twice {
    public void put(@Key String one, @Key String two) {}
  }

  @Shared
  static class Arrays {
    public void put(@Key byte[] one) {}
  }

  @Test
  void promisesThatCannotHoldAreRefused() {
    try (Stoa stoa = Stoa.open("memory:")) {
      assertRefused(stoa, Telling.class, "Telling.add(long)", "return void");
      assertRefused(stoa, Reading.class, "Reading.nothing()", "remove one of them");
      assertRefused(stoa, Bodies.class, "Bodies.move(java.lang.String)", "mark the methods");
      assertRefused(stoa, Twice.class, "two parameters marked @Key", "one record");
      assertRefused(stoa, Arrays.class, "a @Key of byte[]", "use a String");
    }
  }

  private static void assertRefused(Stoa stoa, Class<?> type, String what, String remedy) {
    String refusal = "" + assertThrows(NotShareable.class, () -> stoa.get(type, "x"));
    assertTrue(refusal.contains(what) && refusal.contains(remedy), refusal);
  }
}
