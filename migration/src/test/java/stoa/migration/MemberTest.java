package stoa.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Closed;
import stoa.DeadlineExceeded;
import stoa.Placement;
import stoa.Reads;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Tree;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.View;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;

/// Objects migrate to the members of a tree in this process.
class MemberTest {
  /// A balance, with a memo that makes its state worth compressing.
  @Shared(name = "test.Purse", key = "name", placement = Placement.CLIENT)
  public static class Purse {
    private final String name;
    private long balance;
    private String memo = "";

    protected Purse(String name, long balance) {
      this.name = name;
      this.balance = balance;
    }

    @Accessor
    public String name() {
      return name;
    }

    @Accessor
    public long balance() {
      return balance;
    }

    public long add(long amount) {
      if (balance + amount < 0) throw new IllegalArgumentException("only " + balance);
      balance += amount;
      return balance;
    }

    public void write(String text) {
      memo = text;
      if (text.startsWith("!")) throw new IllegalStateException("noted");
    }

    @Accessor
    public int memoLength() {
      return memo.length();
    }
  }

  private static Purse purse(Stoa stoa, String name) {
    return stoa.get(Purse.class, name, 100L);
  }

  @Test
  void callsExecuteWhereTheyAreMadeAndEverybodySeesThem() {
    try (var stoa = Stoa.open("memory:")) {
      var domain = Domain.of(stoa);
      var one = domain.join("one");
      var two = domain.join("two");
      var purse = purse(stoa, "a");
      assertEquals(101, one.on(purse).add(1));
      assertEquals(103, two.on(purse).add(2));
      assertEquals(103, one.on(purse).balance());
      assertEquals(106, purse.add(3));
      assertEquals(106, two.on(purse).balance());
      assertEquals("a", two.on(purse, Reads.LOCAL).name());
      var view = stoa.view(Purse.class, stoa.ref(purse), new View.Client(Reads.STRICT));
      assertEquals(107, view.add(1));
      assertEquals(107, two.on(purse).balance());
    }
  }

  @Test
  void theProcessOfTheStoreHasTheRoot() throws Exception {
    try (var stoa = Stoa.open("memory:")) {
      assertEquals(List.of(), stoa.tree().places());
      var purse = purse(stoa, "a");
      assertEquals(101, purse.add(1));
      assertEquals(new Tree.Whereabouts.Here(), stoa.tree().where(purse));
      var root = stoa.tree().places().getFirst();
      assertEquals("default", root.domain());
      assertEquals(Optional.empty(), root.above());
      var one = Domain.of(stoa).join("one");
      assertEquals(102, one.on(purse).add(1));
      assertEquals(new Tree.Whereabouts.Beyond(one.place().node()), stoa.tree().where(purse));
      stoa.tree().flush().join();
    }
  }

  @Test
  void whoHasWaitedForTooLongCanLeaveAndLosesNothing() throws Exception {
    var config = StoaConfig.of("memory:");
    var brief = config.limits().withCallTimeMax(Duration.ofMillis(200));
    try (var stoa = Stoa.open(config.withLimits(brief));
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var domain = Domain.of(stoa);
      var one = domain.join("one");
      var two = domain.join("two");
      var held = purse(stoa, "held");
      var other = purse(stoa, "other");
      var holds = new CountDownLatch(1);
      var mayEnd = new CountDownLatch(1);
      Future<?> holding =
          threads.submit(() -> {
            return one.<Long, InterruptedException>together(
                List.of(one.on(held)),
                () -> {
                  holds.countDown();
                  mayEnd.await();
                  return 1L;
                });
          });
      holds.await();
      assertEquals(101, two.on(other).add(1));
      assertThrows(DeadlineExceeded.class, () -> two.on(held).add(1));
      two.close();
      assertEquals(101, other.balance());
      mayEnd.countDown();
      holding.get();
      assertEquals(101, one.on(held).add(1));
    }
  }

