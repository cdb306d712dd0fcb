package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.AlreadyExists;
import stoa.Call;
import stoa.CallFailed;
import stoa.Closed;
import stoa.DeadlineExceeded;
import stoa.Deadlock;
import stoa.Gone;
import stoa.History;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.Mutator;
import stoa.NotShareable;
import stoa.Ref;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.View;

class EmbeddedStoaTest {
  @Shared(name = "bank.Account", key = "id")
  static class Account {
    private final String id;
    private long balance;
    private final List<String> notes = new ArrayList<>();

    protected Account(String id, long opening) {
      if (opening < 0) throw new IllegalArgumentException("opening " + opening);
      this.id = id;
      this.balance = opening;
    }

    @Accessor
    public String id() {
      return id;
    }

    @Accessor
    public long balance() {
      return balance;
    }

    public long deposit(long amount) {
      balance += amount;
      return balance;
    }

    public void withdraw(long amount) throws InsufficientFunds {
      notes.add("asked for " + amount);
      if (amount > balance) throw new InsufficientFunds(balance);
      balance -= amount;
    }

    @Mutator
    public void note(List<String> more) {
      notes.addAll(more);
    }

    @Accessor
    public List<String> notes() {
      return notes;
    }

    public void transfer(Account other, long amount) throws InsufficientFunds {
      withdraw(amount);
      other.deposit(amount);
    }

    public long spin() {
      long turns = 0;
      while (balance < Long.MAX_VALUE) turns++;
      return turns;
    }

    public int recurse(int depth) {
      return depth < 0 ? depth : recurse(depth + 1) + 1;
    }

    public Account self() {
      return this;
    }
  }

  static class InsufficientFunds extends Exception {
    private static final long serialVersionUID = 1L;
    final long available;

    InsufficientFunds(long available) {
      super("only " + available);
      this.available = available;
    }
  }

  @Shared
  static class Registry {
    private final Map<String, Account> accounts = new LinkedHashMap<>();
    private long pulled;

    public void add(String name, Account account) {
      accounts.put(name, account);
    }

    @Accessor
    public @Nullable Account account(String name) {
      return accounts.get(name);
    }

    @Accessor
    public long worth() {
      return total();
    }

    public long pull(String name, long amount) {
      Account account = accounts.get(name);
      pulled += amount;
      return account == null ? 0 : account.deposit(-amount);
    }

    @Accessor
    public int forget() {
      accounts.clear();
      return accounts.size();
    }

    public long total() {
      long total = pulled;
      for (Account account : accounts.values()) total += account.balance();
      return total;
    }

    public Account open(String name, long opening) {
      Account account = Call.get(Account.class, name, opening);
      account.deposit(0);
      accounts.put(name, account);
      return account;
    }
  }

  @Shared
  static class Stamps {
    private final List<String> stamps = new ArrayList<>();

    public String stamp() {
      Instant now = Call.now();
      UUID id = Call.uuid();
      stamps.add(now + " " + id + " " + Call.random().nextInt() + " " + Call.version());
      return stamps.getLast();
    }

    @Accessor
    public List<String> stamps() {
      return stamps;
    }
  }

  @Shared(implementation = ListQueue.class)
  interface Queue<E> {
    void add(E element);

    @Nullable E poll();

    @Accessor
    int size();
  }

  static class ListQueue<E> implements Queue<E> {
    private final List<E> elements = new ArrayList<>();

    @Override
    public void add(E element) {
      elements.add(element);
    }

    @Override
    public @Nullable E poll() {
      return elements.isEmpty() ? null : elements.removeFirst();
    }

    @Override
    @Accessor
    public int size() {
      return elements.size();
    }
  }

  @Shared
  static class Badge {
    private final long number;

    protected Badge(String owner, Account account) {
      number = account.deposit(1);
    }

    public long number() {
      return number;
    }
  }

  @Shared
  static class Diver {
    private long dives;

    public long dive(Account account) {
      return account.deposit(1) > 0 ? deeper(account, 50) + 1 : 0;
    }

    /* So that the stack is full after some hundreds of calls of another object, not ten thousand. */
    private long deeper(Account account, int frames) {
      return frames == 0 ? dive(account) : deeper(account, frames - 1) + 1;
    }

    public long count() {
      return ++dives;
    }
  }

