package stoa.indexes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.Condition.atLeast;
import static stoa.Condition.between;
import static stoa.Condition.eq;
import static stoa.Condition.field;
import static stoa.Condition.greater;
import static stoa.Condition.in;
import static stoa.Condition.isTrue;
import static stoa.Condition.less;
import static stoa.Condition.meets;
import static stoa.Condition.not;
import static stoa.Condition.startsWith;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.CallFailed;
import stoa.Change;
import stoa.Changes;
import stoa.Closed;
import stoa.Condition;
import stoa.Index;
import stoa.LimitExceeded;
import stoa.LiveQuery;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.NotUnique;
import stoa.Query;
import stoa.Shared;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.Unique;
import stoa.front.types.Keys;

/// Indexes and queries, in the process, at a server, and over three groups.
// NullAway does not see that the accessor of a method reference may return null; a query reads the
// unused field.
@SuppressWarnings({"NullAway", "UnusedVariable"})
class QueryTest {
  enum Status {
    OPEN,
    PAID,
    SHIPPED
  }

  @Shared(name = "test.Order", key = "id")
  static class Order {
    private final String id;
    @Index private @Nullable String customer;
    private long total;
    private Status status = Status.OPEN;
    @Unique private @Nullable String invoice;
    @Unique private @Nullable Price price;

    record Price(BigDecimal amount, String currency) {}

    Order(String id) {
      this.id = id;
    }

    Order(String id, String customer, long total) {
      this.id = id;
      this.customer = customer;
      this.total = total;
    }

    @Accessor
    public String id() {
      return id;
    }

    @Accessor
    public @Nullable String customer() {
      return customer;
    }

    @Index
    @Accessor
    public long total() {
      return total;
    }

    @Index
    @Accessor
    public Status status() {
      return status;
    }

    @Accessor
    public boolean isLarge() {
      return total >= 50;
    }

    /// Amounts.
    record Range(long from, long to) {}

    @Accessor
    public boolean costs(Range range) {
      return range.from <= total && total < range.to;
    }

    @Accessor
    public long distance(long to) {
      return Math.abs(total - to);
    }

    public void change(@Nullable String by, long amount) {
      customer = by;
      total = amount;
    }

    @Accessor
    public @Nullable Price price() {
      return price;
    }

    public void offer(String amount) {
      price = new Price(new BigDecimal(amount), "EUR");
    }

    public void ship() {
      status = Status.SHIPPED;
    }

    public void bill(String number) {
      total++;
      invoice = number;
    }

    public void billAndFail(String number) {
      invoice = number;
      throw new IllegalStateException("no paper");
    }
  }

  private static List<String> ids(List<Order> orders) {
    return orders.stream().map(Order::id).toList();
  }

  private static List<String> ids(Query<Order> query) {
    return ids(query.list());
  }

  private static Order order(Stoa stoa, String id, String customer, long total) {
    return stoa.create(Order.class, id, customer, total);
  }

  private static void checkIndexes(Stoa stoa) {
    assertEquals(List.of(), stoa.checkIndexes(Order.class));
  }

  @Test
  void namesTheValueOfARecordWithADecimal() {
    try (Stoa stoa = Stoa.open("memory:")) {
      stoa.get(Order.class, "a").offer("12.50");
      Order other = stoa.get(Order.class, "b");
      var taken = assertThrows(NotUnique.class, () -> other.offer("12.5"));
      assertTrue(String.valueOf(taken.getMessage()).contains("12.5"), taken::getMessage);
      other.offer("-0.003");
      assertEquals(2, stoa.query(Order.class).countBy(Order::price).size());
    }
  }

