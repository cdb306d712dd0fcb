package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Change;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.History;
import stoa.Stoa;

/// A store that is opened by one build of a program after the other.
class CodeChangesTest {
  private static final String SHARED = "@Shared(name = \"account\") public class Account { ";
  private static final String FIRST =
      SHARED
          + "private long balance;"
          + "public void deposit(long amount) { balance += amount; }"
          + "@Accessor public long balance() { return balance; } }";
  private static final String FIXED =
      SHARED
          + "private long balance;"
          + "public void deposit(long amount) { balance += amount * 2; }"
          + "@Accessor public long balance() { return balance; } }";

  @TempDir Path directory;
  private int builds;

  private Program build(String... sources) {
    return new Program(directory.resolve("build" + ++builds), sources);
  }

  private <T extends @Nullable Object> T open(Program program, Function<Stoa, T> use) {
    return program.run(() -> {
      try (Stoa stoa = Stoa.open("file:" + directory.resolve("store"))) {
        return use.apply(stoa);
      }
    });
  }

  private static Object account(Program program, Stoa stoa) {
    return stoa.get(program.type("Account"), "a");
  }

  private static @Nullable Object then(Stoa stoa, Object account, long version, String method) {
    History<Object> history = stoa.history(account);
    return Program.call(history.at(version), method);
  }

  @Test
  void aFixLeavesThePastAsItWas() {
    Program first = build(FIRST);
    long versions =
        open(
            first,
            stoa -> {
              Object account = account(first, stoa);
              for (int i = 0; i < 10; i++) Program.call(account, "deposit", 10L);
              return stoa.history(account).version();
            });
    Program fixed = build(FIXED);
    open(
        fixed,
        stoa -> {
          Object account = account(fixed, stoa);
          assertEquals(100L, Program.call(account, "balance"));
          assertEquals(30L, then(stoa, account, 3, "balance"));
          Program.call(account, "deposit", 10L);
          assertEquals(120L, Program.call(account, "balance"));
          assertEquals(100L, then(stoa, account, versions, "balance"));
          return null;
        });
    open(
        fixed,
        stoa -> {
          Object account = account(fixed, stoa);
          assertEquals(120L, Program.call(account, "balance"));
          assertEquals(50L, then(stoa, account, 5, "balance"));
          return null;
        });
    // Back to the first build: another activation.
    open(
        first,
        stoa -> {
          Object account = account(first, stoa);
          assertEquals(120L, Program.call(account, "balance"));
          Program.call(account, "deposit", 10L);
          assertEquals(130L, Program.call(account, "balance"));
          assertEquals(120L, then(stoa, account, versions + 1, "balance"));
          return null;
        });
  }

  private static final String ORDER_1 = "public record Order(String item, int count) {}";
  private static final String ORDER_2 =
      "public record Order(String item, int count, String note) {"
          + " @Migrate static Order from(Map<String, Object> stored) {"
          + " return new Order((String) stored.get(\"item\"), (int) stored.get(\"count\"), \"old\"); } }";

  private static String cart(String adds, String totals) {
    return "@Shared(name = \"cart\") public class Cart {"
        + " private final List<Order> orders = new ArrayList<>(); private Stock stock; private int sum;"
        + " public void from(Stock stock) { this.stock = stock; }"
        + " public Order add(Order order) { orders.add(order); sum += order.count() * "
        + adds
        + "; if (stock != null) sum += stock.take(order); return order; }"
        + " @Accessor public List<Order> orders() { return List.copyOf(orders); }"
        + " @Accessor public int sum() { return sum"
        + totals
        + "; } }";
  }

  private static String stock(String answer) {
    return "@Shared(name = \"stock\") public class Stock { private int taken;"
        + " public int take(Order order) { taken += order.count(); return "
        + answer
        + "; }"
        + " @Accessor public int taken() { return taken; } }";
  }

