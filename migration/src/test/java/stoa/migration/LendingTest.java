package stoa.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.LogOrder;
import stoa.Reads;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.View;

/// Objects that live in the store are lent to members of a tree in this process.
class LendingTest {
  /// A number.
  @Shared(name = "test.Lent", key = "name")
  public static class Count {
    private final String name;
    private long value;
    private byte[] ballast = {};

    protected Count(String name) {
      this.name = name;
    }

    @Accessor
    public String name() {
      return name;
    }

    @Accessor
    public long value() {
      return value;
    }

    public long add(long more) {
      value += more;
      return value;
    }

    public void load(int bytes) {
      ballast = new byte[bytes];
    }

    @Accessor
    public int loaded() {
      return ballast.length;
    }
  }

  /// Adds to another object.
  @Shared(name = "test.Lent.Friend")
  public static class Friend {
    private long told;

    public long have(Count other, long more) {
      told = other.add(more);
      return told;
    }

    @Accessor
    public long seen(Count other) {
      return other.value();
    }

    public long ask(Count other) {
      told = other.value();
      return told;
    }
  }

  /// Alone in its order.
  @Shared(name = "test.Lent.Alone", order = LogOrder.STREAM)
  public static class Alone {
    private long value;

    public long add(long more) {
      value += more;
      return value;
    }
  }

  private static Count count(Stoa stoa, String name) {
    return stoa.get(Count.class, name);
  }

  private static Count lent(Stoa stoa, Count count, Reads reads) {
    return stoa.view(Count.class, stoa.ref(count), new View.Client(reads));
  }