  @Test
  void whatAnIndexCutsOffIsComparedAndIsNotGuessed() {
    try (Stoa stoa = Stoa.open("memory:")) {
      String begin = "x".repeat(1_200);
      order(stoa, "a", begin + "a", 1);
      order(stoa, "b", begin + "b", 2);
      Query<Order> all = stoa.query(Order.class);
      assertEquals(List.of("b"), ids(all.where(eq(Order::customer, begin + "b"))));
      Condition<Order> known = startsWith(Order::customer, begin.substring(0, 999));
      assertEquals(List.of("a", "b"), ids(all.where(known).orderBy(Order::id)));
      assertThrows(
          IllegalArgumentException.class, () -> all.where(startsWith(Order::customer, begin)));
      assertThrows(LimitExceeded.class, () -> all.countBy(Order::customer));
      assertEquals(List.of(begin + "a", begin + "b"), all.orderBy(Order::id).list(Order::customer));
      String digits = "7".repeat(1_200);
      stoa.get(Order.class, "a").offer(digits);
      assertThrows(LimitExceeded.class, () -> all.countBy(Order::price));
      Order other = stoa.get(Order.class, "b");
      assertThrows(NotUnique.class, () -> other.offer(digits));
    }
  }

  @Test
  void accessorsOfConditionsHaveArguments() {
    try (Stoa stoa = Stoa.open("memory:")) {
      order(stoa, "a", "ann", 10);
      order(stoa, "b", "bob", 60);
      order(stoa, "c", "ann", 70);
      Query<Order> all = stoa.query(Order.class);
      var range = new Order.Range(60, 70);
      assertEquals(List.of("b"), ids(all.where(isTrue(order -> order.costs(range)))));
      Query<Order> near = all.orderBy(order -> order.distance(61));
      assertEquals(List.of("b", "c", "a"), ids(near));
      assertEquals(List.of(1L, 9L, 51L), near.list(order -> order.distance(61)));
      assertTrue(near.explain().endsWith("sorts by distance(long)"), near::explain);
    }
  }

  /// A predicate of a query, with a value of its own.
  record Dear(long least, Status status) implements Predicate<Order> {
    @Override
    public boolean test(Order order) {
      return order.status() == status && order.total() >= least;
    }
  }

  record Shipping() implements Predicate<Order> {
    @Override
    public boolean test(Order order) {
      order.ship();
      return true;
    }
  }

  @Test
  void predicatesAreRecordsOfUsers() {
    try (Stoa stoa = Stoa.open("memory:")) {
      order(stoa, "a", "ann", 10);
      Order b = order(stoa, "b", "bob", 60);
      order(stoa, "c", "ann", 70);
      Query<Order> all = stoa.query(Order.class);
      Query<Order> dear = all.where(meets(new Dear(60, Status.OPEN))).orderBy(Order::id);
      assertEquals(List.of("b", "c"), ids(dear));
      assertEquals(1, dear.where(eq(Order::customer, "ann")).count());
      assertEquals(
          2, all.where(not(meets(new Dear(60, Status.OPEN))).or(eq(Order::id, "c"))).count());
      b.ship();
      assertEquals(List.of("c"), ids(dear));
      assertTrue(dear.explain().contains("meets stoa.indexes.QueryTest$Dear"), dear::explain);
      assertThrows(NotShareable.class, () -> all.where(meets(order -> order.total() > 1)));
      assertThrows(CallFailed.class, () -> all.where(meets(new Shipping())).count());
      assertEquals(Status.OPEN, stoa.get(Order.class, "a").status());
    }
  }

  @Test
  void showsWholeValuesOfTheObjects() {
    try (Stoa stoa = Stoa.open("memory:")) {
      String name = "ann ".repeat(1_000);
      Order a = order(stoa, "a", name, 1);
      a.offer("12.5");
      Query<Order> all = stoa.query(Order.class);
      assertEquals(List.of(name), all.list(Order::customer));
      assertEquals(List.of(new Order.Price(new BigDecimal("12.5"), "EUR")), all.list(Order::price));
      assertEquals(List.of("a"), ids(all.where(eq(Order::customer, name))));
    }
  }

  @Test
  void whatOnlyIndexesLearnIsNoChange() {
    try (Stoa stoa = Stoa.open("memory:");
        var stream = stoa.changes(Changes.of(Order.class))) {
      Order order = stoa.create(Order.class, "gone", "ann", 1L);
      assertTrue(stoa.delete(order));
      assertEquals("gone", stream.poll().orElseThrow().at().object().key());
      assertTrue(stream.poll().orElseThrow() instanceof Change.Deleted<?>);
      assertTrue(stream.poll().isEmpty());
    }
  }