  @TempDir Path directory;

  private Stoa open() {
    return Stoa.open("file:" + directory);
  }

  /// Holds whatever it is given.
  @Shared(name = "test.Drawer")
  static class Drawer {
    private final List<@Nullable Object> things = new ArrayList<>();

    @SuppressWarnings("UnusedVariable") // Justification: the type of a field is a type of the store
    private @Nullable Unlisted unlisted;

    private @Nullable Account other;

    public void put(@Nullable Object thing) {
      things.add(thing);
    }

    public void putAll(List<Object> more, Tray tray) {
      things.addAll(more);
      things.add(tray);
    }

    public void keep(Account account) {
      other = account;
    }

    public long depositThere(long amount) {
      things.add("asked");
      return Objects.requireNonNull(other).deposit(amount);
    }

    public String pass(Drawer to, List<String> things) {
      var tray = new Tray(new ArrayList<>(things));
      tray.things().clear();
      try {
        to.put(tray);
        return "taken";
      } catch (NotShareable refused) {
        return "refused";
      }
    }

    @Accessor
    public int size() {
      return things.size();
    }

    @Accessor
    public Class<?> ofStranger() {
      return EmbeddedStoaTest.class;
    }

    @Accessor
    public @Nullable Object last() {
      return things.getLast();
    }
  }

  /// A record whose constructor may refuse the later state of an instance.
  record Tray(List<String> things) {
    Tray {
      if (things.isEmpty()) throw new IllegalArgumentException("an empty tray");
    }
  }

  /// Which a declaration names.
  record Unlisted(int number) {}

  @Test
  void refusesAClassThatNoReaderWouldFindBeforeItIsLogged(@TempDir Path directory) {
    String url = "file:" + directory;
    try (Stoa stoa = Stoa.open(url)) {
      Drawer drawer = stoa.get(Drawer.class, "a");
      Class<?> stranger = EmbeddedStoaTest.class;
      Runnable lambda = () -> {};
      assertThrows(NotShareable.class, () -> drawer.put(stranger));
      assertThrows(NotShareable.class, () -> drawer.put(new ArrayList<>(List.of(stranger))));
      assertThrows(NotShareable.class, () -> drawer.put(lambda.getClass()));
      assertThrows(NotShareable.class, () -> drawer.put(new Object[] {stranger}));
      assertThrows(
          NotShareable.class, () -> stoa.store().put("k", new ArrayList<>(List.of(stranger))));
      assertThrows(
          NotShareable.class,
          () ->
              stoa.transact(() -> {
                drawer.put(stranger);
              }));
      assertThrows(NotShareable.class, drawer::ofStranger);
      drawer.put(Unlisted.class);
      drawer.put(String.class);
      assertEquals(2, drawer.size());
    }
    try (Stoa stoa = Stoa.open(url)) {
      Drawer drawer = stoa.get(Drawer.class, "a");
      assertEquals(2, drawer.size());
      assertEquals(String.class, drawer.last());
    }
  }

