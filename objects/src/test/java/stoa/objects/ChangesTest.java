package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Change;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.Closed;
import stoa.Gone;
import stoa.History;
import stoa.Keep;
import stoa.LogAddress;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Subscription;
import stoa.TooOld;

/// The changes of shared objects as a stream.
class ChangesTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @Shared(name = "changes.Account")
  static class Account {
    private long balance;

    public long add(long amount) {
      balance += amount;
      return balance;
    }

    public void refuse(String why) {
      balance++;
      throw new IllegalStateException(why);
    }

    @Awaits
    public long take(long amount) {
      Call.await(() -> balance >= amount);
      return add(-amount);
    }

    @Accessor
    public long balance() {
      return balance;
    }
  }

  @Shared(name = "changes.Note")
  static class Note {
    private String text = "";

    public void write(String newText) {
      text = newText;
    }

    @Accessor
    public String text() {
      return text;
    }
  }

  private static <T> Change<T> next(ChangeStream<T> stream) throws InterruptedException {
    return stream.next(LONG).orElseThrow();
  }

  private static <T> Change.Called<T> call(ChangeStream<T> stream) throws InterruptedException {
    Change<T> next = next(stream);
    if (next instanceof Change.Called<T> called) return called;
    throw new AssertionError(next + " is no call");
  }

  private static long balance(@Nullable Account state) {
    return Objects.requireNonNull(state).balance();
  }

  private static <T> List<Change<T>> all(Stoa stoa, Changes<T> what) {
    var found = new ArrayList<Change<T>>();
    try (var stream = stoa.changes(what)) {
      for (var next = stream.poll(); next.isPresent(); next = stream.poll()) found.add(next.get());
    }
    return found;
  }

  @Test
  void tellsTheCallsOfATypeInLogOrder() throws InterruptedException {
    try (Stoa stoa = Stoa.open("memory:");
        var accounts = stoa.changes(Changes.of(Account.class));
        var everything = stoa.changes(Changes.all())) {
      stoa.get(Account.class, "a").add(1);
      stoa.get(Note.class, "n").write("x");
      stoa.get(Account.class, "b").add(2);
      stoa.get(Account.class, "a").add(3);
      var told = new ArrayList<String>();
      LogAddress last = new LogAddress(0, 0);
      for (int i = 0; i < 3; i++) {
        var call = call(accounts);
        told.add(call.at().object().key() + " " + call.method() + call.arguments());
        assertTrue(call.at().address().compareTo(last) > 0);
        last = call.at().address();
        assertEquals(last, accounts.token());
        assertEquals(i < 2, call.creates());
        assertInstanceOf(Change.Outcome.NotAsked.class, call.outcome());
      }
      assertEquals(List.of("a add(long)[1]", "b add(long)[2]", "a add(long)[3]"), told);
      assertEquals(Optional.empty(), accounts.poll());
      next(everything);
      assertEquals(List.of("x"), call(everything).arguments());
    }
  }

  @Test
  void theChangesOfATransactionComeTogether() throws InterruptedException {
    try (Stoa stoa = Stoa.open("memory:");
        var stream = stoa.changes(Changes.all())) {
      var accounts = new ArrayList<Account>();
      for (int i = 0; i < 5; i++) accounts.add(stoa.get(Account.class, "t" + i));
      LogAddress before = stream.token();
      stoa.transact(() -> {
        for (Account one : accounts) one.add(1);
        accounts.getFirst().add(2);
        stoa.get(Note.class, "t").write("moved");
      });
      Change<Object> first = next(stream);
      assertEquals(7, first.at().size());
      assertEquals(before, stream.token());
      for (int i = 1; i < 7; i++) {
        Change<Object> other = next(stream);
        assertEquals(i, other.at().index());
        assertEquals(i == 6, other.at().isLast());
        assertEquals(first.at().address(), other.at().address());
      }
      assertEquals(first.at().address(), stream.token());
      assertEquals(Optional.empty(), stream.poll());
    }
  }

  @Test
  void tellsAnswersAndStates() throws InterruptedException {
    try (Stoa stoa = Stoa.open(StoaConfig.of("memory:").withKeep(Keep.all()));
        var stream = stoa.changes(Changes.of(Account.class).withStates())) {
      Account account = stoa.create(Account.class, "a");
      account.add(5);
      assertThrows(IllegalStateException.class, () -> account.refuse("no"));
      stoa.delete(account);
      var created = assertInstanceOf(Change.Created.class, next(stream));
      assertNotNull(created.after());
      Change.Called<Account> added = call(stream);
      assertEquals(new Change.Outcome.Returned(5L), added.outcome());
      assertEquals(0, balance(added.before()));
      assertEquals(5, balance(added.after()));
      Change.Called<Account> refused = call(stream);
      var threw = assertInstanceOf(Change.Outcome.Threw.class, refused.outcome());
      assertEquals("no", threw.error().getMessage());
      assertEquals(6, balance(refused.after()));
      Change<Account> deleted = next(stream);
      assertInstanceOf(Change.Deleted.class, deleted);
      assertEquals(6, balance(deleted.before()));
      assertNull(deleted.after());
    }
  }

  @Test
  void aRunThatWaitsIsNoChange() throws Exception {
    try (Stoa stoa = Stoa.open("memory:");
        var calls = stoa.changes(Changes.of(Account.class));
        var answers = stoa.changes(Changes.of(Account.class).withAnswers())) {
      Account account = stoa.get(Account.class, "w");
      account.add(1);
      CompletableFuture<Long> taken = stoa.async(account, one -> one.take(3));
      account.add(1);
      account.add(2);
      assertEquals(1, taken.get());
      for (var stream : List.of(calls, answers)) {
        for (String method : List.of("add(long)", "add(long)", "add(long)", "take(long)")) {
          assertEquals(method, call(stream).method());
        }
        assertEquals(Optional.empty(), stream.poll());
      }
    }
  }

  @Test
  void beginsWithThePresentObjectsAndGoesOnWithoutAGap() throws InterruptedException {
    try (Stoa stoa = Stoa.open("memory:")) {
      for (int i = 0; i < 20; i++) stoa.get(Account.class, i).add(i);
      stoa.delete(stoa.get(Account.class, 7));
      stoa.get(Account.class, 7).add(70);
      stoa.delete(stoa.get(Account.class, 8));
      try (var stream = stoa.changes(Changes.of(Account.class).fromPresent())) {
        stoa.get(Account.class, 3).add(100);
        stoa.delete(stoa.get(Account.class, 4));
        stoa.get(Account.class, 99).add(1);
        var states = new HashMap<Object, Long>();
        Change<Account> change = next(stream);
        while (change instanceof Change.Present<Account>(Change.At at, Account after)) {
          assertNull(states.put(at.object().key(), after.balance()));
          change = next(stream);
        }
        assertEquals(19, states.size());
        assertEquals(3, states.get(3));
        assertEquals(4, states.get(4));
        assertEquals(70, states.get(7));
        assertEquals(3, change.at().object().key());
        assertInstanceOf(Change.Deleted.class, next(stream));
        assertEquals(99, next(stream).at().object().key());
        assertFalse(stream.poll().isPresent());
      }
    }
  }

  @Test
  void tellsTheChangesOfOneObject() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account one = stoa.get(Account.class, "one");
      LogAddress before = stoa.streams().tail();
      for (int i = 0; i < 3; i++) {
        one.add(i);
        stoa.get(Account.class, "other").add(i);
      }
      List<Change<Account>> told = all(stoa, Changes.ofObject(one).after(before));
      assertEquals(List.of(1L, 2L, 3L), told.stream().map(c -> c.at().version()).toList());
    }
  }

  @Test
  void refusesATokenWhoseChangesWereReleased() throws InterruptedException {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account account = stoa.get(Account.class, "t");
      LogAddress before = stoa.streams().tail();
      for (int i = 0; i < 10; i++) account.add(i);
      stoa.get(Note.class, "n").write("kept");
      assertEquals(6, stoa.history(account).trim(6));
      for (var what : List.of(Changes.of(Account.class), Changes.of(Account.class).withStates())) {
        try (var stream = stoa.changes(what.after(before))) {
          var refused = assertThrows(TooOld.class, () -> stream.next(LONG));
          assertTrue(refused.toString().contains("fromPresent"), refused.toString());
        }
      }
      assertEquals(1, all(stoa, Changes.of(Note.class).after(before)).size());
      List<Change<Account>> kept = all(stoa, Changes.of(Account.class).fromBeginning());
      assertEquals(10, kept.getLast().at().version());
      assertTrue(kept.getFirst().at().version() <= 6);
    }
  }

  @Test
  void aSubscriptionGoesOnWhereItsConsumerAcknowledged() throws InterruptedException {
    var keepsLittle = StoaConfig.of("memory:").withKeep(Keep.versions(2));
    try (Stoa stoa = Stoa.open(keepsLittle)) {
      Account account = stoa.get(Account.class, "s");
      Duration day = Duration.ofDays(1);
      LogAddress begin = stoa.subscribe("mirror", day).position();
      for (int i = 0; i < 500; i++) account.add(i);
      assertTrue(stoa.history(account).trim(500) < 3); // the subscription holds the rest
      Subscription subscription = stoa.subscribe("mirror", day);
      assertEquals(begin, subscription.position());
      try (var stream = subscription.changes(Changes.of(Account.class))) {
        for (long i = 0; i < 300; i++) assertEquals(List.of(i), call(stream).arguments());
        subscription.acknowledge(stream.token());
        subscription.acknowledge(begin); // no step back
      }
      for (int i = 500; i < 510; i++) account.add(i);
      try (var stream = stoa.subscribe("mirror", day).changes(Changes.of(Account.class))) {
        for (long i = 300; i < 510; i++) assertEquals(List.of(i), call(stream).arguments());
      }
      assertEquals(List.of("mirror"), stoa.subscriptions().stream().map(s -> s.name()).toList());
      assertTrue(stoa.unsubscribe("mirror"));
      assertEquals(500, stoa.history(account).trim(500));
      assertFalse(stoa.unsubscribe("mirror"));
      LogAddress here = subscription.position();
      assertThrows(Gone.class, () -> subscription.acknowledge(stoa.streams().tail()));
      assertEquals(here, subscription.position());
    }
  }

  @Test
  void theTokenOfAQuietStreamMovesOnAndHoldsNoReader() throws InterruptedException {
    try (Stoa stoa = Stoa.open("memory:")) {
      Subscription quiet = stoa.subscribe("quiet", Duration.ofDays(1));
      LogAddress first = quiet.position();
      LogAddress token;
      try (var notes = quiet.changes(Changes.of(Note.class))) {
        for (int i = 0; i < 400; i++) stoa.get(Account.class, "a" + i % 10).add(i);
        assertEquals(Optional.empty(), notes.poll());
        token = notes.token();
        assertTrue(token.counter() >= first.counter() + 300, token + " behind " + first);
        quiet.acknowledge(token);
        for (int i = 0; i < 5; i++) {
          assertEquals(Optional.empty(), notes.next(Duration.ofMillis(1)));
          quiet.acknowledge(notes.token());
        }
        assertTrue(notes.token().counter() <= token.counter() + 100, "notes about readers");
      }
      stoa.get(Note.class, "n").write("text");
      try (var notes = stoa.changes(Changes.of(Note.class).after(token))) {
        assertInstanceOf(Change.Called.class, notes.next());
        assertTrue(notes.poll().isEmpty());
      }
    }
  }

  @Test
  void aSubscriptionSurvivesARestart(@TempDir Path folder) throws InterruptedException {
    String url = "file:" + folder.resolve("store");
    Duration day = Duration.ofDays(1);
    LogAddress begin;
    try (Stoa stoa = Stoa.open(url)) {
      stoa.get(Account.class, "r").add(1);
      begin = stoa.subscribe("restart", day).position();
      stoa.get(Account.class, "r").add(2);
    }
    try (Stoa stoa = Stoa.open(url)) {
      stoa.get(Account.class, "r").add(3);
      Subscription found = stoa.subscriptions().getFirst();
      assertEquals(begin, found.position());
      assertEquals(day, found.ageMax());
      assertEquals(1, stoa.history(stoa.get(Account.class, "r")).trim(3));
      try (var stream = found.changes(Changes.of(Account.class).withAnswers())) {
        assertEquals(new Change.Outcome.Returned(3L), call(stream).outcome());
        assertEquals(new Change.Outcome.Returned(6L), call(stream).outcome());
      }
    }
  }

  @Test
  void aCloseEndsAWait() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      var stream = stoa.changes(Changes.of(Account.class));
      var waiting =
          CompletableFuture.supplyAsync(() -> assertThrows(Closed.class, () -> stream.next()));
      stream.close();
      assertNotNull(waiting.get());
    }
  }

  @Test
  void fromAnyTokenTheChangesAreTheHistoriesOfTheObjects() throws Exception {
    for (long seed = 0; seed < 3; seed++) equalsTheHistories(seed);
  }

  private static void equalsTheHistories(long seed) throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      LogAddress begin = stoa.streams().tail();
      var writers = new ArrayList<CompletableFuture<Void>>();
      for (int writer = 0; writer < 3; writer++) {
        var random = new Random(31 * seed + writer);
        writers.add(CompletableFuture.runAsync(() -> write(stoa, random)));
      }
      var live = new ArrayList<String>();
      try (var stream = stoa.changes(Changes.of(Account.class).withStates().after(begin))) {
        while (!writers.stream().allMatch(CompletableFuture::isDone)) {
          stream.next(Duration.ofMillis(1)).ifPresent(change -> live.add(text(change)));
        }
        for (var writer : writers) writer.get();
        var rest = stream.poll();
        for (; rest.isPresent(); rest = stream.poll()) live.add(text(rest.get()));
      }
      var what = Changes.of(Account.class).withStates();
      List<Change<Account>> told = all(stoa, what.after(begin));
      assertEquals(told.stream().map(ChangesTest::text).toList(), live, "seed " + seed);
      check(stoa, told);
      var random = new Random(seed);
      for (int i = 0; i < 5; i++) {
        LogAddress token = told.get(random.nextInt(told.size())).at().address();
        var rest = told.stream().filter(c -> c.at().address().compareTo(token) > 0);
        assertEquals(
            rest.map(ChangesTest::text).toList(),
            all(stoa, what.after(token)).stream().map(ChangesTest::text).toList(),
            "seed " + seed);
      }
    }
  }

  private static void write(Stoa stoa, Random random) {
    for (int i = 0; i < 40; i++) {
      Account one = stoa.get(Account.class, random.nextInt(5));
      Account other = stoa.get(Account.class, random.nextInt(5));
      int amount = random.nextInt(100);
      switch (random.nextInt(5)) {
        case 0 -> {
          stoa.transact(() -> {
            one.add(-amount);
            other.add(amount);
          });
        }
        case 1 -> assertThrows(IllegalStateException.class, () -> one.refuse("no"));
        case 2 -> stoa.get(Note.class, random.nextInt(3)).write("n" + i);
        default -> one.add(amount);
      }
    }
  }

  private static String text(Change<Account> change) {
    return change.at().address() + " " + change.at().object() + " " + change.at().version();
  }

  /// Checks that the changes of each object are those of its history, each from the state that the
  /// one before has left.
  private static void check(Stoa stoa, List<Change<Account>> told) {
    Map<Object, List<Change<Account>>> byObject = new HashMap<>();
    for (Change<Account> change : told) {
      byObject.computeIfAbsent(change.at().object().key(), _ -> new ArrayList<>()).add(change);
    }
    byObject.forEach((key, changes) -> {
      Account account = stoa.get(Account.class, key);
      History<Account> history = stoa.history(account);
      var called =
          history.entries(1, history.version()).stream()
              .filter(entry -> entry.event() instanceof History.Event.Called)
              .toList();
      assertEquals(
          called.stream().map(entry -> entry.version() + " " + entry.address()).toList(),
          changes.stream().map(c -> c.at().version() + " " + c.at().address()).toList());
      long balance = 0;
      for (int i = 0; i < changes.size(); i++) {
        Change<Account> one = changes.get(i);
        if (!(one instanceof Change.Called<Account> change)) throw new AssertionError(one);
        var event = (History.Event.Called) called.get(i).event();
        assertEquals(event.arguments(), change.arguments());
        Account before = changes.get(i).before();
        assertEquals(balance, before == null ? 0 : balance(before));
        balance = balance(changes.get(i).after());
      }
      assertEquals(account.balance(), balance);
    });
  }
}