  @Test
  void findsObjectsByTheirValues() {
    try (Stoa stoa = Stoa.open("memory:")) {
      order(stoa, "a", "ann", 10);
      order(stoa, "b", "bob", 60);
      Order c = order(stoa, "c", "ann", 70);
      order(stoa, "d", "anton", 80);
      Query<Order> all = stoa.query(Order.class);
      assertEquals(List.of("a", "c"), ids(all.where(eq(Order::customer, "ann"))));
      assertEquals(List.of("a", "c"), ids(all.where(eq(field("customer"), "ann"))));
      assertEquals(List.of("b", "c"), ids(all.where(between(Order::total, 60L, 80L))));
      assertEquals(
          List.of("d", "c"),
          ids(all.where(greater(Order::total, 60L)).orderBy(Order::total).descending()));
      assertEquals(List.of("a", "c", "d"), ids(all.where(startsWith(Order::customer, "an"))));
      assertEquals(
          List.of("b", "d"),
          ids(all.where(in(Order::customer, List.of("bob", "anton", "x"))).orderBy(Order::total)));
      assertEquals(
          List.of("c"), ids(all.where(eq(Order::customer, "ann").and(isTrue(Order::isLarge)))));
      assertEquals(
          List.of("a", "b"),
          ids(
              all.where(eq(Order::customer, "bob").or(less(Order::total, 20L)))
                  .orderBy(Order::total)));
      assertEquals(
          List.of("b", "d"), ids(all.where(not(eq(Order::customer, "ann"))).orderBy(Order::id)));
      c.change(null, 5);
      c.ship();
      assertEquals(List.of("a"), ids(all.where(eq(Order::customer, "ann"))));
      assertEquals(List.of("c"), ids(all.where(eq(Order::customer, (String) null))));
      assertEquals(3, all.where(eq(Order::status, Status.OPEN)).count());
      assertEquals(4, all.count());
      assertEquals(1, all.where(isTrue(Order::isLarge).and(eq(Order::customer, "bob"))).count());
      assertEquals(Map.of(Status.OPEN, 3L, Status.SHIPPED, 1L), all.countBy(Order::status));
      var large = new LinkedHashMap<String, Long>();
      large.put("anton", 1L);
      large.put("bob", 1L);
      assertEquals(large, all.where(isTrue(Order::isLarge)).countBy(Order::customer));
      assertEquals(
          Arrays.asList("anton", "bob", "ann", null),
          all.orderBy(Order::total).descending().list(Order::customer));
      assertEquals(List.of(60L), all.where(eq(Order::customer, "bob")).list(Order::total));
      stoa.delete(c);
      assertEquals(List.of(), ids(all.where(eq(Order::customer, (String) null))));
      assertEquals(3, all.count());
      checkIndexes(stoa);
    }
  }

