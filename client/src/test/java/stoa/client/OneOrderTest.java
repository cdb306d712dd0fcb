package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import stoa.Aborted;
import stoa.Accessor;
import stoa.LogAddress;
import stoa.Order;
import stoa.Placement;
import stoa.Ref;
import stoa.Shared;
import stoa.SharedMap;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.View;
import stoa.base.Clock;
import stoa.log.LocalShardLog;
import stoa.node.Peers;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.Ordering;
import stoa.objects.types.Keys;
import stoa.storage.Device;
import stoa.storage.DeviceConfig;
import stoa.storage.MemoryDisk;
import stoa.store.Coordinator;
import stoa.store.Key;
import stoa.store.Threads;
import stoa.wire.ShardMap;
import stoa.wire.proto.ServerStatus;

/// A store whose groups have one order, all in one server.
class OneOrderTest {
  private static final int GROUPS = 3;
  private static final ShardMap MAP = ShardMap.of(GROUPS, true);

  @Shared
  static class Account {
    private long balance;

    public long add(long amount) {
      balance += amount;
      return balance;
    }

    @Accessor
    public long balance() {
      return balance;
    }
  }

  @Shared(placement = Placement.AUTO)
  static class Purse {
    private long coins;

    public long add(long amount) {
      coins += amount;
      return coins;
    }
  }

  @Shared(order = Order.STREAM)
  static class Tally {
    private long value;

    public long increment() {
      return ++value;
    }
  }

  private static final class Alone implements Peers {
    private volatile @Nullable Server server;

    @Override
    public int groups() {
      return GROUPS;
    }

    @Override
    public boolean isSpread() {
      return true;
    }

    @Override
    public List<String> servers() {
      Server known = server;
      return known == null ? List.of() : List.of("127.0.0.1:" + known.port());
    }

    @Override
    public CompletableFuture<String> leader(int group) {
      return CompletableFuture.completedFuture(servers().getFirst());
    }

    @Override
    public List<ServerStatus> status() {
      return List.of();
    }

    @Override
    public void join(String name, String member) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void drain(String name) {
      throw new UnsupportedOperationException();
    }
  }

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Server server;
  private final Coordinator coordinator;
  private final Stoa store;
  private final List<MemoryDisk> disks =
      IntStream.range(0, GROUPS).mapToObj(_ -> new MemoryDisk(64 << 20)).toList();

  OneOrderTest() throws IOException {
    var alone = new Alone();
    server = Server.start(ServerConfig.of("127.0.0.1", 0), alone);
    alone.server = server;
    Map<Integer, Coordinator.Member> members = new HashMap<>();
    for (int group = 1; group < GROUPS; group++) {
      int number = group;
      members.put(
          group,
          Ordering.member(
              group, OneOrderTest.class.getClassLoader(), question -> answer(number, question)));
    }
    coordinator = new Coordinator(0, members, threads, Clock.system());
    server.lead(0, part(0, coordinator.home()), coordinator);
    for (int group = 1; group < GROUPS; group++)
      server.lead(group, part(group, coordinator.of(group)));
    store = Stoa.open(StoaConfig.of("stoa://127.0.0.1:" + server.port()));
  }

  /// By way of bytes, as from another process.
  private byte[] answer(int group, byte[] question) {
    return Ordering.answer(
        question,
        new Ordering.Here() {
          @Override
          public stoa.store.Addresses order(int asked) {
            throw new UnsupportedOperationException();
          }

          @Override
          public Coordinator.Member member(int asked) {
            assertEquals(group, asked);
            return server.member(asked);
          }
        });
  }

  private ObjectService part(int group, stoa.store.Addresses order) {
    Device device = Device.open(disks.get(group), DeviceConfig.standard());
    var part =
        EmbeddedEngine.openReplicated(
            StoaConfig.of("memory:"),
            device,
            () -> new LocalShardLog(device),
            Clock.system(),
            Threads.real(),
            MAP.part(group).ordered(order));
    return ObjectService.of(part, _ -> true);
  }

  @AfterEach
  void close() {
    store.close();
    server.close();
    threads.close();
  }

  private static int group(String name) {
    String type = Account.class.getName();
    var key = new Key(type, Keys.encode(name), new Ref<>(type, name));
    return MAP.group(Order.GLOBAL, key.stream());
  }

  /// The first account that a group has, of those with a number above one.
  private Account account(int group, int above) {
    for (int i = above + 1; ; i++) {
      if (group("account " + i) == group) return store.get(Account.class, "account " + i);
    }
  }

  private Account account(int group) {
    return account(group, 0);
  }

  @Test
  void objectsOfTheGlobalOrderAreInAllGroups() {
    var found = new HashSet<Integer>();
    for (int i = 0; i < 30; i++) {
      assertEquals(i, store.get(Account.class, "account " + i).add(i));
      found.add(group("account " + i));
    }
    assertEquals(GROUPS, found.size());
    var names = new HashSet<Object>();
    store.list(Account.class).forEach(account -> names.add(store.ref(account).key()));
    assertEquals(30, names.size());
  }