  @Test
  void valuesAndCallsOfOtherObjectsKeepTheirMeaning() {
    Program first = build(ORDER_1, cart("1", ""), stock("100"));
    open(
        first,
        stoa -> {
          Object cart = stoa.get(first.type("Cart"), "c");
          Object stock = stoa.get(first.type("Stock"), "s");
          Program.call(cart, "from", stock);
          for (int i = 1; i <= 3; i++) {
            Object order = first.make("Order", "item " + i, i);
            assertEquals(order, Program.call(cart, "add", order));
          }
          assertEquals(306, Program.call(cart, "sum"));
          return null;
        });
    Program second = build(ORDER_2, cart("10", " + 1"), stock("1000"));
    open(
        second,
        stoa -> {
          Object cart = stoa.get(second.type("Cart"), "c");
          Object stock = stoa.get(second.type("Stock"), "s");
          assertEquals(307, Program.call(cart, "sum"));
          assertEquals(6, Program.call(stock, "taken"));
          assertEquals(
              "[Order[item=item 1, count=1, note=old], Order[item=item 2, count=2, note=old],"
                  + " Order[item=item 3, count=3, note=old]]",
              String.valueOf(Program.call(cart, "orders")));
          Object order = second.make("Order", "item 4", 4, "new");
          assertEquals(order, Program.call(cart, "add", order));
          assertEquals(306 + 40 + 1000 + 1, Program.call(cart, "sum"));
          assertEquals(10, Program.call(stock, "taken"));
          return null;
        });
    open(
        second,
        stoa -> {
          Object cart = stoa.get(second.type("Cart"), "c");
          assertEquals(1347, Program.call(cart, "sum"));
          long last = stoa.history(cart).version();
          assertEquals(1347, then(stoa, cart, last, "sum"));
          assertEquals(1, then(stoa, cart, 1, "sum"));
          var entries = stoa.history(cart).entries(1, last + 1);
          assertEquals(
              List.of("Order[item=item 1, count=1, note=old]"),
              entries.stream()
                  .map(History.Entry::event)
                  .filter(History.Event.Called.class::isInstance)
                  .map(History.Event.Called.class::cast)
                  .filter(called -> called.method().startsWith("add"))
                  .limit(1)
                  .map(called -> String.valueOf(called.arguments().getFirst()))
                  .toList());
          requireFirstChange(stoa, cart);
          return null;
        });
  }

  /// A change stream tells a call of old code in the classes of now.
  private static void requireFirstChange(Stoa stoa, Object cart) {
    var what = Changes.ofObject(cart).fromBeginning().withStates();
    try (ChangeStream<Object> changes = stoa.changes(what)) {
      Change<Object> from = changes.poll().orElseThrow();
      assertEquals(1, from.at().version());
      Change<Object> change = changes.poll().orElseThrow();
      if (!(change instanceof Change.Called<Object> add)) throw new AssertionError(change);
      String order = "Order[item=item 1, count=1, note=old]";
      assertEquals("[" + order + "]", add.arguments().toString());
      assertEquals("Returned[value=" + order + "]", add.outcome().toString());
      Object state = Objects.requireNonNull(add.after());
      assertEquals("[" + order + "]", String.valueOf(Program.call(state, "orders")));
    }
  }

  @Test
  void aStoreFromBeforeThereWereVersionsKeepsItsPast() {
    Program old = Program.withoutVersions(directory.resolve("old"), FIRST);
    open(
        old,
        stoa -> {
          Object account = account(old, stoa);
          for (int i = 0; i < 10; i++) Program.call(account, "deposit", 10L);
          assertEquals(List.of(), versions(ObjectService.of(stoa, _ -> true).code()));
          return null;
        });
    Program first = build(FIRST);
    open(
        first,
        stoa -> {
          Program.call(account(first, stoa), "deposit", 10L);
          return null;
        });
    Program fixed = build(FIXED);
    for (long balance = 110; balance <= 150; balance += 20) {
      long before = balance;
      open(
          fixed,
          stoa -> {
            Object account = account(fixed, stoa);
            assertEquals(before, Program.call(account, "balance"));
            assertEquals(30L, then(stoa, account, 3, "balance"));
            Program.call(account, "deposit", 10L);
            return null;
          });
    }
  }

  @Test
  void thousandsOfCallsWithCheckpoints() {
    var sums = new TreeMap<Long, Object>();
    Program first = build(FIRST);
    open(
        first,
        stoa -> {
          deposits(account(first, stoa), stoa, sums);
          return null;
        });
    Program fixed = build(FIXED);
    for (int round = 1; round <= 2; round++) {
      long before = 3_000 + (round - 1) * 6_000L;
      open(
          fixed,
          stoa -> {
            Object account = account(fixed, stoa);
            assertEquals(before, Program.call(account, "balance"));
            deposits(account, stoa, sums);
            assertEquals(before + 6_000, Program.call(account, "balance"));
            sums.forEach(
                (version, sum) -> assertEquals(sum, then(stoa, account, version, "balance")));
            return null;
          });
    }
  }