  static void await(BooleanSupplier condition) {
    long end = System.nanoTime() + 30_000_000_000L;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, "it never came to be");
      Thread.onSpinWait();
    }
  }

  private static boolean isRefused(Stoa stoa, Count count) {
    try {
      var _ = stoa.<Long, RuntimeException>transact(count::value);
      return false;
    } catch (UnsupportedOperationException lent) {
      return true;
    }
  }

  @Test
  void callsThroughAViewExecuteWhereTheyAreMade() {
    try (var stoa = Stoa.open("memory:")) {
      var count = count(stoa, "a");
      assertEquals(1, count.add(1));
      var one = Domain.of(stoa).join("one");
      var two = Domain.of(stoa).join("two");
      var here = one.on(count);
      assertEquals(3, here.add(2));
      assertEquals(List.of(count), one.place(List.of(count)).here());
      assertEquals(6, two.on(count).add(3));
      assertEquals(List.of(), one.place(List.of(count)).here());
      assertEquals(6, here.value());
      assertEquals(6, one.on(count, Reads.LOCAL).value());
      // Ordinary proxies see one object.
      assertEquals(6, count.value());
      assertEquals(10, count.add(4));
      assertEquals(10, here.value());
      assertEquals("a", stoa.find(Count.class, "a").orElseThrow().name());
      assertEquals(15, stoa.async(count, each -> each.add(5)).join());
      assertEquals(15, stoa.async(count, Count::value).join());
    }
  }

  @Test
  void aViewOfTheStoreItselfExecutesAtTheRootAndIsDurable() {
    try (var stoa = Stoa.open("memory:")) {
      var count = count(stoa, "a");
      assertEquals(1, count.add(1));
      var view = lent(stoa, count, Reads.STRICT);
      assertTrue(isRefused(stoa, count));
      assertEquals(3, view.add(2));
      assertEquals(3, stoa.view(Count.class, stoa.ref(count), new View.Local()).value());
      assertThrows(UnsupportedOperationException.class, () -> stoa.transact(() -> view.add(1)));
      assertEquals(7, stoa.async(view, each -> each.add(4)).join());
    }
  }

  @Test
  void whatIsRefusedSaysWhyAndChangesNothing() {
    try (var stoa = Stoa.open("memory:")) {
      var count = count(stoa, "a");
      assertEquals(1, count.add(1));
      var member = Domain.of(stoa).join("one");
      var here = member.on(count);
      assertEquals(3, here.add(2));
      var friend = stoa.get(Friend.class, "f");
      for (var refused :
          List.<Runnable>of(
              () -> friend.have(count, 1),
              () -> friend.ask(count),
              () -> friend.seen(count),
              () -> stoa.transact(() -> count.add(1)),
              () -> stoa.transact(() -> count.value()),
              () -> stoa.transact(() -> stoa.delete(count)))) {
        var told = assertThrows(UnsupportedOperationException.class, refused::run);
        String message = String.valueOf(told.getMessage());
        assertTrue(message.contains("test.Lent[a]") && message.contains("View.Client"), message);
      }
      assertEquals(3, here.value());
      // The past, and what is durable, is read as ever.
      member.flush();
      assertEquals(4, here.add(1));
      var history = stoa.history(count);
      assertEquals(1, history.at(1).value());
      assertEquals(3, history.at(history.version()).value());
      assertEquals(3, stoa.view(Count.class, stoa.ref(count), new View.Local()).value());
      try (var snapshot = stoa.snapshot()) {
        assertEquals(3, snapshot.on(count).value());
        assertEquals(3, snapshot.on(friend).seen(snapshot.on(count)));
      }
      assertFalse(history.entries(1, history.version()).isEmpty());
    }
  }

  @Test
  void whatCannotBeLentIsRefusedWhenTheViewIsAsked() {
    try (var stoa = Stoa.open(StoaConfig.of("memory:").withLimits(small()))) {
      var absent = count(stoa, "absent");
      assertThrows(IllegalArgumentException.class, () -> lent(stoa, absent, Reads.STRICT));
      var large = count(stoa, "large");
      for (int i = 0; i < 2; i++) large.load(100_000);
      assertThrows(LimitExceeded.class, () -> lent(stoa, large, Reads.STRICT));
      assertFalse(isRefused(stoa, large));
      assertEquals(100_000, large.loaded());
      large.load(10);
      var view = lent(stoa, large, Reads.STRICT);
      assertThrows(LimitExceeded.class, () -> view.load(100_000));
      assertEquals(10, view.loaded());
    }
  }

  private static Limits small() {
    return Limits.standard().withCallBytesMax(50_000);
  }

  @Test
  void comesBackWhenNobodyAsksAnyMore() {
    try (var stoa = Stoa.open("memory:")) {
      var count = count(stoa, "a");
      assertEquals(1, count.add(1));
      try (var member = Domain.of(stoa).join("one")) {
        assertEquals(3, member.on(count).add(2));
        assertTrue(isRefused(stoa, count));
      }
      await(() -> !isRefused(stoa, count));
      assertEquals(3, stoa.<Long, RuntimeException>transact(count::value));
      assertEquals(6, count.add(3));
      // And again, where old copies are.
      var other = Domain.of(stoa).join("two");
      assertEquals(10, other.on(count).add(4));
      assertEquals(10, count.value());
    }
  }

  @Test
  void aLoanIsGivenUpWithWhatTheRootKnowsOfItsObject() {
    try (var stoa = Stoa.open("memory:")) {
      var lender = Domain.of(stoa).lender();
      var asked = count(stoa, "asked");
      assertEquals(0, asked.add(0));
      var member = Domain.of(stoa).join("one");
      var view = member.on(asked);
      assertEquals(1, view.add(1));
      var count = count(stoa, "a");
      assertEquals(1, count.add(1));
      try (var other = Domain.of(stoa).join("two")) {
        assertEquals(3, other.on(count).add(2));
      }
      await(() -> !isRefused(stoa, count));
      assertEquals(6, count.add(3)); // at the server
      assertEquals(2, lender.loans());
      await(() -> {
        lender.giveUp(0); // the thread that took the object back may not have ended yet
        return lender.loans() == 1; // a member asks for the object of the other loan
      });
      assertEquals(2, view.add(1));
      assertEquals(7, count.add(1));
      // The root asks the store, since all older states were forgotten.
      assertEquals(11, member.on(count).add(4));
      assertEquals(2, lender.loans());
      assertEquals(11, count.value());
    }
  }

  @Test
  void comesBackWhenTheLastViewCannotBeReached() {
    try (var stoa = Stoa.open("memory:")) {
      var count = count(stoa, "a");
      assertEquals(1, count.add(1));
      var member = Domain.of(stoa).join("one");
      assertEquals(3, member.on(count).add(2));
      await(() -> {
        System.gc();
        return !isRefused(stoa, count);
      });
      assertEquals(4, count.add(1));
    }
  }

  @Test
  void anEarlierProcessHasLentIt(@TempDir Path directory) {
    String url = "file:" + directory;
    try (var stoa = Stoa.open(url)) {
      var count = count(stoa, "a");
      assertEquals(1, count.add(1));
      var view = lent(stoa, count, Reads.STRICT);
      assertEquals(3, view.add(2));
      for (int i = 0; i < 10; i++) view.load(100_000 + i); // so that there are checkpoints
    }
    try (var stoa = Stoa.open(url)) {
      var count = count(stoa, "a");
      assertTrue(isRefused(stoa, count));
      assertEquals(100_009, count.loaded());
      assertEquals(6, count.add(3));
      await(() -> !isRefused(stoa, count));
      assertEquals(10, count.add(4));
      assertEquals(10, stoa.<Long, RuntimeException>transact(count::value));
    }
    try (var stoa = Stoa.open(url)) {
      assertFalse(isRefused(stoa, count(stoa, "a")));
      assertEquals(10, count(stoa, "a").value());
    }
  }

  @Test
  void isDeletedWhileItIsLent() {
    try (var stoa = Stoa.open("memory:")) {
      var count = count(stoa, "a");
      assertEquals(1, count.add(1));
      var member = Domain.of(stoa).join("one");
      var here = member.on(count);
      assertEquals(3, here.add(2));
      assertTrue(stoa.delete(count));
      assertThrows(Gone.class, () -> here.add(1));
      assertThrows(Gone.class, here::value);
      member.flush();
      var again = count(stoa, "a");
      assertEquals(5, again.add(5));
      assertEquals(7, member.on(again).add(2));
      member.flush();
      assertEquals(7, stoa.view(Count.class, stoa.ref(again), new View.Local()).value());
      // Others of the domain went on.
      var other = count(stoa, "b");
      assertEquals(1, other.add(1));
      assertEquals(2, member.on(other).add(1));
      assertEquals(
          9L,
          member.<Long, RuntimeException>together(
              List.of(member.on(again), member.on(other)), () -> 9L));
    }
  }

  @Test
  void oneOfAnOrderOfItsOwnIsLent() {
    try (var stoa = Stoa.open("memory:")) {
      var alone = stoa.get(Alone.class, "a");
      assertEquals(1, alone.add(1));
      var member = Domain.of(stoa).join("one");
      assertEquals(3, member.on(alone).add(2));
      assertEquals(6, alone.add(3));
      member.flush();
    }
  }

  /* So that no word of an earlier side comes behind it. */
  @Test
  void whoAsksIsToldByTheRootThatItIsLent() {
    try (var stoa = Stoa.open("memory:")) {
      var count = count(stoa, "a");
      assertEquals(1, count.add(1));
      var domain = Domain.of(stoa);
      var object = domain.store().object(count);
      List<Boolean> told = new ArrayList<>();
      Domain.Watcher asker = (_, atServer) -> told.add(atServer);
      for (int i = 0; i < 2; i++) {
        domain.borrow(object, asker);
        assertEquals(false, told.getLast());
        assertEquals(i + 1, told.size());
      }
      domain.letGo(object.stream(), asker);
    }
  }

  @Test
  void severalAreChangedTogether() {
    try (var stoa = Stoa.open("memory:")) {
      var a = count(stoa, "a");
      var b = count(stoa, "b");
      assertEquals(1, a.add(1));
      assertEquals(1, b.add(1));
      var member = Domain.of(stoa).join("one");
      assertThrows(
          IllegalArgumentException.class, () -> member.together(List.of(a, b), () -> a.add(1)));
      var hereA = member.on(a);
      var hereB = member.on(b);
      assertEquals(
          4L,
          member.<Long, RuntimeException>together(
              List.of(hereA, hereB), () -> hereA.add(1) + hereB.add(1)));
      assertEquals(2, b.value());
    }
  }

  @Test
  void goesBackAndForthWhileAllCallIt() throws Exception {
    try (var stoa = Stoa.open("memory:");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var count = count(stoa, "a");
      assertEquals(0, count.add(0));
      var domain = Domain.of(stoa);
      long rounds = 300;
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        all.add(threads.submit(() -> adds(count, rounds)));
        var member = domain.join("member " + i);
        all.add(threads.submit(() -> adds(member.on(count), rounds)));
      }
      all.add(
          threads.submit(() -> {
            for (int i = 0; i < 60; i++) {
              domain.lender().move(count, i % 2 == 0);
              if (i % 3 == 0) domain.lender().giveUp(0);
            }
          }));
      for (var each : all) each.get();
      assertEquals(4 * rounds, count.value());
    }
  }

  private static void adds(Count count, long rounds) {
    long before = -1;
    for (int i = 0; i < rounds; i++) {
      long now = count.add(1);
      assertTrue(now > before, now + " after " + before);
      before = now;
      assertTrue(count.value() >= now);
    }
  }
}