  @Test
  void aValueOfAnotherObjectIsRefusedAndTheCallUndone() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Order a = order(stoa, "a", "ann", 1);
      Order b = order(stoa, "b", "bob", 2);
      a.bill("7");
      NotUnique refused = assertThrows(NotUnique.class, () -> b.bill("7"));
      String message = String.valueOf(refused.getMessage());
      assertTrue(message.contains("\"7\"") && message.contains("[a]"), message);
      assertEquals(2, b.total());
      assertEquals(List.of("a"), ids(stoa.query(Order.class).where(eq(field("invoice"), "7"))));
      assertThrows(IllegalStateException.class, () -> b.billAndFail("8"));
      a.bill("9");
      b.bill("7");
      assertThrows(NotUnique.class, () -> a.bill("7"));
      assertThrows(
          NotUnique.class,
          () ->
              stoa.transact(() -> {
                b.change("carl", 3);
                a.bill("7");
                return b;
              }));
      assertEquals("bob", b.customer());
      checkIndexes(stoa);
    }
  }

  @Shared(name = "test.User")
  static class User {
    @Unique private final String email;

    User(String email) {
      this.email = email;
    }

    @Accessor
    public String email() {
      return email;
    }
  }

  @Test
  void anObjectThatBeginsWithAValueOfAnotherIsNotCreated() {
    try (Stoa stoa = Stoa.open("memory:")) {
      stoa.create(User.class, "a", "ann@example.org");
      assertThrows(NotUnique.class, () -> stoa.create(User.class, "b", "ann@example.org"));
      assertTrue(stoa.find(User.class, "b").isEmpty());
      assertEquals("bob@example.org", stoa.create(User.class, "b", "bob@example.org").email());
      assertEquals(2, stoa.query(User.class).where(startsWith(User::email, "")).count());
    }
  }

  @Test
  void anObjectThatIsDeletedLeavesItsValues() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Order a = order(stoa, "a", "ann", 1);
      a.bill("7");
      assertTrue(stoa.delete(a));
      Order b = order(stoa, "b", "bob", 2);
      b.bill("7");
      assertEquals(List.of("b"), ids(stoa.query(Order.class)));
      checkIndexes(stoa);
    }
  }

  private static void beside(Runnable call) {
    CompletableFuture.runAsync(call).join();
  }

  @Test
  void aTransactionSeesItsOwnChangesAndConflictsOverWhatItAskedFor() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Order a = order(stoa, "a", "ann", 1);
      Order b = order(stoa, "b", "bob", 2);
      Query<Order> anns = stoa.query(Order.class).where(eq(Order::customer, "ann"));
      var runs = new int[2];
      stoa.transact(() -> {
        assertEquals(++runs[0], anns.count());
        b.change("ann", 3);
        assertEquals(runs[0] + 1, anns.count());
        if (runs[0] == 1) beside(() -> order(stoa, "c", "ann", 4));
        return b;
      });
      assertEquals(2, runs[0]);
      stoa.transact(() -> {
        runs[1]++;
        assertEquals(3, anns.count());
        a.change("ann", 10);
        if (runs[1] == 1) beside(() -> order(stoa, "d", "carl", 5));
        return a;
      });
      assertEquals(1, runs[1]);
      checkIndexes(stoa);
    }
  }

  @Test
  void pagesFollowEachOtherAtASnapshot() {
    try (Stoa stoa = Stoa.open("memory:")) {
      stoa.transact(() -> {
        for (int i = 0; i < 25; i++) order(stoa, "o" + i, "c" + i % 3, i / 2);
        return stoa;
      });
      Query<Order> all = stoa.query(Order.class).orderBy(Order::total);
      List<String> expected = ids(all);
      try (Snapshot then = stoa.snapshot()) {
        stoa.get(Order.class, "o3").change("c9", 100);
        var seen = new ArrayList<String>();
        String next = null;
        do {
          Query.Page<Order> page = all.limit(4).at(then).page(next);
          for (Order order : page.objects()) seen.add(order.id());
          next = page.next();
        } while (next != null);
        assertEquals(expected, seen);
        assertEquals(expected.reversed(), ids(all.descending().at(then)));
        assertEquals(0, all.where(eq(Order::customer, "c9")).at(then).count());
      }
      assertEquals("o3", all.descending().first().orElseThrow().id());
    }
  }

  @Test
  void randomChangesKeepTheIndexesEqualToARecount() {
    var random = new Random(7);
    try (Stoa stoa = Stoa.open("memory:")) {
      for (int step = 0; step < 150; step++) {
        Order order = stoa.get(Order.class, "o" + random.nextInt(12));
        int what = random.nextInt(10);
        String text = "v" + random.nextInt(5);
        try {
          if (what < 4) order.change(random.nextInt(6) == 0 ? null : text, random.nextInt(9));
          else if (what < 6) order.bill(text);
          else if (what == 6) order.billAndFail(text);
          else if (what == 7) stoa.delete(order);
          else transacted(stoa, order, random, text);
        } catch (NotUnique | IllegalStateException refused) {
          assertTrue(String.valueOf(refused.getMessage()).length() > 3);
        }
      }
      checkIndexes(stoa);
      Query<Order> all = stoa.query(Order.class);
      for (int i = 0; i < 5; i++) {
        String customer = "v" + i;
        List<String> counted =
            all.list().stream().filter(o -> customer.equals(o.customer())).map(Order::id).toList();
        assertEquals(counted.size(), all.where(eq(Order::customer, customer)).count());
        assertEquals(
            counted.stream().sorted().toList(),
            ids(
                all.where(eq(Order::customer, customer).and(atLeast(Order::total, 0L)))
                    .orderBy(Order::id)));
      }
    }
  }

  private static void transacted(Stoa stoa, Order order, Random random, String text) {
    Order other = stoa.get(Order.class, "o" + random.nextInt(12));
    stoa.transact(() -> {
      order.change(text, random.nextInt(9));
      other.bill(text + "x");
      return order;
    });
  }

  @Shared(name = "test.Fraction")
  static class Fraction {
    private long over;
    private long under = 1;

    @Index
    @Accessor
    public long quotient() {
      return over / under;
    }

    @Accessor
    public boolean isOdd() {
      if (over < 0) throw new IllegalStateException("negative");
      return over % 2 != 0;
    }

    public void set(long numerator, long denominator) {
      over = numerator;
      under = denominator;
    }
  }

  private static void checkNames(CallFailed failed, String accessor) {
    String message = String.valueOf(failed.getMessage());
    assertTrue(message.contains("[a]") && message.contains(accessor), message);
  }

  @Test
  void anAccessorThatThrowsFailsTheCallOrTheQueryThatReadsIt() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Fraction a = stoa.get(Fraction.class, "a");
      a.set(6, 3);
      checkNames(
          assertThrows(CallFailed.class, () -> a.set(1, 0)), "quotient threw java.lang.Arith");
      assertThrows(CallFailed.class, () -> stoa.transact(() -> a.set(1, 0)));
      assertEquals(2, a.quotient());
      Query<Fraction> all = stoa.query(Fraction.class);
      Query<Fraction> odd = all.where(isTrue(Fraction::isOdd));
      assertEquals(0, odd.count());
      a.set(-3, 1);
      checkNames(assertThrows(CallFailed.class, odd::list), "isOdd threw java.lang.IllegalState");
      assertEquals(0, odd.where(eq(Fraction::quotient, 2L)).count());
      assertEquals(List.of(), stoa.checkIndexes(Fraction.class));
    }
  }

  @Test
  void aQuerySeesTheObjectsAsOfALogAddress() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Order a = order(stoa, "a", "ann", 1);
      LogAddress then;
      try (Transaction both = stoa.begin(TxOptions.STANDARD)) {
        both.on(a).change("bob", 2);
        both.on(stoa.get(Order.class, "b")).change("bob", 3);
        then = ((Transaction.Outcome.Committed) both.commit()).address();
      }
      a.change("ann", 4);
      Query<Order> bobs = stoa.query(Order.class).where(eq(Order::customer, "bob"));
      assertEquals(List.of("b"), ids(bobs.list()));
      Query<Order> earlier = bobs.at(then).orderBy(Order::total);
      assertEquals(List.of("a", "b"), ids(earlier.list()));
      assertEquals(2, earlier.count());
      assertEquals(earlier.list(Order::total), earlier.list().stream().map(Order::total).toList());
      assertThrows(IllegalStateException.class, earlier::watch);
    }
  }

  @Test
  void aCheckNamesWhatAnIndexHasInExcessAndLacks() {
    try (Stoa stoa = Stoa.open("memory:")) {
      order(stoa, "a", "ann", 1);
      checkIndexes(stoa);
      String ann = "\u0001ann"; // the form of the text
      IndexPart part =
          InstalledIndexes.partAt(
              stoa, "test.Order", "index customer text", InstalledIndexes.numberOf(ann));
      part.remove(ann, InstalledIndexes.text(Keys.encode("a")));
      part.add(ann, InstalledIndexes.text(Keys.encode("ghost")));
      assertEquals(
          List.of(
              "the index customer text of test.Order has test.Order[ghost] under \"ann\", and the"
                  + " object does not exist",
              "the index customer text of test.Order lacks test.Order[a], which has \"ann\""),
          stoa.checkIndexes(Order.class).stream().sorted().toList());
    }
  }

  @Test
  void aCheckOfTheIndexesLooksAtALogAddress() {
    try (Stoa stoa = Stoa.open("memory:")) {
      order(stoa, "a", "ann", 1);
      checkIndexes(stoa);
      String ann = "\u0001ann"; // the form of the text
      String object = InstalledIndexes.text(Keys.encode("a"));
      IndexPart part =
          InstalledIndexes.partAt(
              stoa, "test.Order", "index customer text", InstalledIndexes.numberOf(ann));
      try (Snapshot right = stoa.snapshot()) {
        part.remove(ann, object);
        try (Snapshot wrong = stoa.snapshot()) {
          part.add(ann, object);
          checkIndexes(stoa);
          assertEquals(List.of(), stoa.checkIndexes(Order.class, right.address()));
          assertEquals(
              List.of(
                  "the index customer text of test.Order lacks test.Order[a], which has \"ann\""),
              stoa.checkIndexes(Order.class, wrong.address()));
        }
      }
      LogAddress tail = stoa.streams().tail();
      var future = new LogAddress(tail.epoch(), tail.counter() + 1_000_000);
      assertThrows(IllegalArgumentException.class, () -> stoa.checkIndexes(Order.class, future));
    }
  }

  @Test
  void aLiveQueryTellsEachAnswerThatDiffers() throws InterruptedException {
    try (Stoa stoa = Stoa.open("memory:")) {
      Order a = order(stoa, "a", "ann", 10);
      Query<Order> all = stoa.query(Order.class);
      Query<Order> anns = all.where(eq(Order::customer, "ann"));
      Query<Order> large = all.where(isTrue(Order::isLarge)).orderBy(Order::total).descending();
      try (LiveQuery<Order> ofAnn = anns.watch();
          LiveQuery<Order> ofLarge = large.watch()) {
        assertEquals(List.of("a"), ids(ofAnn.next().objects()));
        assertEquals(List.of(), ofLarge.next().objects());
        Order b = order(stoa, "b", "ann", 60);
        LiveQuery.Answer<Order> told = ofAnn.next();
        assertEquals(List.of("a", "b"), ids(told.objects()));
        assertEquals(List.of("b"), ids(told.entered()));
        assertEquals(List.of("b"), ids(ofLarge.next().objects()));
        a.change("bob", 70);
        assertEquals(List.of("a"), ids(ofAnn.next().left()));
        assertEquals(List.of("a", "b"), ids(ofLarge.next().objects()));
        b.ship(); // changes no answer
        stoa.delete(a);
        assertEquals(List.of("b"), ids(ofLarge.next().objects()));
        assertTrue(ofAnn.next(Duration.ZERO).isEmpty());
      }
      LiveQuery<Order> closed = anns.watch();
      closed.close();
      assertThrows(Closed.class, closed::next);
      assertThrows(IllegalStateException.class, () -> stoa.transact(() -> anns.watch()));
    }
  }

  @Test
  void explainsHowItAnswers() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Query<Order> query = stoa.query(Order.class);
      assertEquals(
          "test.Order by its index customer text: 1 value; compares isLarge in each object; sorts by"
              + " total",
          query
              .where(eq(Order::customer, "ann").and(isTrue(Order::isLarge)))
              .orderBy(Order::total)
              .explain());
    }
  }

  @Shared(name = "test.Listed")
  static class Listed {
    @Index private final List<String> tags = new ArrayList<>();

    public void tag(String tag) {
      tags.add(tag);
    }
  }

  @Test
  void refusesAClassWhoseIndexHasNoOrder() {
    try (Stoa stoa = Stoa.open("memory:")) {
      NotShareable refused = assertThrows(NotShareable.class, () -> stoa.get(Listed.class, "a"));
      assertTrue(String.valueOf(refused.getMessage()).contains("Listed.tags has an index"));
    }
  }
}