  private static void deposits(Object account, Stoa stoa, SortedMap<Long, Object> sums) {
    for (int i = 1; i <= 3_000; i++) {
      Program.call(account, "deposit", 1L);
      if (i % 500 > 1) continue;
      Object sum = Objects.requireNonNull(Program.call(account, "balance"));
      sums.put(stoa.history(account).version(), sum);
    }
  }

  private static void deposit(Stoa stoa, Object account, long amount, int times) {
    stoa.transact(() -> {
      for (int i = 0; i < times; i++) Program.call(account, "deposit", amount);
      return times;
    });
  }

  @Test
  void transactionsUseTheCodeThatIsActive() {
    Program first = build(FIRST);
    open(
        first,
        stoa -> {
          Program.call(account(first, stoa), "deposit", 10L);
          deposit(stoa, account(first, stoa), 10, 1);
          return null;
        });
    Program fixed = build(FIXED);
    open(
        fixed,
        stoa -> {
          Object account = account(fixed, stoa);
          deposit(stoa, account, 10, 2);
          assertEquals(60L, Program.call(account, "balance"));
          return null;
        });
    open(
        first,
        stoa -> {
          Object account = account(first, stoa);
          assertEquals(60L, Program.call(account, "balance"));
          deposit(stoa, account, 1, 1);
          assertEquals(61L, Program.call(account, "balance"));
          assertEquals(20L, then(stoa, account, 2, "balance"));
          return null;
        });
  }

  @Test
  void whatTheNewCodeCannotTakeIsRefusedBeforeAnythingRuns() {
    Program first = build(FIRST);
    open(first, stoa -> Program.call(account(first, stoa), "deposit", 10L));
    Program narrow =
        build(
            SHARED
                + "private int balance;"
                + "public void deposit(long amount) { balance += (int) amount; }"
                + "@Accessor public long balance() { return balance; } }");
    for (int round = 0; round < 2; round++) {
      assertThrows(
          stoa.NotShareable.class,
          () -> open(narrow, stoa -> Program.call(account(narrow, stoa), "deposit", 1L)));
    }
    open(
        first,
        stoa -> {
          assertEquals(10L, Program.call(account(first, stoa), "balance"));
          return null;
        });
  }

  @Test
  void aMethodThatIsGoneIsStillReplayed() {
    Program first = build(FIRST);
    open(first, stoa -> Program.call(account(first, stoa), "deposit", 10L));
    Program renamed =
        build(
            SHARED
                + "private long balance;"
                + "@MethodId(\"deposit(long)\") public void add(long amount, String why) {"
                + " balance += amount; }"
                + "@Accessor public long balance() { return balance; } }");
    open(
        renamed,
        stoa -> {
          Object account = account(renamed, stoa);
          assertEquals(10L, Program.call(account, "balance"));
          Program.call(account, "add", 5L, "why");
          assertEquals(15L, Program.call(account, "balance"));
          assertEquals(10L, then(stoa, account, 1, "balance"));
          return null;
        });
    open(
        renamed,
        stoa -> {
          assertEquals(15L, Program.call(account(renamed, stoa), "balance"));
          return null;
        });
  }

  @Test
  void codeIsDeployedWhileTheStoreIsOpen() {
    Program first = build(FIRST);
    Program fixed = build(FIXED);
    Program narrow = build(SHARED + "private int balance; public void deposit(long a) {} }");
    open(
        first,
        stoa -> {
          CodeService code = ObjectService.of(stoa, _ -> true).code();
          Object account = account(first, stoa);
          Program.call(account, "deposit", 10L);
          assertEquals(List.of("account 1 true"), versions(code));
          assertEquals(
              "[account CHANGED 1 0]",
              findings(code.check(fixed.files(), CodeService.Sample.WHOLE, _ -> {})));
          assertEquals(List.of("account 1 true"), versions(code));
          assertEquals("[account CHANGED 1 0]", findings(code.deploy(fixed.files(), _ -> {})));
          assertEquals(List.of("account 1 false", "account 2 true"), versions(code));
          assertEquals("[account ACTIVE 0 0]", findings(code.deploy(fixed.files(), _ -> {})));
          Program.call(account, "deposit", 10L);
          assertEquals(30L, Program.call(account, "balance"));
          var refused = code.deploy(narrow.files(), _ -> {});
          assertEquals(1, refused.size());
          assertEquals(false, refused.getFirst().fits(), refused::toString);
          assertEquals(2, code.versions().size());
          String before = code.versions().getFirst().version();
          var back = code.deploy(code.files("account", before), Set.of("account"), _ -> {});
          assertEquals("[account CHANGED 1 0]", findings(back));
          Program.call(account, "deposit", 10L);
          assertEquals(40L, Program.call(account, "balance"));
          assertEquals(
              List.of("account 1 false", "account 2 false", "account 3 true"), versions(code));
          assertEquals(10L, then(stoa, account, 1, "balance"));
          assertEquals(30L, then(stoa, account, 2, "balance"));
          return null;
        });
  }