  @Test
  void refusesARecordThatItsConstructorWouldNotMakeAgain(@TempDir Path directory) {
    String url = "file:" + directory;
    var empty = new Tray(new ArrayList<>(List.of("a")));
    empty.things().clear();
    try (Stoa stoa = Stoa.open(StoaConfig.of(url))) {
      Drawer drawer = stoa.get(Drawer.class, "a");
      drawer.put(1);
      assertThrows(NotShareable.class, () -> drawer.put(empty));
      assertThrows(NotShareable.class, () -> drawer.putAll(List.of(), empty));
      assertThrows(
          NotShareable.class,
          () ->
              stoa.transact(() -> {
                drawer.put(empty);
              }));
      assertEquals("refused", drawer.pass(stoa.get(Drawer.class, "b"), List.of("x")));
      assertThrows(Exception.class, () -> stoa.store().put("k", empty));
      assertEquals(1, drawer.size());
      assertEquals(0, stoa.get(Drawer.class, "b").size());
    }
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(1, stoa.get(Drawer.class, "a").size());
      assertEquals(0, stoa.get(Drawer.class, "b").size());
    }
  }

  @Test
  void aMethodBeginsNoObjectWhoseConstructorRefuses(@TempDir Path directory) {
    String url = "file:" + directory;
    try (Stoa stoa = Stoa.open(url)) {
      Drawer drawer = stoa.get(Drawer.class, "a");
      drawer.keep(stoa.get(Account.class, "absent", 1L));
      assertThrows(NotShareable.class, () -> drawer.depositThere(1));
      assertThrows(
          NotShareable.class,
          () ->
              stoa.transact(() -> {
                drawer.depositThere(1);
              }));
      assertEquals(1, drawer.size());
      assertTrue(stoa.find(Account.class, "absent").isEmpty());
      assertEquals(15, stoa.get(Account.class, "absent", 10L).deposit(5));
      assertEquals(17, drawer.depositThere(2));
    }
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(20, stoa.get(Drawer.class, "a").depositThere(3));
    }
  }

  @Test
  void callsAnObjectAndFindsItAfterReopening() throws Exception {
    try (Stoa stoa = open()) {
      Account alice = stoa.get(Account.class, "alice", 100L);
      assertEquals(100, alice.balance());
      assertTrue(stoa.find(Account.class, "alice").isEmpty());
      assertEquals(150, alice.deposit(50));
      assertEquals("alice", alice.id());
      assertEquals(150, stoa.get(Account.class, "alice", 7L).balance());
    }
    try (Stoa stoa = open()) {
      Account alice = stoa.find(Account.class, "alice").orElseThrow();
      assertEquals(150, alice.balance());
    }
  }

  @Test
  void keepsWhatAMethodChangedBeforeItThrew() {
    try (Stoa stoa = open()) {
      Account alice = stoa.get(Account.class, "alice", 100L);
      var thrown = assertThrows(InsufficientFunds.class, () -> alice.withdraw(1_000));
      assertEquals(100, thrown.available);
      assertEquals("only 100", thrown.getMessage());
      assertEquals(List.of("asked for 1000"), alice.notes());
    }
  }

  @Test
  void sharesNothingWithItsCallers() {
    try (Stoa stoa = open()) {
      Account alice = stoa.get(Account.class, "alice", 1L);
      var mine = new ArrayList<>(List.of("a"));
      alice.note(mine);
      mine.add("b");
      List<String> notes = alice.notes();
      assertEquals(List.of("a"), notes);
      notes.add("c");
      assertEquals(List.of("a"), alice.notes());
      assertNotSame(notes, alice.notes());
    }
  }

  @Test
  void refusesWhatTheConstructorRefusesAndLogsNothing() {
    try (Stoa stoa = open()) {
      Account bad = stoa.get(Account.class, "bad", -1L);
      assertThrows(IllegalArgumentException.class, () -> bad.deposit(1));
      assertThrows(IllegalArgumentException.class, () -> stoa.create(Account.class, "bad", -1L));
      assertEquals(6, stoa.get(Account.class, "bad", 5L).deposit(1));
    }
  }

  @Shared(name = "test.Founder")
  static class Founder {
    static volatile Runnable act = () -> {};

    private int count;

    protected Founder() {
      act.run();
    }

    public int add() {
      return ++count;
    }
  }

  @Test
  void aConstructorThatIsRefusedHasCreatedNothing() {
    try (Stoa stoa = open()) {
      Founder.act =
          () -> {
            var _ = stoa.create(Account.class, "founded", 0L);
          };
      assertThrows(IllegalStateException.class, () -> stoa.create(Founder.class, "f"));
      assertTrue(stoa.find(Account.class, "founded").isEmpty());
    } finally {
      Founder.act = () -> {};
    }
  }

  @Test
  void constructsOnceWhenAConstructorCallsOtherObjects() {
    try (Stoa stoa = open()) {
      Account alice = stoa.create(Account.class, "alice", 0L);
      assertEquals(1, stoa.get(Badge.class, "b", "alice", alice).number());
      assertEquals(1, alice.balance());
    }
  }

  @Test
  void goesOnAfterEndlessRecursionThatCallsOtherObjects() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.create(Account.class, "alice", 0L);
      Diver diver = stoa.create(Diver.class, 1);
      for (int i = 1; i <= 3; i++) {
        assertThrows(CallFailed.class, () -> diver.dive(alice));
        assertEquals(i, diver.count());
        assertEquals(alice.balance() + 1, alice.deposit(1));
      }
    }
  }

  @Test
  void composesObjectsByReference() throws Exception {
    try (Stoa stoa = open()) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      Account bob = stoa.create(Account.class, "bob", 0L);
      alice.transfer(bob, 30);
      assertEquals(70, alice.balance());
      assertEquals(30, bob.balance());
      Registry registry = stoa.get(Registry.class, "main");
      registry.add("a", alice);
      registry.add("b", bob);
      assertEquals(alice, registry.account("a"));
      bob.deposit(5);
      assertEquals(105, registry.total());
      assertEquals(alice, alice.self());
      Account carol = registry.open("carol", 10L);
      assertEquals(10, carol.balance());
    }
    try (Stoa stoa = open()) {
      Registry registry = stoa.get(Registry.class, "main");
      assertEquals(115, registry.total());
      assertEquals(35, stoa.get(Account.class, "bob").balance());
      assertEquals(stoa.get(Account.class, "bob"), registry.account("b"));
    }
  }

  @Test
  void failsACallThatWouldWaitForItselfWithThePath() {
    try (Stoa stoa = open()) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      var thrown = assertThrows(Deadlock.class, () -> alice.transfer(alice, 1));
      assertTrue(thrown.toString().contains("bank.Account[alice] -> bank.Account[alice]"));
      assertEquals(99, alice.balance());
    }
  }

  @Test
  void deletesAndBeginsAnew() {
    try (Stoa stoa = open()) {
      Account alice = stoa.create(Account.class, "alice", 1L);
      assertThrows(AlreadyExists.class, () -> stoa.create(Account.class, "alice", 1L));
      assertTrue(stoa.delete(alice));
      assertFalse(stoa.delete(alice));
      assertThrows(Gone.class, () -> alice.deposit(1));
      assertThrows(Gone.class, alice::balance);
      assertTrue(stoa.find(Account.class, "alice").isEmpty());
      Account again = stoa.get(Account.class, "alice", 5L);
      assertEquals(6, again.deposit(1));
      assertThrows(Gone.class, () -> alice.deposit(1));
      try (var listing = stoa.list(Account.class)) {
        assertEquals(List.of(again), listing.stream().toList());
      }
    }
  }

  @Test
  void keepsReferencesToTheObjectThatWasMeant() throws Exception {
    try (Stoa stoa = open()) {
      Account bob = stoa.create(Account.class, "bob", 0L);
      Registry registry = stoa.get(Registry.class, "main");
      registry.add("b", bob);
      assertEquals(0, registry.total());
      stoa.delete(bob);
      assertThrows(Gone.class, registry::total);
      stoa.create(Account.class, "bob", 7L);
      assertThrows(Gone.class, registry::total);
    }
    try (Stoa stoa = open()) {
      Registry registry = stoa.get(Registry.class, "main");
      assertThrows(Gone.class, registry::total);
      registry.add("b", stoa.get(Account.class, "bob").self());
      assertEquals(7, registry.total());
    }
  }

  @Test
  void readsThePast() throws Exception {
    try (Stoa stoa = open()) {
      Account alice = stoa.create(Account.class, "alice", 100L);
      for (int i = 0; i < 10; i++) alice.deposit(1);
      History<Account> history = stoa.history(alice);
      assertEquals(11, history.version());
      assertEquals(105, history.at(6).balance());
      assertEquals(100, history.at(1).balance());
      assertThrows(UnsupportedOperationException.class, () -> history.at(1).deposit(1));
      assertEquals(103, stoa.view(Account.class, stoa.ref(alice), new View.AtVersion(4)).balance());
      List<History.Entry> entries = history.entries(1, 3);
      assertInstanceOf(History.Event.Created.class, entries.getFirst().event());
      assertEquals(new History.Event.Called("deposit(long)", List.of(1L)), entries.get(1).event());
    }
  }

  @Test
  void seesOtherObjectsOfThePastAsTheyWereThen() {
    try (Stoa stoa = open()) {
      Account bob = stoa.create(Account.class, "bob", 1L);
      Registry registry = stoa.get(Registry.class, "main");
      registry.add("b", bob);
      long then = stoa.history(registry).version();
      bob.deposit(10);
      registry.add("c", stoa.create(Account.class, "carol", 100L));
      long later = stoa.history(registry).version();
      bob.deposit(1_000);
      assertEquals(1, stoa.history(registry).at(then).worth());
      assertEquals(111, stoa.history(registry).at(later).worth());
      assertEquals(1_111, registry.worth());
    }
  }

  @Test
  void seesWhatACallHadCalledInThePastOfItsObject() {
    try (Stoa stoa = open()) {
      Registry registry = stoa.get(Registry.class, "main");
      registry.add("b", stoa.create(Account.class, "bob", 10L));
      long first = stoa.history(registry).version() + 1;
      assertEquals(9, registry.pull("b", 1));
      assertEquals(7, registry.pull("b", 2));
      assertEquals(10, registry.worth());
      assertEquals(10, stoa.history(registry).at(first).worth());
      assertEquals(10, stoa.history(registry).at(stoa.history(registry).version()).worth());
    }
  }

  @Test
  void refusesAnAccessorThatChangesItsObject() {
    try (Stoa stoa = open()) {
      Registry registry = stoa.get(Registry.class, "main");
      registry.add("b", stoa.create(Account.class, "bob", 10L));
      assertThrows(NotShareable.class, registry::forget);
      assertEquals(10, registry.worth());
    }
  }

  @Test
  void refusesObjectsOfAnotherStore() {
    try (Stoa one = open();
        Stoa two = Stoa.open("memory:")) {
      Registry registry = one.get(Registry.class, "main");
      Account stranger = two.create(Account.class, "bob", 10L);
      assertThrows(NotShareable.class, () -> registry.add("b", stranger));
    }
  }

  @Test
  void callsAsynchronouslyInOrder() throws Exception {
    try (Stoa stoa = open()) {
      Account alice = stoa.create(Account.class, "alice", 0L);
      var futures = new ArrayList<CompletableFuture<Long>>();
      for (int i = 0; i < 1_000; i++) futures.add(stoa.async(alice, a -> a.deposit(1)));
      CompletableFuture<Long> read = stoa.async(alice, Account::balance);
      for (int i = 0; i < 1_000; i++) assertEquals(i + 1, futures.get(i).get());
      assertEquals(1_000, read.get());
      assertThrows(IllegalArgumentException.class, () -> stoa.async(alice, a -> 1L));
      var more = stoa.async(alice, a -> a.deposit(1) + 100);
      assertThrows(ExecutionException.class, more::get);
    }
  }

  @Test
  void givesTheSameTimeAndChanceInAReplay() {
    List<String> before;
    try (Stoa stoa = open()) {
      Stamps stamps = stoa.get(Stamps.class, 1);
      for (int i = 0; i < 50; i++) stamps.stamp();
      before = stamps.stamps();
      // A slow call has a further entry, so that the twentieth need not be version 20.
      String twentieth = before.get(19);
      long version = Long.parseLong(twentieth.substring(twentieth.lastIndexOf(' ') + 1));
      assertEquals(before.subList(0, 20), stoa.history(stamps).at(version).stamps());
    }
    try (Stoa stoa = open()) {
      assertEquals(before, stoa.get(Stamps.class, 1).stamps());
    }
  }

  @Test
  void callsThroughAnInterface() {
    try (Stoa stoa = open()) {
      @SuppressWarnings("unchecked")
      Queue<String> queue = stoa.get(Queue.class, "q");
      queue.add("a");
      queue.add("b");
      assertEquals(2, queue.size());
      assertEquals("a", queue.poll());
    }
    try (Stoa stoa = open()) {
      assertEquals("b", stoa.get(Queue.class, "q").poll());
    }
  }

  @Test
  void takesBackWhatRunsTooLongOrTooDeep() {
    var limits = Limits.standard().withCallTimeMax(Duration.ofMillis(200));
    var config = StoaConfig.of("file:" + directory).withLimits(limits);
    try (Stoa stoa = Stoa.open(config)) {
      Account alice = stoa.create(Account.class, "alice", 1L);
      assertThrows(DeadlineExceeded.class, alice::spin);
      assertEquals(2, alice.deposit(1));
      assertThrows(CallFailed.class, () -> alice.recurse(1));
      assertEquals(3, alice.deposit(1));
    }
    try (Stoa stoa = Stoa.open(config)) {
      assertEquals(3, stoa.find(Account.class, "alice").orElseThrow().balance());
    }
  }

  /// The latch that [Gate#hold] waits for.
  private static volatile CountDownLatch released = new CountDownLatch(0);

  /// Can be kept busy.
  @Shared(name = "test.Gate")
  static class Gate {
    private int count;

    public int hold() {
      try {
        released.await();
      } catch (InterruptedException stopped) {
        throw new IllegalStateException(stopped);
      }
      return ++count;
    }

    public int count() {
      return ++count;
    }
  }

  @Test
  void theDeletionOfABusyObjectLetsItsCallerGoInTimeAndIsExecuted() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Gate gate = stoa.get(Gate.class, "a");
      assertEquals(1, gate.count());
      released = new CountDownLatch(1);
      var holds = stoa.async(gate, Gate::hold);
      try {
        var hasty = stoa.within(Duration.ofMillis(200), gate);
        var told = assertThrows(UnknownOutcome.class, () -> stoa.delete(hasty));
        assertTrue(String.valueOf(told.getMessage()).contains("it is executed"), told::toString);
      } finally {
        released.countDown();
      }
      assertEquals(2, holds.join());
      assertThrows(Gone.class, gate::count);
      assertFalse(stoa.delete(gate));
      Gate next = stoa.create(Gate.class, "a");
      assertEquals(1, next.count());
      assertTrue(stoa.delete(stoa.within(Duration.ofSeconds(9), next)));
    }
  }

  @Test
  void theDeletionOfABusyObjectTakesNoLongerThanACall() {
    var limits = Limits.standard().withCallTimeMax(Duration.ofMillis(500));
    try (Stoa stoa = Stoa.open(StoaConfig.of("memory:").withLimits(limits))) {
      Gate gate = stoa.get(Gate.class, "a");
      assertEquals(1, gate.count());
      released = new CountDownLatch(1);
      try {
        for (int i = 0; i < 3; i++) {
          var _ = stoa.async(gate, Gate::hold);
        }
        assertThrows(UnknownOutcome.class, () -> stoa.delete(gate));
      } finally {
        released.countDown();
      }
      assertFalse(stoa.find(Gate.class, "a").isPresent());
    }
  }

  @Test
  void refusesWhatIsTooLarge() {
    var limits = Limits.standard().withCallBytesMax(1_000);
    var config = StoaConfig.of("memory:").withLimits(limits);
    try (Stoa stoa = Stoa.open(config)) {
      Account alice = stoa.create(Account.class, "alice", 1L);
      assertThrows(LimitExceeded.class, () -> alice.note(List.of("x".repeat(2_000))));
      for (int i = 0; i < 5; i++) alice.note(List.of("x".repeat(300)));
      assertThrows(LimitExceeded.class, alice::notes);
      assertEquals(1, alice.balance());
    }
  }

  @Test
  @Tag("one-group")
  void keepsADirectoryToOneOpener() {
    try (Stoa _ = open()) {
      assertThrows(Unavailable.class, this::open);
    }
    open().close();
  }

  @Test
  void refusesCallsAfterClosing() {
    Stoa stoa = Stoa.open("memory:");
    Account alice = stoa.create(Account.class, "alice", 1L);
    stoa.close();
    assertThrows(Closed.class, () -> alice.deposit(1));
    assertThrows(Closed.class, alice::balance);
  }

  @Test
  @Tag("one-group")
  void refusesUrlsItDoesNotKnow() {
    assertThrows(IllegalArgumentException.class, () -> Stoa.open("stoa"));
    assertThrows(IllegalArgumentException.class, () -> Stoa.open("redis://localhost"));
    assertThrows(IllegalArgumentException.class, () -> Stoa.open("memory:x"));
    assertThrows(IllegalArgumentException.class, () -> Stoa.open("file:"));
  }

  @Test
  void namesObjectsByTypeAndKey() throws IOException {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account alice = stoa.get(Account.class, "alice", 1L);
      assertEquals(new Ref<Account>("bank.Account", "alice"), stoa.ref(alice));
      assertThrows(IllegalArgumentException.class, () -> stoa.ref("alice"));
      assertEquals(alice, stoa.get(Account.class, "alice", 2L));
      assertEquals(alice.hashCode(), stoa.get(Account.class, "alice", 2L).hashCode());
    }
  }
}
