package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Aborted;
import stoa.Accessor;
import stoa.Call;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.LogOrder;
import stoa.NotShareable;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Transaction;
import stoa.Transactional;
import stoa.TxOptions;
import stoa.View;

class TransactionTest {
  @Shared(name = "tx.Account")
  static class Account {
    private long balance;

    protected Account() {}

    protected Account(long opening) {
      if (opening < 0) throw new IllegalArgumentException("opening " + opening);
      balance = opening;
    }

    @Accessor
    public long balance() {
      return balance;
    }

    public long deposit(long amount) {
      balance += amount;
      return balance;
    }

    public void withdraw(long amount) {
      if (amount > balance) throw new IllegalStateException("only " + balance);
      balance -= amount;
    }

    public long depositTo(Account other, long amount) {
      withdraw(amount);
      return other.deposit(amount);
    }

    public long visit(Account other) {
      return other.depositTo(this, 0);
    }

    @Accessor
    public long sum(Account other) {
      return balance + other.balance();
    }

    @Accessor
    public long sumTwice(Account other, Counted counted) {
      return sum(other) + 1_000 * counted.count();
    }

    @Accessor
    public long around(Account other) {
      return other.around(this);
    }

    @Accessor
    public long along(List<Account> others) {
      if (others.isEmpty()) return balance;
      return balance + others.getFirst().along(others.subList(1, others.size()));
    }

    @Accessor
    public long drain(List<Account> others) {
      long sum = balance;
      while (!others.isEmpty()) sum += others.removeFirst().balance();
      return sum;
    }
  }

  @Shared(name = "tx.Counted", order = LogOrder.STREAM)
  static class Counted {
    private long count;

    protected Counted() {}

    public void add() {
      count++;
    }

    @Accessor
    public long count() {
      return count;
    }
  }

  @Shared(name = "tx.Stamps")
  static class Stamps {
    private final List<String> stamps = new ArrayList<>();

    public String stamp() {
      String stamp =
          Call.now() + " " + Call.random().nextLong() + " " + Call.uuid() + " " + Call.version();
      stamps.add(stamp);
      return stamp;
    }

    @Accessor
    public List<String> stamps() {
      return stamps;
    }
  }

  @Shared(name = "tx.Bank")
  static class Bank {
    private final List<Account> accounts = new ArrayList<>();
    private long touched;

    public void add(Account account) {
      accounts.add(account);
    }

    @Transactional(readOnly = true)
    public long total() {
      return accounts.stream().mapToLong(Account::balance).sum();
    }

    @Transactional
    public void tax(long each) {
      for (Account account : accounts) account.withdraw(each);
    }

    @Transactional
    public void forget() {
      drop();
    }

    private void drop() {
      touched++;
      accounts.clear();
    }

    @Accessor
    public long touched() {
      return touched;
    }
  }

  @Shared(name = "tx.Taxer")
  static class Taxer {
    private long taxed;

    public long tax(Bank bank, long each) {
      bank.tax(each);
      return ++taxed;
    }

    @Accessor
    public long taxed() {
      return taxed;
    }
  }

  @Shared(name = "tx.Bag")
  static class Bag {
    private final HashSet<Integer> numbers = new HashSet<>();

    public void fill(int from, int to) {
      for (int i = from; i < to; i++) numbers.add(i);
    }

    public void empty(int from) {
      numbers.removeIf(number -> number >= from);
    }

    public int take() {
      int taken = numbers.iterator().next();
      numbers.remove(taken);
      return taken;
    }

    @Accessor
    public boolean contains(int number) {
      return numbers.contains(number);
    }
  }

  @Shared(name = "tx.Loose", order = LogOrder.STREAM)
  static class Loose {
    private long value;

    public long increment() {
      return ++value;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  @Test
  void changesOfSeveralObjectsBecomeVisibleTogether() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.get(Account.class, "alice", 100L);
      Account bob = stoa.get(Account.class, "bob");
      long left =
          stoa.transact(() -> {
            alice.withdraw(30);
            bob.deposit(30);
            return alice.balance();
          });
      assertEquals(70, left);
      assertEquals(70, alice.balance());
      assertEquals(30, bob.balance());
      var last = stoa.history(alice).entries(1, 9).getLast().address();
      assertEquals(last, stoa.history(bob).entries(1, 9).getLast().address());
    }
  }