  @Test
  void aTransactionOverGroupsHasOneAddress() {
    Account one = account(1);
    Account two = account(2);
    Account zero = account(0);
    one.add(100);
    LogAddress[] at = new LogAddress[1];
    try (Transaction transfer = store.begin(TxOptions.STANDARD)) {
      transfer.on(one).add(-30);
      transfer.on(two).add(10);
      transfer.on(zero).add(20);
      var outcome = assertInstanceOf(Transaction.Outcome.Committed.class, transfer.commit());
      at[0] = outcome.address();
    }
    assertEquals(List.of(70L, 10L, 20L), List.of(one.balance(), two.balance(), zero.balance()));
    for (Account account : List.of(one, two, zero)) {
      var history = store.history(account);
      long last = history.version();
      assertEquals(at[0], history.entries(last, last).getFirst().address());
    }
  }

  @Test
  void objectsAreThereStillWhenTheirGroupIsLedAgain() {
    Account one = account(1);
    Account two = account(2);
    one.add(5);
    two.add(5);
    for (int i = 1; i <= 3; i++) {
      server.follow(1);
      server.lead(1, part(1, coordinator.of(1)));
      assertEquals(5 + i, one.add(1));
      store.transact(() -> two.add(-one.add(0)));
      store.transact(() -> two.add(one.balance()));
    }
    assertEquals(5, two.balance());
  }

  @Test
  void whatChangedMeanwhileAbortsAndIsTriedAgain() {
    Account one = account(1);
    Account two = account(2);
    one.add(1);
    try (Transaction late = store.begin(TxOptions.STANDARD)) {
      late.on(two).add(late.on(one).balance());
      one.add(1);
      var outcome = assertInstanceOf(Transaction.Outcome.Aborted.class, late.commit());
      Aborted cause = outcome.cause();
      assertEquals(store.ref(one), cause.object());
    }
    assertEquals(0, two.balance());
    store.transact(() -> two.add(one.balance()));
    assertEquals(2, two.balance());
  }

  @Test
  void readersSeeOneMomentOfAllGroups() throws Exception {
    int accounts = 6;
    var all = new ArrayList<Account>();
    for (int i = 0; i < accounts; i++) all.add(account(i % GROUPS, i * 20));
    all.getFirst().add(1_000);
    var ends = new ArrayList<Future<?>>();
    for (int t = 0; t < 4; t++) {
      int thread = t;
      ends.add(
          threads.submit(() -> {
            for (int i = 0; i < 25; i++) {
              Account from = all.get((thread + i) % accounts);
              Account to = all.get((thread + 2 * i + 1) % accounts);
              if (from.equals(to)) continue;
              store.transact(() -> {
                from.add(-1);
                to.add(1);
                return from;
              });
            }
          }));
      ends.add(
          threads.submit(() -> {
            for (int i = 0; i < 25; i++) {
              long sum =
                  store.transact(
                      TxOptions.reading(), () -> all.stream().mapToLong(Account::balance).sum());
              assertEquals(1_000, sum);
            }
          }));
    }
    for (var end : ends) end.get();
    assertEquals(1_000, all.stream().mapToLong(Account::balance).sum());
  }

  @Test
  void aSnapshotIsOfAllGroups() {
    Account one = account(1);
    Account two = account(2);
    one.add(1);
    two.add(2);
    try (Snapshot then = store.snapshot()) {
      one.add(10);
      two.add(10);
      assertEquals(1, then.on(one).balance());
      assertEquals(2, then.on(two).balance());
      Account seen = store.view(Account.class, store.ref(two), new View.AtAddress(then.address()));
      assertEquals(2, seen.balance());
    }
  }

  @Test
  void whatIsPlacedAtClientsIsInTheFirstGroup() {
    for (int i = 0; i < 12; i++) {
      Purse purse = store.get(Purse.class, "purse " + i);
      for (int coin = 1; coin <= 3; coin++) assertEquals(coin, purse.add(1));
    }
  }

  @Test
  void whatHasNoOrderWithOthersTakesNoPart() {
    Tally tally = store.get(Tally.class, "t");
    assertEquals(1, tally.increment());
    assertThrows(
        UnsupportedOperationException.class, () -> store.transact(() -> tally.increment()));
  }

  @Test
  void collectionsAreWhereTheirObjectsAre() {
    for (int i = 0; i < 6; i++) {
      var map = store.map("map " + i, String.class, Long.class);
      map.put("a", 1L);
      assertEquals(1L, map.get("a"));
      var list = store.list("list " + i, String.class);
      list.add("b");
      assertEquals(List.of("b"), list);
      var ref = store.ref(map);
      var local = store.view(SharedMap.class, ref, new View.Local());
      assertEquals(1L, local.get("a"));
      store.transact(() -> list.add("c" + map.put("a", 2L)));
      assertEquals(List.of("b", "c1"), list);
    }
  }

  @Test
  void addressesRiseOverGroups() {
    long last = 0;
    for (int i = 0; i < 12; i++) {
      Account account = account(i % GROUPS, i * 20);
      account.add(1);
      LogAddress at = store.history(account).entries(1, 1).getFirst().address();
      assertTrue(at.counter() > last, at + " is behind " + last);
      assertNotEquals(0, at.epoch());
      last = at.counter();
    }
  }
}