  @Test
  void aMemberThatBreaksIsToldAndGoesOnWithAnotherNode() {
    try (var stoa = Stoa.open("memory:")) {
      var domain = Domain.of(stoa);
      var one = domain.join("one");
      var view = one.on(purse(stoa, "a"));
      assertEquals(101, view.add(1));
      one.flush();
      assertEquals(102, view.add(1));
      var broken = one.id();
      say(domain, domain.root(), broken);
      assertThrows(UnknownOutcome.class, one::flush);
      assertEquals(102, view.add(1)); // what was not durable is lost
      assertNotEquals(broken, one.id());
      one.flush();
      assertEquals(103, domain.join("two").on(purse(stoa, "a")).add(1));
    }
  }

  @Test
  void anOperationUnderWayIsMadeAgainWhenItsMemberBreaks() {
    try (var stoa = Stoa.open("memory:")) {
      var domain = Domain.of(stoa);
      var one = domain.join("one");
      var view = one.on(purse(stoa, "a"));
      var runs = new AtomicInteger();
      assertEquals(
          101L,
          one.<Long, RuntimeException>together(
              List.of(view),
              () -> {
                if (runs.incrementAndGet() == 1) say(domain, domain.root(), one.id());
                return view.add(1);
              }));
      assertEquals(2, runs.get());
      one.close();
      assertEquals(101, purse(stoa, "a").balance());
    }
  }

  @Test
  void aRootThatBreaksEndsItsMembersAndTheNextCallBeginsAnother() {
    try (var stoa = Stoa.open("memory:")) {
      var domain = Domain.of(stoa);
      var one = domain.join("one");
      var view = one.on(purse(stoa, "a"));
      assertEquals(101, view.add(1));
      one.flush();
      say(domain, one.id(), domain.root());
      assertThrows(Unavailable.class, () -> view.add(1));
      assertEquals(102, purse(stoa, "a").add(1));
      assertEquals(103, Domain.of(stoa).join("two").on(purse(stoa, "a")).add(1));
    }
  }

  /* What no node can say to another one. */
  private static void say(Domain domain, NodeId from, NodeId to) {
    domain.links().send(from, to, new Message.Welcome());
  }

  @Test
  void whatIsFlushedIsInTheStoreAndReadAsHistory(@TempDir Path directory) {
    String url = "file:" + directory;
    try (var stoa = Stoa.open(url)) {
      var member = Domain.of(stoa).join("one");
      var purse = member.on(purse(stoa, "a"));
      purse.add(1);
      member.flush();
      purse.add(1);
      purse.write("x".repeat(10_000));
      member.flush();
    }
    try (var stoa = Stoa.open(url)) {
      var purse = purse(stoa, "a");
      assertEquals(102, purse.balance());
      assertEquals(10_000, purse.memoLength());
      var history = stoa.history(purse);
      assertEquals(101, history.at(1).balance());
      assertEquals(102, history.at(history.version()).balance());
      assertEquals(103, Domain.of(stoa).join("two").on(purse).add(1));
    }
  }

  @Test
  void whoLeavesLosesNothing(@TempDir Path directory) {
    String url = "file:" + directory;
    try (var stoa = Stoa.open(url)) {
      var domain = Domain.of(stoa);
      List<Member> members = new ArrayList<>();
      for (int i = 0; i < 30; i++) members.add(domain.join("member " + i));
      for (var member : members) {
        for (var name : List.of("a", "b")) member.on(purse(stoa, name)).add(1);
      }
      for (var member : members) member.close();
      assertThrows(Closed.class, () -> members.getFirst().on(purse(stoa, "a")).add(1));
    }
    try (var stoa = Stoa.open(url)) {
      assertEquals(130, purse(stoa, "a").balance());
      assertEquals(130, purse(stoa, "b").balance());
    }
  }

