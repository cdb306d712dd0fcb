package stoa.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.DeadlineExceeded;
import stoa.Expires;
import stoa.Schedule;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaException;
import stoa.Unavailable;

@StoaTest
class StoaStoreTest {
  private static final int CALLS = 20;

  /// One of its calls does not end. Ends two days after its last change.
  @Shared(name = "test.Brief")
  @Expires(value = 2, unit = TimeUnit.DAYS)
  static class Brief {
    private int uses;

    int use() {
      return ++uses;
    }
  }

  @Shared(name = "test.Endless")
  static class Endless {
    static final CountDownLatch BEGUN = new CountDownLatch(1);
    private long turns;

    long turn(boolean endless) {
      do {
        turns++;
        if (turns == 1_000) BEGUN.countDown();
      } while (endless);
      return turns;
    }

    void remind() {
      turns++;
    }

    @Awaits
    void reminded(long times) {
      Call.await(() -> turns >= times);
    }

    @Accessor
    long turns() {
      return turns;
    }
  }

  private static Account account(StoaStore store) {
    return store.stoa().get(Account.class, "ada");
  }

  @Test
  void whatWasAnsweredSurvivesTheEndOfTheProcess(StoaStore store) {
    account(store).deposit(5);
    store.kill();
    assertThrows(IllegalStateException.class, store::stoa);
    store.restart();
    assertEquals(10, account(store).deposit(5));
  }

  @Test
  void whatWasAnsweredSurvivesALossOfPower(StoaStore store) {
    for (int i = 1; i <= CALLS; i++) {
      assertEquals(i, account(store).deposit(1));
      store.losePower();
      store.restart();
    }
    assertEquals(CALLS, account(store).balance());
  }

  @Test
  void timersFireByTheClockOfTheTest(StoaStore store) {
    Endless reminded = store.stoa().get(Endless.class, "reminded");
    store.stoa().timers().schedule(Schedule.every(Duration.ofDays(1)), reminded).remind();
    store.clock().advance(Duration.ofDays(1));
    reminded.reminded(1);
    store.kill();
    store.clock().advance(Duration.ofDays(5)); // once for the days that it missed
    store.restart();
    reminded = store.stoa().get(Endless.class, "reminded");
    reminded.reminded(2);
    store.clock().advance(Duration.ofDays(1));
    reminded.reminded(3);
    assertEquals(3, store.stoa().timers().of(reminded).getFirst().fired());
  }

  @Test
  void anObjectEndsByTheClockOfTheTestUnlessItIsChanged(StoaStore store) {
    Brief brief = store.stoa().get(Brief.class, "b");
    brief.use();
    Instant first = due(store, brief);
    store.clock().advance(Duration.ofHours(36));
    brief.use();
    store.clock().advance(Duration.ofHours(24));
    while (due(store, brief).equals(first)) Thread.onSpinWait(); // it has looked, and waits again
    assertEquals(36, Duration.between(first, due(store, brief)).toHours());
    store.kill();
    store.clock().advance(Duration.ofHours(36));
    store.restart();
    while (store.stoa().find(Brief.class, "b").isPresent()) Thread.onSpinWait();
  }

  private static Instant due(StoaStore store, Brief brief) {
    return store.stoa().timers().of(brief).getFirst().due();
  }

  @Test
  void aSlowDiskMakesCallsSlow(StoaStore store) {
    Account ada = account(store);
    ada.deposit(1);
    store.disk().slow(Duration.ofMillis(100));
    long began = System.nanoTime();
    ada.deposit(1);
    assertTrue(System.nanoTime() - began >= 100_000_000L);
    store.disk().mend();
  }

  @Test
  void aDiskThatFailsEndsTheStoreUntilItIsOpenedAgain(StoaStore store) {
    account(store).deposit(5);
    store.disk().fail();
    assertThrows(StoaException.class, () -> account(store).deposit(1));
    assertThrows(Unavailable.class, () -> account(store).deposit(1));
    store.disk().mend();
    store.kill();
    store.restart();
    long balance = account(store).balance();
    assertTrue(balance == 5 || balance == 6, "the outcome was unknown, and is " + balance);
  }

  @Test
  void aStoreWhoseDiskHasFailedIsClosed() {
    StoaStore store = StoaStore.open();
    account(store).deposit(5);
    store.disk().fail();
    assertThrows(StoaException.class, () -> account(store).deposit(1));
    store.close();
  }

  @Test
  void aSyncThatFailsLosesNothingThatWasAnswered(StoaStore store) {
    account(store).deposit(5);
    store.disk().failNextSync();
    assertThrows(StoaException.class, () -> account(store).deposit(1));
    store.losePower();
    store.restart();
    long balance = account(store).balance();
    assertTrue(balance == 5 || balance == 6, "the outcome was unknown, and is " + balance);
  }

  @Test
  void aFullDiskRefusesCallsAndHarmsNothing(StoaStore store) {
    Account ada = account(store);
    ada.deposit(5);
    store.disk().fill();
    assertThrows(
        StoaException.class,
        () -> {
          for (int i = 0; i < 100_000; i++) ada.deposit(1);
        });
    long there = ada.balance();
    store.disk().mend();
    assertEquals(there + 1, ada.deposit(1));
  }

  @Test
  void theClockOfTheTestIsThatOfTheCalls(StoaStore store) {
    Account ada = account(store);
    ada.deposit(1);
    Instant before = ada.last();
    store.clock().advance(Duration.ofDays(30));
    ada.deposit(1);
    Instant after = ada.last();
    assertTrue(Duration.between(before, after).toDays() >= 30);
    store.clock().setBack(Duration.ofDays(60));
    ada.deposit(1);
    assertTrue(!ada.last().isBefore(after), "the time of calls goes back");
  }

  @Test
  void theTimeLimitOfACallEndsWhenTheClockMoves(Stoa stoa, StoaClock clock) throws Exception {
    Endless object = stoa.get(Endless.class, "endless");
    var call = stoa.async(object, o -> o.turn(true));
    Endless.BEGUN.await();
    clock.advance(Duration.ofMinutes(5));
    var ended = assertThrows(java.util.concurrent.ExecutionException.class, call::get);
    assertTrue(ended.getCause() instanceof DeadlineExceeded, ended.toString());
    assertEquals(1, object.turn(false));
  }

  @Test
  void aStoreInADirectoryIsTheStore(StoaStore store, @TempDir Path directory) {
    account(store).deposit(5);
    store.saveTo(directory);
    try (Stoa opened = Stoa.open("file:" + directory)) {
      assertEquals(5, opened.get(Account.class, "ada").balance());
    }
    assertThrows(IllegalArgumentException.class, () -> store.saveTo(directory));
  }
}