  @Test
  void whatIsExecutedIsWhatTheCallerWasTold(@TempDir Path folder) {
    String url = "file:" + folder.resolve("store");
    int taken;
    int nested;
    try (Stoa stoa = Stoa.open(url)) {
      Bag bag = stoa.get(Bag.class, "b");
      bag.fill(0, 1_000);
      bag.empty(40); // its table stays large: another order than that of a copy
      bag.fill(5_000, 5_008);
      taken = stoa.transact(bag::take);
      assertFalse(bag.contains(taken));
      nested =
          stoa.transact(() -> {
            int first = bag.take();
            return stoa.transact(bag::take) * 10_000 + first;
          });
      assertFalse(bag.contains(nested / 10_000));
      assertFalse(bag.contains(nested % 10_000));
    }
    try (Stoa stoa = Stoa.open(url)) {
      Bag bag = stoa.get(Bag.class, "b");
      assertFalse(bag.contains(taken));
      assertFalse(bag.contains(nested / 10_000));
      assertFalse(bag.contains(nested % 10_000));
    }
  }

  @Test
  void objectsOfAnotherStoreAreRefused() {
    try (Stoa stoa = Stoa.open("memory:");
        Stoa other = Stoa.open("memory:")) {
      Account mine = stoa.create(Account.class, "a", 1L);
      Account theirs = other.create(Account.class, "a", 2L);
      try (Transaction transaction = stoa.begin(TxOptions.STANDARD)) {
        assertThrows(NotShareable.class, () -> transaction.on(theirs));
      }
      assertThrows(NotShareable.class, () -> stoa.delete(theirs));
      assertThrows(NotShareable.class, () -> stoa.history(theirs));
      assertEquals(1, mine.balance());
      assertEquals(2, theirs.balance());
    }
  }

