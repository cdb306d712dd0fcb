package stoa.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.test.StoaAssertions.assertCommutes;
import static stoa.test.StoaAssertions.assertDeterministic;
import static stoa.test.StoaAssertions.assertFits;
import static stoa.test.StoaAssertions.assertLinearizable;
import static stoa.test.StoaAssertions.assertReplaysEqual;

import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Call;
import stoa.Commutes;
import stoa.NotShareable;
import stoa.Shared;
import stoa.Stoa;

@StoaTest
class StoaAssertionsTest {
  private static final int THREADS = 4;
  private static final int CALLS = 20;

  /// Its order depends on hashes.
  @Shared(name = "test.Names")
  static class Names {
    private final Set<String> names = new HashSet<>();

    String add(String name) {
      names.add(name);
      return names.iterator().next();
    }
  }

  /// It keeps something beside its fields.
  @Shared(name = "test.Ticket")
  static class Ticket {
    private static final AtomicLong ALL = new AtomicLong();
    private long number;

    long draw() {
      number = ALL.incrementAndGet();
      return number;
    }

    @Accessor
    long number() {
      return number;
    }
  }

  @Shared(name = "test.Dice")
  static class Dice {
    private int last;

    int roll() {
      last = Call.random().nextInt(6);
      return last;
    }
  }

  /// Its constructor takes arguments.
  @Shared(name = "test.Show")
  static class Show {
    private int seats;
    private long price;

    Show(int seats, long price) {
      this.seats = seats;
      this.price = price;
    }

    long book() {
      if (seats == 0) throw new IllegalStateException("sold out");
      seats--;
      return price;
    }

    void raise(long more) {
      price += more;
    }

    @Accessor
    int seats() {
      return seats;
    }
  }

  @Shared(name = "test.Clocked")
  static class Clocked {
    private long last;

    long tick() {
      last = System.nanoTime();
      return last;
    }
  }

  @Shared(name = "test.Item")
  static class Item {
    private long count;

    long add(long more) {
      count += more;
      return count;
    }
  }

  @Shared(name = "test.Item")
  static class ItemWithNote {
    private long count;
    private String note = "";

    long add(long more) {
      count += more;
      note = "added " + more;
      return count + note.length();
    }
  }

  @Shared(name = "test.Item")
  static class ItemOfText {
    private String count = "";

    long add(long more) {
      count += more;
      return count.length();
    }
  }

  private static void says(String part, Throwable told) {
    String all = String.valueOf(told.getMessage());
    assertTrue(all.contains(part), all);
  }

  // ---- linearizable

  @Test
  void callsOfAClassAreLinearizable(Stoa stoa) {
    assertLinearizable(
        stoa,
        Account.class,
        "ada",
        THREADS,
        caller -> {
          for (int i = 0; i < CALLS; i++) {
            if (caller.random().nextBoolean()) caller.call("deposit 1", a -> a.deposit(1));
            else caller.call("balance", Account::balance);
          }
        });
  }

  @Test
  void whatAMethodThrowsIsAnAnswer(Stoa stoa) {
    assertLinearizable(
        stoa,
        Account.class,
        "bob",
        THREADS,
        caller -> {
          for (int i = 0; i < CALLS; i++) {
            try {
              if (i % 2 == 0) caller.call("deposit 1", a -> a.deposit(1));
              caller.run("withdraw 1", a -> a.withdraw(1));
            } catch (IllegalArgumentException poor) {
              caller.call("balance", Account::balance);
            }
          }
        });
  }

  @Test
  void aLostUpdateIsNotLinearizable(Stoa stoa) {
    var lost =
        assertThrows(
            AssertionError.class,
            () ->
                assertLinearizable(
                    stoa,
                    Account.class,
                    "eve",
                    THREADS,
                    caller -> {
                      for (int i = 0; i < CALLS; i++) {
                        caller.call("double", a -> a.deposit(a.balance() + 1));
                      }
                    }));
    says("no order explains", lost);
    says("double", lost);
    says("{balance=", lost);
  }

  @Test
  void theObjectMustBeNew(Stoa stoa) {
    stoa.get(Account.class, "old").deposit(1);
    assertThrows(
        IllegalArgumentException.class,
        () -> assertLinearizable(stoa, Account.class, "old", 1, _ -> {}));
  }

  @Test
  void theConstructorMayTakeArguments(Stoa stoa) {
    assertLinearizable(
        stoa,
        Show.class,
        "gala",
        List.of(2, 500L),
        THREADS,
        caller -> {
          for (int i = 0; i < 2; i++) {
            try {
              caller.call("book", Show::book);
            } catch (IllegalStateException soldOut) {
              caller.call("seats", Show::seats);
            }
          }
        });
    assertEquals(0, stoa.get(Show.class, "gala").seats());
  }

  @Test
  void argumentsThatNoConstructorTakesAreRefusedBeforeAnyCall(Stoa stoa) {
    var told =
        assertThrows(
            NotShareable.class,
            () ->
                assertLinearizable(
                    stoa, Show.class, "opera", 1, caller -> caller.call("book", Show::book)));
    says("has no constructor for ()", told);
    assertTrue(stoa.find(Show.class, "opera").isEmpty());
  }

  @Test
  void aTransactionOnTheObjectIsOneCall(Stoa stoa) {
    assertLinearizable(
        stoa,
        Account.class,
        "transacted",
        THREADS,
        caller -> {
          for (int i = 0; i < 5; i++) {
            caller.call("double", a -> stoa.transact(() -> a.deposit(a.balance() + 1)));
          }
        });
  }

