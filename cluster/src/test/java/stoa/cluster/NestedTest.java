package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Deadlock;
import stoa.LogOrder;
import stoa.Ref;
import stoa.Shared;
import stoa.Stoa;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Key;
import stoa.front.types.Keys;
import stoa.wire.SlotMap;

/// Methods that call objects of other groups, of servers in this process that come and go.
class NestedTest {
  private static final int GROUPS = 2;
  private static final int CALLERS = 3;
  private static final int PAYMENTS = 5;

  @Shared(name = "nested.Account", order = LogOrder.GLOBAL)
  static class Account {
    private long balance;
    private long payments;
    private long received;
    private long sent;

    long add(long amount) {
      received++;
      balance += amount;
      return balance;
    }

    /// Takes from here, and gives to two others, unless these wait for this one.
    long pay(Account one, Account other, long amount) {
      payments++;
      return give(one, amount) + give(other, amount);
    }

    private long give(Account to, long amount) {
      try {
        to.add(amount);
      } catch (Deadlock crossed) {
        return 0;
      }
      sent++;
      balance -= amount;
      return amount;
    }

    /// Has another one give to this one.
    long order(Account payer, Account other, long amount) {
      return payer.pay(this, other, amount);
    }

    @Accessor
    long balance() {
      return balance;
    }

    @Accessor
    List<Long> counts() {
      return List.of(payments, sent, received);
    }

    @Accessor
    long sum(Account one, Account other) {
      return balance + one.balance() + other.balance();
    }
  }

  @TempDir private Path directory;

  private static Account account(Stoa stoa, int group, int number) {
    for (int i = 0, found = 0; ; i++) {
      String name = "account " + i;
      var key = new Key("nested.Account", Keys.encode(name), new Ref<>("nested.Account", name));
      if (SlotMap.of(GROUPS).group(key.stream()) == group && found++ == number) {
        return stoa.get(Account.class, name);
      }
    }
  }

  @Test
  void methodsCallObjectsOfGroupsThatOtherServersLeadOnceAlsoWhileLeadersGo() throws Exception {
    try (var servers = new RunningServers(directory, GROUPS, 3)) {
      servers.start("a", "b", "c");
      try (Stoa stoa = servers.open()) {
        var accounts = new ArrayList<Account>();
        for (int i = 0; i < 6; i++) accounts.add(account(stoa, i % GROUPS, i / GROUPS));
        pay(accounts.get(0), accounts.get(1), accounts.get(2));
        payWhileALeaderGoes(servers, accounts);
      }
    }
  }

  private static void pay(Account zero, Account one, Account two) {
    assertEquals(20, zero.pay(one, two, 10));
    assertEquals(0, zero.sum(one, two));
    // The store refuses the calls that would wait for themselves, and executes all others.
    assertEquals(5, zero.order(one, two, 5));
    assertEquals(List.of(-20L, 5L, 15L), List.of(zero.balance(), one.balance(), two.balance()));
  }

  private static void payWhileALeaderGoes(RunningServers servers, List<Account> accounts)
      throws Exception {
    long before = sum(accounts, 0);
    var enough = new AtomicBoolean();
    var unknown = new AtomicLong();
    var made = new ArrayList<Future<Long>>();
    try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < CALLERS; i++) {
        int first = i;
        made.add(callers.submit(() -> payOn(accounts, first, enough, unknown)));
      }
      try {
        awaitPayments(accounts, PAYMENTS);
        var _ = servers.stopLeader(1);
        awaitPayments(accounts, PAYMENTS);
      } finally {
        enough.set(true);
      }
      long count = 0;
      for (var future : made) count += future.get();
      assertEquals(0, accounts.stream().mapToLong(Account::balance).sum());
      long sent = sum(accounts, 1);
      assertEquals(sent, sum(accounts, 2));
      long payments = sum(accounts, 0) - before;
      assertTrue(count <= payments && payments <= count + unknown.get(), count + ", " + payments);
    }
  }

  private static long payOn(
      List<Account> accounts, int first, AtomicBoolean enough, AtomicLong unknown) {
    long count = 0;
    while (!enough.get()) {
      try {
        accounts.get(first).pay(accounts.get((first + 1) % 6), accounts.get((first + 2) % 6), 1);
        count++;
      } catch (UnknownOutcome lost) {
        unknown.incrementAndGet();
      } catch (Unavailable away) {
        // It is not done.
      }
    }
    return count;
  }

  private static void awaitPayments(List<Account> accounts, long more) {
    long before = sum(accounts, 0);
    while (sum(accounts, 0) < before + more) Thread.onSpinWait();
  }

  private static long sum(List<Account> accounts, int count) {
    return accounts.stream().mapToLong(account -> account.counts().get(count)).sum();
  }
}
