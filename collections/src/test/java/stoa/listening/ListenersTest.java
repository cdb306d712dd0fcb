package stoa.listening;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Changes;
import stoa.LimitExceeded;
import stoa.Listeners;
import stoa.Listening;
import stoa.ObjectEvent;
import stoa.ObjectListener;
import stoa.Shared;
import stoa.Stoa;

class ListenersTest {
  private static final String HEARD = "heard";

  /// An object that listeners hear.
  @Shared(name = "listening.Account")
  public static class Account {
    private long balance;

    public void add(long amount) {
      balance += amount;
    }

    /// A record that could be a key.
    public record Place(String town, int number) {}

    /// A class of values that are no keys.
    public static class Plan {
      private final List<Place> places = new ArrayList<>();
    }

    public void move(Place to, Account from, List<Integer> numbers, Plan plan) {
      balance += numbers.size() + plan.places.size();
    }

    public void mark(String tag) {
      Call.tag(tag, this);
    }

    @Accessor
    public long balance() {
      return balance;
    }
  }

  /// A listener.
  @Shared(name = "listening.Audit")
  public static class Audit implements ObjectListener {
    private final List<String> heard = new ArrayList<>();
    private final TreeMap<String, Long> sums = new TreeMap<>();
    private int left;
    private int refused;

    @Override
    public void on(ObjectEvent event) {
      if (left > 0) {
        left--;
        refused++;
        throw new IllegalStateException("not yet");
      }
      String omitted = event.omitted().isEmpty() ? "" : " " + event.omitted();
      heard.add(event.object().key() + " " + event.kind() + " " + event.arguments() + omitted);
      if (event.kind() != ObjectEvent.Kind.CALLED
          && event.kind() != ObjectEvent.Kind.CALLED_FIRST) {
        return;
      }
      if (event.arguments().getFirst() instanceof Long amount) {
        sums.merge((String) event.object().key(), amount, Long::sum);
      }
    }

    public void refuse(int times) {
      left = times;
    }

    @Awaits
    public List<String> await(int count) {
      Call.await(() -> heard.size() >= count);
      return heard;
    }

    @Accessor
    public Map<String, Long> sums() {
      return sums;
    }

    @Accessor
    public int refused() {
      return refused;
    }
  }

  /// A listener whose method no store can call.
  @Shared(name = "listening.Reader")
  public static class Reader implements ObjectListener {
    @Override
    @Accessor
    public void on(ObjectEvent event) {}
  }