  @Test
  void callsOnOtherObjectsAreRefusedAndNotMadeAgain(Stoa stoa) {
    Account other = stoa.get(Account.class, "other");
    var told =
        assertThrows(
            IllegalArgumentException.class,
            () ->
                assertLinearizable(
                    stoa,
                    Account.class,
                    "first",
                    1,
                    caller ->
                        caller.call(
                            "two objects",
                            a -> stoa.transact(() -> a.deposit(1) + other.deposit(1)))));
    says("\"two objects\"", told);
    says("test.Account[other]", told);
    says("Simulation", told);
    assertEquals(1, other.balance());
  }

  @Test
  void valuesOfTheKeyValueStoreAreRefusedAndNotPutAgain(Stoa stoa) {
    var told =
        assertThrows(
            IllegalArgumentException.class,
            () ->
                assertLinearizable(
                    stoa,
                    Account.class,
                    "noting",
                    1,
                    caller -> caller.run("note", _ -> stoa.store().put("note", "x"))));
    says("key-value store", told);
  }

  // ---- deterministic

  @Test
  void methodsMayReturnNothingAndConstructorsTakeArguments() {
    assertDeterministic(Account.class, a -> a.deposit(3), a -> a.withdraw(1));
    assertDeterministic(Show.class, "gala", List.of(2, 500L), Show::book, s -> s.raise(100));
  }

  @Test
  void aDeterministicClassPasses() {
    assertDeterministic(Dice.class, Dice::roll, Dice::roll);
    assertDeterministic(Account.class, a -> a.deposit(3), Account::last);
  }

  @Test
  void anOrderOfHashesIsNotDeterministic() {
    var told =
        assertThrows(
            AssertionError.class,
            () ->
                assertDeterministic(
                    Names.class, n -> n.add("zoe"), n -> n.add("bob"), n -> n.add("ada")));
    says("on Names is not deterministic", told);
  }

  @Test
  void aStaticFieldIsNotDeterministic() {
    assertThrows(AssertionError.class, () -> assertDeterministic(Ticket.class, Ticket::draw));
  }

  @Test
  void aClassThatReadsAClockIsNotDeterministic() {
    var told =
        assertThrows(AssertionError.class, () -> assertDeterministic(Clocked.class, Clocked::tick));
    says("nanoTime", told);
  }

  // ---- replays

  @Test
  void replaysOfARightClassAreEqual(StoaStore store) {
    for (int i = 0; i < CALLS; i++) store.stoa().get(Account.class, i % 3).deposit(i);
    store.stoa().get(Names.class, "n").add("ada");
    assertReplaysEqual(store);
  }

  @Test
  void replaysOfAStaticFieldDiffer(StoaStore store) {
    store.stoa().get(Account.class, "ada").deposit(1);
    store.stoa().get(Ticket.class, "next").draw();
    var told = assertThrows(AssertionError.class, () -> assertReplaysEqual(store));
    says("test.Ticket[next]", told);
    says("1 of 2 objects", told);
  }

  // ---- changed classes

  @Test
  void aChangedClassFitsOrDoesNot(StoaStore store, @TempDir Path directory) {
    store.stoa().get(Item.class, "apples").add(3);
    Path saved = directory.resolve("saved");
    store.saveTo(saved);
    assertFits(saved);
    assertFits(saved, ItemWithNote.class);
    var told = assertThrows(AssertionError.class, () -> assertFits(saved, ItemOfText.class));
    says("test.Item", told);
    assertFits(saved); // the check has changed nothing
  }

  @Test
  void aDirectoryWithoutAStoreIsRefused(@TempDir Path directory) {
    assertThrows(IllegalArgumentException.class, () -> assertFits(directory.resolve("none")));
  }

  @Shared(name = "test.Tally")
  static class Tally {
    private long sum;
    private long most;
    private final TreeSet<String> names = new TreeSet<>();

    @Commutes
    public void add(long amount) {
      sum += amount;
    }

    @Commutes
    public void atLeast(long value) {
      most = Math.max(most, value);
    }

    @Commutes
    public void enter(String name) {
      var _ = names.add(name);
    }

    /// Does not commute with [#add].
    @Commutes
    public void cap(long limit) {
      sum = Math.min(sum, limit);
    }

    /// Does not commute with [#add].
    @Commutes
    public void spend(long amount) {
      if (sum < amount) throw new IllegalStateException("only " + sum);
      sum -= amount;
    }
  }

  @Test
  void commutingCallsMayComeInAnyOrder() {
    assertCommutes(
        Tally.class,
        t -> t.add(3),
        t -> t.add(-5),
        t -> t.atLeast(4),
        t -> t.atLeast(2),
        t -> t.enter("a"),
        t -> t.enter("b"));
  }

  @Test
  void aPromiseToCommuteThatIsBrokenIsFound() {
    AssertionError capped =
        assertThrows(
            AssertionError.class,
            () -> assertCommutes(Tally.class, t -> t.enter("a"), t -> t.add(3), t -> t.cap(2)));
    assertEquals(
        "steps 2 and 3 on Tally do not commute: sum is 2, and there 3. Take @Commutes off one of the"
            + " methods",
        capped.getMessage());
    AssertionError spent =
        assertThrows(
            AssertionError.class,
            () -> assertCommutes(Tally.class, t -> t.add(3), t -> t.spend(2)));
    assertTrue(
        String.valueOf(spent.getMessage())
            .startsWith("steps 1 and 2 on Tally do not commute: step 2"),
        spent.getMessage());
  }
}