  @Test
  void aNestedTransactionThatOnlyReadsRefusesChanges() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 1L);
      assertThrows(
          UnsupportedOperationException.class,
          () -> stoa.transact(() -> stoa.transact(TxOptions.reading(), () -> alice.deposit(1))));
      assertEquals(1, alice.balance());
    }
  }

  @Test
  void nobodySeesWhatIsNotCommitted() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      try (Transaction transaction = stoa.begin(TxOptions.STANDARD)) {
        assertEquals(150, transaction.on(alice).deposit(50));
        assertEquals(150, transaction.on(alice).balance());
        assertEquals(100, alice.balance());
      }
      assertEquals(100, alice.balance());
      assertEquals(1, stoa.history(alice).version());
    }
  }

  @Test
  void whatTheBodyThrowsRollsBack() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      Account bob = stoa.create(Account.class, "bob", 0L);
      var thrown =
          assertThrows(
              IOException.class,
              () ->
                  stoa.transact(() -> {
                    alice.withdraw(30);
                    bob.deposit(30);
                    throw new IOException("not today");
                  }));
      assertEquals("not today", thrown.getMessage());
      assertEquals(100, alice.balance());
      assertEquals(0, bob.balance());
    }
  }

  @Test
  void itReadsEverythingAsItWasWhenItBegan() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      Account bob = stoa.create(Account.class, "bob", 0L);
      Account late = stoa.get(Account.class, "late", 5L);
      try (Transaction transaction = stoa.begin(TxOptions.reading())) {
        stoa.transact(() -> {
          alice.withdraw(100);
          return bob.deposit(100);
        });
        late.deposit(1);
        assertEquals(100, transaction.on(alice).balance());
        assertEquals(0, transaction.on(bob).balance());
        assertEquals(100, transaction.on(alice).sum(bob));
        assertEquals(5, transaction.on(late).balance());
        assertInstanceOf(Transaction.Outcome.Committed.class, transaction.commit());
      }
      assertEquals(0, alice.balance());
    }
  }

  @Test
  void itIsAbortedWhenWhatItReadHasChangedAndTellsByWhat() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      Account bob = stoa.create(Account.class, "bob", 0L);
      try (Transaction transaction = stoa.begin(TxOptions.STANDARD)) {
        long seen = transaction.on(alice).balance();
        alice.deposit(1);
        transaction.on(bob).deposit(seen);
        var outcome = transaction.commit();
        var aborted = assertInstanceOf(Transaction.Outcome.Aborted.class, outcome).cause();
        assertEquals(stoa.ref(alice), aborted.object());
        assertEquals(stoa.history(alice).entries(2, 2).getFirst().address(), aborted.changedAt());
        assertEquals(1, aborted.readVersion());
        assertEquals(2, aborted.changedVersion());
        String message = aborted.toString();
        assertTrue(message.contains("tx.Account[alice] was changed to version 2 at"), message);
        assertTrue(message.contains("read version 1 at"), message);
      }
      assertEquals(0, bob.balance());
      assertEquals(1, stoa.history(bob).version());
    }
  }

  @Test
  void itRunsAgainUntilItWins() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      var runs = new AtomicInteger();
      stoa.transact(() -> {
        long seen = alice.balance();
        if (runs.incrementAndGet() < 3) CompletableFuture.runAsync(() -> alice.deposit(1)).join();
        return alice.deposit(seen);
      });
      assertEquals(3, runs.get());
      assertEquals(204, alice.balance());
      var options = TxOptions.STANDARD.withAttemptsMax(2);
      assertThrows(
          Aborted.class,
          () ->
              stoa.transact(
                  options,
                  () -> {
                    long seen = alice.balance();
                    CompletableFuture.runAsync(() -> alice.deposit(1)).join();
                    return alice.deposit(seen);
                  }));
    }
  }

  @Test
  void saysWhichObjectAlwaysWonAndWhatToDoWhenAttemptsAreUsedUp() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      Account bob = stoa.create(Account.class, "bob", 100L);
      var runs = new AtomicInteger();
      Aborted told =
          assertThrows(
              Aborted.class,
              () ->
                  stoa.transact(
                      TxOptions.STANDARD.withAttemptsMax(3),
                      () -> {
                        Account other = runs.incrementAndGet() == 1 ? bob : alice;
                        long seen = other.balance();
                        CompletableFuture.runAsync(() -> other.deposit(1)).join();
                        return other.deposit(seen);
                      }));
      assertEquals(3, runs.get());
      assertEquals(stoa.ref(alice), told.object());
      for (String part :
          List.of(
              "run 3 times",
              "most often on tx.Account[alice] (2 times)",
              "attemptsMax is 3",
              "totalTimeMax is 30000 ms",
              "nothing was written",
              "make the body shorter")) {
        assertTrue(told.toString().contains(part), told.toString());
      }
      assertInstanceOf(Aborted.class, told.getCause());
    }
  }

  @Test
  void beginsNoAttemptWhenTheTotalTimeIsOver() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      Duration total = Duration.ofMillis(100);
      long began = System.nanoTime();
      var late = new AtomicInteger();
      // The last attempt begins in time, and may be over before its end or after it.
      StoaException told =
          assertThrows(
              StoaException.class,
              () ->
                  stoa.transact(
                      TxOptions.STANDARD.withTotalTimeMax(total),
                      () -> {
                        if (System.nanoTime() - began > 60_000_000_000L) late.incrementAndGet();
                        long seen = alice.balance();
                        CompletableFuture.runAsync(() -> alice.deposit(1)).join();
                        return alice.deposit(seen);
                      }));
      boolean aborted = told instanceof Aborted;
      assertTrue(aborted || told instanceof DeadlineExceeded, told.toString());
      String why = aborted ? "totalTimeMax is 100 ms" : "took more than 100 ms";
      assertTrue(told.toString().contains(why), told.toString());
      assertTrue(told.toString().contains("totalTimeMax"), told.toString());
      assertEquals(0, late.get());
    }
  }

  @Test
  void nestedCallsTakePart() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      Account bob = stoa.create(Account.class, "bob", 0L);
      assertThrows(
          IllegalArgumentException.class,
          () ->
              stoa.transact(() -> {
                assertEquals(30, alice.depositTo(bob, 30));
                assertEquals(100, alice.sum(bob));
                assertEquals(30, bob.balance());
                throw new IllegalArgumentException();
              }));
      assertEquals(0, bob.balance());
      long given = stoa.transact(() -> alice.depositTo(bob, 40));
      assertEquals(40, given);
      assertEquals(60, alice.balance());
      assertEquals(40, bob.balance());
    }
  }

  @Test
  void aCallThatWouldWaitForItselfIsRefused() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      Account bob = stoa.create(Account.class, "bob", 0L);
      assertThrows(Deadlock.class, () -> stoa.transact(() -> alice.visit(bob)));
      assertEquals(0, bob.balance());
    }
  }

  @Test
  void aNestedTransactionThatThrowsDropsItsOwnChangesOnly() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      Account bob = stoa.create(Account.class, "bob", 0L);
      stoa.transact(() -> {
        alice.deposit(1);
        assertThrows(
            IllegalStateException.class,
            () ->
                stoa.transact(() -> {
                  alice.deposit(10);
                  bob.deposit(10);
                  assertEquals(111, alice.balance());
                  bob.withdraw(1_000);
                  return 0;
                }));
        assertEquals(101, alice.balance());
        assertEquals(0, bob.balance());
        stoa.transact(() -> alice.deposit(100));
        return alice.balance();
      });
      assertEquals(201, alice.balance());
      assertEquals(0, bob.balance());
    }
  }

  @Test
  void objectsAreCreatedFoundAndDeletedInside(@TempDir Path folder) {
    String url = "file:" + folder.resolve("store");
    try (Stoa stoa = Stoa.open(url)) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      stoa.transact(() -> {
        Account carol = stoa.create(Account.class, "carol", 7L);
        assertEquals(7, carol.balance());
        assertTrue(stoa.find(Account.class, "carol").isPresent());
        assertTrue(stoa.delete(alice));
        assertThrows(Gone.class, alice::balance);
        assertFalse(stoa.find(Account.class, "alice").isPresent());
        return 0;
      });
      assertThrows(Gone.class, alice::balance);
      assertThrows(
          IllegalArgumentException.class,
          () -> stoa.transact(() -> stoa.get(Account.class, "dan", -1L).deposit(1)));
      assertFalse(stoa.find(Account.class, "dan").isPresent());
    }
    try (Stoa stoa = Stoa.open(url);
        var accounts = stoa.list(Account.class)) {
      var names = accounts.stream().map(account -> stoa.ref(account).key()).toList();
      assertEquals(List.of("carol"), names);
    }
  }

  @Test
  void timeRandomnessAndVersionsAreTheSameInTheReplay(@TempDir Path folder) {
    String url = "file:" + folder.resolve("store");
    List<String> told;
    try (Stoa stoa = Stoa.open(url)) {
      Stamps stamps = stoa.get(Stamps.class, "one");
      stamps.stamp();
      told = stoa.transact(() -> List.of(stamps.stamp(), stamps.stamp()));
      assertEquals(told, stamps.stamps().subList(1, 3));
    }
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(told, stoa.get(Stamps.class, "one").stamps().subList(1, 3));
    }
  }

  @Test
  void aMethodMarkedTransactionalRunsOverAllThatItCalls(@TempDir Path folder) {
    String url = "file:" + folder.resolve("store");
    try (Stoa stoa = Stoa.open(url)) {
      Bank bank = stoa.get(Bank.class, "b");
      for (int i = 0; i < 3; i++) {
        Account account = stoa.create(Account.class, "a" + i, 10L * i);
        bank.add(account);
      }
      assertEquals(30, bank.total());
      assertThrows(IllegalStateException.class, () -> bank.tax(5));
      assertEquals(30, bank.total());
      stoa.get(Account.class, "a0").deposit(5);
      bank.tax(5);
      assertEquals(20, bank.total());
      assertEquals(3, stoa.history(bank).version());
      assertThrows(NotShareable.class, bank::forget);
      assertEquals(0, bank.touched());
    }
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(20, stoa.get(Bank.class, "b").total());
    }
  }

  @Test
  void aMethodThatCallsAMethodMarkedTransactionalIsReplayed(@TempDir Path folder) {
    String url = "file:" + folder.resolve("store");
    try (Stoa stoa = Stoa.open(url)) {
      Bank bank = stoa.get(Bank.class, "b");
      bank.add(stoa.create(Account.class, "a", 10L));
      Taxer taxer = stoa.get(Taxer.class, "t");
      assertEquals(1, stoa.transact(() -> taxer.tax(bank, 3)));
      assertThrows(IllegalStateException.class, () -> stoa.transact(() -> taxer.tax(bank, 30)));
      assertEquals(List.of(1L, 7L), List.of(taxer.taxed(), bank.total()));
    }
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(1, stoa.get(Taxer.class, "t").taxed());
      assertEquals(7, stoa.get(Bank.class, "b").total());
    }
  }

  @Test
  void objectsOrderedByThemselvesTakeNoPart() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Loose loose = stoa.get(Loose.class, "l");
      assertEquals(1, loose.increment());
      var refused =
          assertThrows(UnsupportedOperationException.class, () -> stoa.transact(loose::increment));
      assertTrue(refused.toString().contains("LogOrder.STREAM"));
      assertThrows(UnsupportedOperationException.class, () -> stoa.transact(loose::value));
      assertEquals(1, loose.value());
    }
  }

  @Test
  void oneThatOnlyReadsRefusesChanges() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 1L);
      assertThrows(
          UnsupportedOperationException.class,
          () -> stoa.transact(TxOptions.reading(), () -> alice.deposit(1)));
      var then = stoa.history(alice).entries(1, 1).getFirst().address();
      alice.deposit(1);
      long past = stoa.transact(TxOptions.readingAt(then), alice::balance);
      assertEquals(1, past);
    }
  }

  @Test
  void oneThatExceedsALimitIsRefusedAndWritesNothing() {
    var limits = Limits.standard().withTransactionObjectsMax(4).withTransactionBytesMax(1_000);
    try (Stoa stoa = Stoa.open(StoaConfig.of("memory:").withLimits(limits))) {
      var tooMany =
          assertThrows(
              LimitExceeded.class,
              () ->
                  stoa.transact(() -> {
                    for (int i = 0; i < 5; i++) stoa.get(Account.class, i).deposit(1);
                    return 0;
                  }));
      assertTrue(tooMany.toString().contains("transactionObjectsMax"));
      var tooMuch =
          assertThrows(
              LimitExceeded.class,
              () ->
                  stoa.transact(() -> {
                    for (int i = 0; i < 1_000; i++) stoa.get(Account.class, 1).deposit(1);
                    return 0;
                  }));
      assertTrue(tooMuch.toString().contains("transactionBytesMax"));
      assertFalse(stoa.find(Account.class, 1).isPresent());
      var slow = TxOptions.STANDARD.withTimeMax(Duration.ofNanos(1_000));
      assertThrows(
          DeadlineExceeded.class,
          () ->
              stoa.transact(
                  slow,
                  () -> {
                    long sum = 0;
                    for (int i = 0; i < 1_000_000; i++)
                      sum += stoa.get(Account.class, 1).deposit(1);
                    return sum;
                  }));
    }
  }

  @Test
  void anAccessorThatAsksOthersNeverSeesHalfOfATransaction() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      var alice = stoa.create(Account.class, "alice", 100L);
      var bob = stoa.create(Account.class, "bob", 100L);
      var running = new AtomicBoolean(true);
      var writer =
          new Thread(() -> {
            for (int i = 0; running.get(); i++) {
              long amount = i % 2 == 0 ? 1 : -1;
              stoa.transact(() -> {
                alice.deposit(-amount);
                bob.deposit(amount);
              });
            }
          });
      writer.start();
      try {
        for (int i = 0; i < 500; i++) {
          assertEquals(200, alice.sum(bob));
          assertEquals(200, stoa.async(alice, a -> a.sum(bob)).get());
        }
      } finally {
        running.set(false);
        writer.join();
      }
    }
  }

  @Test
  void anAccessorThatIsAskedAgainGetsItsArgumentsAsTheyWerePassed() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      var alice = stoa.create(Account.class, "alice", 1L);
      var bob = stoa.create(Account.class, "bob", 10L);
      var carol = stoa.create(Account.class, "carol", 100L);
      assertEquals(111, alice.drain(new ArrayList<>(List.of(bob, carol))));
      assertEquals(111, alice.drain(new ArrayList<>(List.of(bob, carol))));
      var passed = new ArrayList<>(List.of(bob, carol));
      var answer = stoa.async(alice, a -> a.drain(passed));
      passed.clear();
      assertEquals(111, answer.get());
    }
  }

  @Test
  void anAccessorSeesItsOwnThreadsCallsAndDeletions() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      var alice = stoa.create(Account.class, "alice", 1L);
      var bob = stoa.create(Account.class, "bob", 10L);
      assertEquals(11, alice.sum(bob));
      alice.deposit(1);
      bob.deposit(1);
      assertEquals(13, alice.sum(bob));
      var before = stoa.async(alice, a -> a.sum(bob));
      var _ = stoa.async(alice, a -> a.deposit(1_000));
      assertEquals(13, before.get());
      var again = stoa.get(Account.class, "alice");
      assertEquals(1_013, stoa.async(again, a -> a.sum(bob)).get());
      assertTrue(stoa.delete(alice));
      assertThrows(Gone.class, () -> alice.sum(bob));
      assertThrows(Gone.class, () -> again.sum(bob));
    }
  }

  @Test
  void anAccessorMayAskObjectsThatAreOrderedByThemselves() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var alice = stoa.create(Account.class, "alice", 1L);
      var bob = stoa.create(Account.class, "bob", 10L);
      var counted = stoa.create(Counted.class, "counted");
      counted.add();
      for (int i = 0; i < 3; i++) assertEquals(1_011, alice.sumTwice(bob, counted));
    }
  }

  @Test
  void accessorsInACircleAreRefusedWhereverTheyAreAsked() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var alice = stoa.create(Account.class, "alice", 1L);
      var bob = stoa.create(Account.class, "bob", 10L);
      for (int i = 0; i < 2; i++) assertThrows(Deadlock.class, () -> alice.around(bob));
      assertThrows(Deadlock.class, () -> stoa.transact(() -> alice.around(bob)));
      for (Account seen : everyView(stoa, alice)) {
        assertThrows(Deadlock.class, () -> seen.around(bob));
      }
    }
  }

  @Test
  void accessorsThatAskTooDeepAreRefusedWhereverTheyAreAsked() {
    var limits = Limits.standard().withNestingMax(5);
    try (Stoa stoa = Stoa.open(StoaConfig.of("memory:").withLimits(limits))) {
      var accounts = new ArrayList<Account>();
      for (long i = 0; i < 8; i++) accounts.add(stoa.create(Account.class, "account " + i, i));
      var first = accounts.getFirst();
      first.deposit(0); // at this version of it, the others are there
      var near = accounts.subList(1, 6);
      var far = accounts.subList(1, 7);
      for (int i = 0; i < 2; i++) {
        assertEquals(15, first.along(near));
        assertThrows(LimitExceeded.class, () -> first.along(far));
      }
      assertEquals(15, stoa.transact(() -> first.along(near)));
      assertThrows(LimitExceeded.class, () -> stoa.transact(() -> first.along(far)));
      for (Account seen : everyView(stoa, first)) {
        assertEquals(15, seen.along(near));
        assertThrows(LimitExceeded.class, () -> seen.along(far));
      }
    }
  }

  private static List<Account> everyView(Stoa stoa, Account shared) {
    var ref = stoa.ref(shared);
    return List.of(
        stoa.view(Account.class, ref, new View.Local()),
        stoa.view(Account.class, ref, new View.Cached()),
        stoa.history(shared).at(stoa.history(shared).version()),
        stoa.snapshot().on(shared));
  }

  @Test
  void manyThreadsNeverSeeASumThatIsWrong() {
    try (Stoa stoa = Stoa.open("memory:")) {
      int accounts = 5;
      for (int i = 0; i < accounts; i++) stoa.create(Account.class, i, 100L);
      var threads = new ArrayList<Thread>();
      var wrong = new AtomicInteger();
      for (int t = 0; t < 6; t++) {
        int seed = t;
        threads.add(
            Thread.ofPlatform()
                .start(() -> {
                  var random = new java.util.SplittableRandom(seed);
                  for (int i = 0; i < 300; i++) {
                    if (seed < 3) {
                      Account from = stoa.get(Account.class, random.nextInt(accounts));
                      Account to = stoa.get(Account.class, random.nextInt(accounts));
                      stoa.transact(() -> {
                        if (from.balance() > 0) from.withdraw(1);
                        else return 0L;
                        return to.deposit(1);
                      });
                    } else {
                      long sum =
                          stoa.transact(() -> {
                            long s = 0;
                            for (int a = 0; a < accounts; a++) {
                              s += stoa.get(Account.class, a).balance();
                            }
                            return s;
                          });
                      if (sum != 100L * accounts) wrong.incrementAndGet();
                    }
                  }
                }));
      }
      threads.forEach(TransactionTest::join);
      assertEquals(0, wrong.get());
      long sum = 0;
      for (int a = 0; a < accounts; a++) sum += stoa.get(Account.class, a).balance();
      assertEquals(100L * accounts, sum);
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