  @Test
  void tryingCodeTellsWhichCallsWouldHaveComeToSomethingElse() {
    Program first = meaning("Long::sum", "amount > 10", "1");
    Program same = meaning("(a, b) -> a + b", "10 < amount", "2 - 1");
    Program silent = meaning("(a, b) -> b", "amount > 10", "1");
    Program strict = meaning("Long::sum", "amount > 5", "1");
    Program more = meaning("Long::sum", "amount > 10", "other.last() - 41");
    open(
        first,
        stoa -> {
          CodeService code = ObjectService.of(stoa, _ -> true).code();
          Object account = account(first, stoa);
          var other = stoa.get(first.type("Account"), "other");
          Program.call(account, "deposit", "a", 1L);
          Program.call(account, "deposit", "a", 2L);
          Program.call(account, "draw");
          Program.call(account, "time");
          assertEquals("0 of 4: ", replayed(code, same));
          assertEquals(
              "1 of 4: account[a], deposit(java.lang.String,long): null before; now null,"
                  + " and another state is left",
              replayed(code, silent));
          Program.call(account, "withdraw", 7L);
          assertThrows(IllegalStateException.class, () -> Program.call(account, "withdraw", 11L));
          assertEquals("0 of 4: ", replayed(code, same));
          assertEquals(
              "1 of 4: account[a], withdraw(long): 7 before; now"
                  + " java.lang.IllegalStateException: too much",
              replayed(code, strict));
          Program.call(account, "asks", other);
          assertEquals("0 of 4: ", replayed(code, same));
          String asked = replayed(code, more);
          assertEquals(
              "1 of 4: account[a], asks(Account): 2 before; now it asks other objects"
                  + " what it had not asked them",
              asked.replaceAll("asks\\(.*?\\)", "asks(Account)"));
          return null;
        });
  }

  /// @param adds what a deposit does with what is there
  /// @param refuses when a withdrawal throws
  /// @param asked what is added to what another account answers
  private Program meaning(String adds, String refuses, String asked) {
    return build(
        SHARED
            + "private final java.util.Map<String, Long> all = new java.util.HashMap<>();"
            + "private long last = 1;"
            + "public void deposit(String from, long amount) { all.merge(from, amount, "
            + adds
            + "); }"
            + "public long draw() { last = stoa.Call.random().nextLong(); return last; }"
            + "public java.time.Instant time() { return stoa.Call.now(); }"
            + "public long withdraw(long amount) { if ("
            + refuses
            + ") throw new IllegalStateException(\"too much\"); return amount; }"
            + "public long asks(Account other) { return other.last() + "
            + asked
            + "; }"
            + "@Accessor public long last() { return last; } }");
  }

  /// How many of the last calls come to something else in a program, and the first of them.
  private static String replayed(CodeService code, Program program) {
    var found = code.check(program.files(), CodeService.Sample.WHOLE, _ -> {}).getFirst();
    var calls = found.calls();
    assertEquals(true, found.fits(), found::toString);
    // The store notes slow calls, so the versions depend on the machine.
    String first = calls.first().replaceFirst("version \\d+, ", "");
    return calls.different() + " of " + calls.compared() + ": " + first;
  }

  private static List<String> versions(CodeService code) {
    return code.versions().stream().map(v -> v.type() + " " + v.turn() + " " + v.active()).toList();
  }

  private static String findings(List<CodeService.Finding> findings) {
    return findings.stream()
        .map(f -> f.type() + " " + f.kind() + " " + f.objects() + " " + f.unfit())
        .toList()
        .toString();
  }
}