  @Test
  void aListenerHearsTheCallsOfATypeInOrderAlsoThoseOfTransactions() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Account a = stoa.get(Account.class, "a");
      Account b = stoa.get(Account.class, "b");
      Audit audit = stoa.get(Audit.class, HEARD);
      a.add(1);
      stoa.listeners().listen("audit", Changes.of(Account.class), audit);
      a.add(2);
      b.add(3);
      stoa.transact(() -> {
        a.add(-4);
        b.add(4);
      });
      for (int i = 0; i < 200; i++) a.add(i);
      List<String> heard = audit.await(204);
      List<String> ofA = heard.stream().filter(text -> text.startsWith("a ")).toList();
      List<String> ofB = heard.stream().filter(text -> text.startsWith("b ")).toList();
      assertEquals(List.of("a CALLED [2]", "a CALLED [-4]", "a CALLED [0]"), ofA.subList(0, 3));
      assertEquals("a CALLED [199]", ofA.getLast());
      assertEquals(List.of("b CALLED_FIRST [3]", "b CALLED [4]"), ofB);
      assertEquals(Map.of("a", 2L - 4 + 199 * 200 / 2, "b", 7L), audit.sums());
      Listening shown = stoa.listeners().all().getFirst();
      assertEquals(204, shown.told());
      assertEquals("all objects of listening.Account", shown.heard());
      assertTrue(stoa.listeners().stop("audit"));
      assertFalse(stoa.listeners().stop("audit"));
      a.add(1);
      assertEquals(List.of(), stoa.listeners().all());
      stoa.listeners().listen("audit", Changes.ofObject(b), audit);
      a.add(1);
      b.add(5);
      stoa.delete(b);
      assertEquals(List.of("b CALLED [5]", "b DELETED []"), audit.await(206).subList(204, 206));
    }
  }

  @Test
  void aListenerOfATagHearsWhateverHasTheTag() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Audit audit = stoa.get(Audit.class, HEARD);
      stoa.listeners().listenToTag("vip", "important", audit);
      Account a = stoa.get(Account.class, "a");
      Account b = stoa.get(Account.class, "b");
      a.add(1);
      b.add(2);
      stoa.listeners().tag("important", a);
      a.add(3);
      b.add(4);
      assertEquals("a CALLED [3]", audit.await(1).getLast());
      b.mark("important"); // the call itself comes before the tag in the log, or has it
      b.add(5);
      assertTrue(stoa.listeners().untag("important", a));
      assertFalse(stoa.listeners().untag("important", a));
      a.add(6);
      b.add(7);
      List<String> heard = audit.await(3);
      while (!heard.getLast().equals("b CALLED [7]")) heard = audit.await(heard.size() + 1);
      assertTrue(heard.contains("b CALLED [5]"), heard.toString());
      assertFalse(heard.contains("a CALLED [6]"), heard.toString());
    }
  }

  @Test
  void aListenerThatFailsIsCalledAgainWithTheSameChange() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Audit audit = stoa.get(Audit.class, HEARD);
      audit.refuse(2);
      stoa.listeners().listen("audit", Changes.of(Account.class), audit);
      Account a = stoa.get(Account.class, "a");
      a.add(1);
      a.add(2);
      assertEquals(List.of("a CALLED_FIRST [1]", "a CALLED [2]"), audit.await(2));
      assertEquals(2, audit.refused());
      Listening shown = stoa.listeners().all().getFirst();
      assertEquals(2, shown.failures());
      assertTrue(String.valueOf(shown.lastFailure()).contains("not yet"), shown.toString());
      assertFalse(shown.isOver());
    }
  }

  @Test
  void argumentsOfTheJdkAndReferencesArriveAndOthersAreNamed() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Audit audit = stoa.get(Audit.class, HEARD);
      Account a = stoa.get(Account.class, "a");
      a.add(1);
      stoa.listeners().listen("audit", Changes.ofObject(a), audit);
      a.move(new Account.Place("Bonn", 3), a, List.of(1, 2), new Account.Plan());
      String names = "className=stoa.listening.ListenersTest$Account$";
      assertEquals(
          "a CALLED [null, listening.Account[a], [1, 2], null] [Omitted[index=0, "
              + names
              + "Place], Omitted[index=3, "
              + names
              + "Plan]]",
          audit.await(1).getFirst());
    }
  }

  @Test
  void listenersGoOnWhenTheStoreIsOpenedAgain(@TempDir Path dir) {
    String url = "file:" + dir.resolve("store");
    try (Stoa stoa = Stoa.open(url)) {
      Audit audit = stoa.get(Audit.class, HEARD);
      stoa.listeners().listen("audit", Changes.of(Account.class), audit);
      Account a = stoa.get(Account.class, "a");
      for (int i = 1; i <= 20; i++) a.add(i);
    }
    try (Stoa stoa = Stoa.open(url)) {
      Account a = stoa.get(Account.class, "a");
      a.add(21);
      List<String> heard = stoa.get(Audit.class, HEARD).await(21);
      for (int i = 1; i <= 21; i++) {
        assertTrue(heard.get(i - 1).endsWith("[" + i + "]"), heard.toString());
      }
    }
  }

  @Test
  void whatNoListenerCanDoIsRefused() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Listeners listeners = stoa.listeners();
      Audit audit = stoa.get(Audit.class, HEARD);
      Changes<Account> accounts = Changes.of(Account.class);
      assertThrows(
          IllegalArgumentException.class, () -> listeners.listen("x", Changes.all(), audit));
      assertThrows(
          IllegalArgumentException.class,
          () -> listeners.listen("x", accounts.fromPresent(), audit));
      assertThrows(
          IllegalArgumentException.class,
          () -> listeners.listen("x", accounts.withStates(), audit));
      assertThrows(IllegalArgumentException.class, () -> listeners.listen("", accounts, audit));
      Reader reader = stoa.get(Reader.class, HEARD);
      assertThrows(IllegalArgumentException.class, () -> listeners.listen("x", accounts, reader));
      for (int i = 0; i < Listeners.LISTENERS_MAX; i++) listeners.listen("l" + i, accounts, audit);
      assertThrows(IllegalArgumentException.class, () -> listeners.listen("l7", accounts, audit));
      assertThrows(LimitExceeded.class, () -> listeners.listen("one more", accounts, audit));
      assertNotNull(listeners.all().getFirst().position());
      for (int i = 0; i < Listeners.LISTENERS_MAX; i++) assertTrue(listeners.stop("l" + i));
    }
  }
}