  @Test
  void severalObjectsChangeTogether() throws Exception {
    try (var stoa = Stoa.open("memory:");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var domain = Domain.of(stoa);
      var names = List.of("a", "b", "c", "d");
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        var random = new Random(i);
        String address = "member " + i;
        all.add(threads.submit(() -> work(stoa, domain.join(address), names, random)));
      }
      for (var each : all) each.get();
      var purses = names.stream().map(name -> purse(stoa, name)).toList();
      assertEquals(
          400L,
          stoa.<Long, RuntimeException>together(
              purses, () -> purses.stream().mapToLong(Purse::balance).sum()));
    }
  }

  @Test
  void anOperationOnNoObjectsIsRefused() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      assertThrows(
          IllegalArgumentException.class,
          () -> stoa.<Long, RuntimeException>together(List.of(), () -> 1L));
    }
  }

  /* Moves money, and now and then looks at all of it or leaves and comes back. */
  private static void work(Stoa stoa, Member member, List<String> names, Random random) {
    for (int i = 0; i < 200; i++) {
      var from = purse(stoa, names.get(random.nextInt(names.size())));
      var to = purse(stoa, names.get(random.nextInt(names.size())));
      if (i % 10 == 9) {
        var purses = names.stream().map(name -> purse(stoa, name)).toList();
        long sum =
            member.<Long, RuntimeException>together(
                purses, () -> purses.stream().mapToLong(Purse::balance).sum());
        assertEquals(400, sum);
        continue;
      }
      if (i % 50 == 25) {
        member.close();
        member = Domain.of(stoa).join("again");
      }
      try {
        member.<Long, RuntimeException>together(
            List.of(from, to),
            () -> {
              to.add(7);
              return from.add(-7);
            });
      } catch (IllegalArgumentException poor) {
        // Then nothing of it has happened.
      }
    }
  }

  @Test
  void whoIsDisconnectedJoinsAgainAndIsToldThatUpdatesMayBeLost() {
    try (var stoa = Stoa.open("memory:")) {
      var domain = Domain.of(stoa);
      var one = domain.join("one");
      var purse = purse(stoa, "a");
      one.on(purse).add(1);
      one.flush();
      one.on(purse).add(1);
      var before = one.id();
      domain.links().cut(before, domain.root());
      assertEquals(101, purse.balance());
      assertNotEquals(before, one.id());
      assertEquals(102, one.on(purse).add(1));
      assertThrows(UnknownOutcome.class, one::flush);
      one.flush();
      assertEquals(102, purse.balance());
    }
  }

  @Test
  void leavingTellsWhatWasLostBefore() {
    try (var stoa = Stoa.open("memory:")) {
      var domain = Domain.of(stoa);
      var one = domain.join("one");
      var purse = purse(stoa, "a");
      one.on(purse).add(1);
      domain.links().cut(one.id(), domain.root());
      assertEquals(100, purse.balance());
      assertThrows(UnknownOutcome.class, one::close);
    }
  }

  @Test
  void aMethodThatThrowsKeepsWhatItChangedAndABlockThatThrowsDoesNot() {
    try (var stoa = Stoa.open("memory:")) {
      var member = Domain.of(stoa).join("one");
      var purse = purse(stoa, "a");
      assertThrows(IllegalStateException.class, () -> member.on(purse).write("!!!"));
      assertEquals(3, purse.memoLength());
      assertThrows(
          IllegalArgumentException.class,
          () ->
              member.together(
                  List.of(purse),
                  () -> {
                    purse.add(1);
                    return purse.add(-1_000);
                  }));
      assertEquals(100, purse.balance());
    }
  }

  @Test
  void takesNoPartWhereStatesWouldNotBeEnough() {
    try (var stoa = Stoa.open("memory:")) {
      var purse = purse(stoa, "a");
      var other = purse(stoa, "b");
      assertEquals(101, purse.add(1));
      assertThrows(UnsupportedOperationException.class, () -> stoa.transact(() -> purse.balance()));
      try (var transaction = stoa.begin(TxOptions.STANDARD)) {
        assertThrows(UnsupportedOperationException.class, () -> transaction.on(purse).add(1));
      }
      assertThrows(
          IllegalArgumentException.class,
          () -> stoa.together(List.of(purse), () -> other.balance()));
    }
  }
}
