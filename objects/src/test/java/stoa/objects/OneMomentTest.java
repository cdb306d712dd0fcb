package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Deadlock;
import stoa.LogOrder;
import stoa.Shared;
import stoa.Stoa;

/// Accessors that ask other objects see all of them at one moment.
class OneMomentTest {
  private static final long TOTAL = 1_000;
  private static final int TRANSFERS = 3_000;

  @Shared(name = "moment.Purse")
  static class Purse {
    private long coins = TOTAL / 2;

    @Accessor
    public long coins() {
      return coins;
    }

    public void add(long more) {
      coins += more;
    }

    @Accessor
    public long with(Purse other) {
      return coins + other.coins();
    }

    @Accessor
    public long around(Purse other) {
      return other.around(this);
    }
  }

  @Shared(name = "moment.Count", order = LogOrder.STREAM)
  static class Count {
    private long count;

    @Accessor
    public long count() {
      return count;
    }

    public void add() {
      count++;
    }
  }

  @Shared(name = "moment.Ledger")
  static class Ledger {
    private final List<Purse> purses = new ArrayList<>();

    public void open(Purse purse) {
      purses.add(purse);
    }

    @Accessor
    public long total() {
      long total = 0;
      for (Purse purse : purses) total += purse.coins();
      return total;
    }

    @Accessor
    public long totalBy(Ledger other) {
      return other.total();
    }

    @Accessor
    public long totalAnd(Count count) {
      return total() + count.count();
    }

    @Accessor
    public List<Purse> open() {
      total();
      return purses;
    }
  }

  @Test
  void seeNoTransactionHalf() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      Purse one = stoa.get(Purse.class, "one");
      Purse two = stoa.get(Purse.class, "two");
      Ledger ledger = stoa.get(Ledger.class, "all");
      Ledger other = stoa.get(Ledger.class, "other");
      ledger.open(one);
      ledger.open(two);
      var done = new AtomicBoolean();
      CompletableFuture<Void> transfers =
          CompletableFuture.runAsync(() -> {
            try {
              for (int i = 0; i < TRANSFERS; i++) {
                long amount = i % 2 == 0 ? 1 : -1;
                stoa.transact(() -> {
                  one.add(amount);
                  two.add(-amount);
                });
              }
            } finally {
              done.set(true);
            }
          });
      do {
        assertEquals(TOTAL, ledger.total());
        assertEquals(TOTAL, other.totalBy(ledger));
        assertEquals(TOTAL, one.with(two));
        assertEquals(TOTAL, stoa.async(ledger, Ledger::total).get());
        assertEquals(TOTAL, stoa.async(two, purse -> purse.with(one)).get());
      } while (!done.get());
      transfers.get();
    }
  }

  @Test
  void answerLiveObjects() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Ledger ledger = stoa.get(Ledger.class, "all");
      Purse purse = stoa.get(Purse.class, "one");
      ledger.open(purse);
      for (int i = 0; i < 2; i++) ledger.open().getFirst().add(1);
      assertEquals(TOTAL / 2 + 2, purse.coins());
    }
  }

  @Test
  void askObjectsOfOrderStreamAsTheyAre() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Ledger ledger = stoa.get(Ledger.class, "all");
      Count count = stoa.get(Count.class, "count");
      ledger.open(stoa.get(Purse.class, "one"));
      for (int i = 1; i <= 3; i++) {
        count.add();
        assertEquals(TOTAL / 2 + i, ledger.totalAnd(count));
      }
    }
  }

  @Test
  void doNotWaitForThemselves() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Purse one = stoa.get(Purse.class, "one");
      Purse two = stoa.get(Purse.class, "two");
      for (int i = 0; i < 2; i++) assertThrows(Deadlock.class, () -> one.around(two));
    }
  }
}
