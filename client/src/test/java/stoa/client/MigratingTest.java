package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Closed;
import stoa.ConnectionSecurity;
import stoa.Placement;
import stoa.Reads;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.TxOptions;
import stoa.View;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.transport.Address;
import stoa.wire.Channels;
import stoa.wire.SingleRequests;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.TreeStatus;

/// Objects migrate between clients of a server, over sockets.
class MigratingTest {
  /// A balance that moves to whoever pays.
  @Shared(name = "test.RemotePurse", key = "name", placement = Placement.CLIENT)
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
    }

    @Accessor
    public int memoLength() {
      return memo.length();
    }
  }

  /// A number of another domain.
  @Shared(name = "test.RemoteTally", placement = Placement.CLIENT, domain = "votes")
  public static class Tally {
    private long count;

    public long add(long more) {
      count += more;
      return count;
    }
  }

  private static Purse purse(Stoa stoa, String name) {
    return stoa.get(Purse.class, name, 100L);
  }

  private static Server serve(String url, int port) throws IOException {
    var store = new EmbeddedEngine().open(StoaConfig.of(url));
    var config = ServerConfig.of("127.0.0.1", port).withTreeLease(Duration.ofSeconds(3));
    return Server.start(config, ObjectService.of(store, _ -> true));
  }

  private static Stoa client(Server server, TreeMembership membership) {
    return client(server.port(), membership);
  }

  private static Stoa client(int port, TreeMembership membership) {
    return Stoa.open(StoaConfig.of("stoa://127.0.0.1:" + port).withMembership(membership));
  }

  @Test
  void callsExecuteWhereTheyAreMadeAndEverybodySeesThem() throws Exception {
    try (var server = serve("memory:", 0);
        var one = client(server, TreeMembership.leaf());
        var two = client(server, TreeMembership.inner())) {
      assertEquals(101, purse(one, "a").add(1));
      assertEquals(103, purse(two, "a").add(2));
      assertEquals(103, purse(one, "a").balance());
      var near = two.view(Purse.class, two.ref(purse(two, "a")), new View.Client(Reads.LOCAL));
      assertEquals("a", near.name());
      assertEquals(104, near.add(1));
      assertEquals(103, near.add(-1));
      two.flush();
      for (var durable : List.of(new View.Local(), new View.Cached())) {
        assertEquals(103, one.view(Purse.class, one.ref(purse(one, "a")), durable).balance());
      }
      assertThrows(IllegalArgumentException.class, () -> purse(one, "a").add(-1_000));
      assertEquals(
          3L,
          one.<Long, RuntimeException>together(
              List.of(purse(one, "a"), purse(one, "b")),
              () -> {
                purse(one, "b").add(-3);
                return 103 - purse(one, "a").add(-3);
              }));
      assertEquals(97, purse(two, "b").balance());
    }
  }

  @Test
  void eachDomainHasATreeAndNoOperationIsOnTwo() throws Exception {
    try (var server = serve("memory:", 0);
        var channels = new Channels(ConnectionSecurity.none());
        var one = client(server, TreeMembership.inner());
        var two = client(server, TreeMembership.leaf());
        var outside = client(server, new TreeMembership.Outside())) {
      var tally = one.get(Tally.class, "t");
      assertEquals(1, tally.add(1));
      assertEquals(101, purse(one, "a").add(1));
      assertEquals(3, two.get(Tally.class, "t").add(2));
      assertEquals(6, outside.get(Tally.class, "t").add(3));
      var both =
          assertThrows(
              IllegalArgumentException.class,
              () -> one.together(List.of(purse(one, "a"), tally), () -> tally.add(1)));
      for (var words :
          List.of("test.RemotePurse[a]", "\"default\"", "test.RemoteTally[t]", "\"votes\"")) {
        assertTrue(String.valueOf(both.getMessage()).contains(words), both.getMessage());
      }
      assertEquals(7L, one.<Long, RuntimeException>together(List.of(tally), () -> tally.add(1)));
      one.flush();
      var status =
          new SingleRequests(channels.to(new Address("127.0.0.1", server.port())), 60_000)
              .status(StatusRequest.getDefaultInstance());
      var members = status.getTreeList().stream().map(TreeStatus::getDomain).toList();
      assertEquals(List.of("default", "default", "votes", "votes", "votes"), members);
    }
  }

  @Test
  void clientsGetPlacesBelowThoseThatAreNearToThem() throws Exception {
    var config = ServerConfig.of("127.0.0.1", 0).withTreeFanOut(2);
    List<Stoa> clients = new ArrayList<>();
    try (var server =
            Server.start(config, ObjectService.open(StoaConfig.of("memory:"), _ -> true));
        var channels = new Channels(ConnectionSecurity.none())) {
      try {
        for (TreeMembership each :
            List.of(
                TreeMembership.inner().at("east/rack-1"),
                TreeMembership.inner().at("west/rack-1"),
                TreeMembership.inner().at("west/rack-2"),
                TreeMembership.leaf().at("east/rack-2"),
                TreeMembership.leaf().at("west/rack-3"),
                TreeMembership.leaf())) {
          var stoa = client(server, each);
          clients.add(stoa);
          purse(stoa, "a").add(1);
          stoa.flush(); // behind what its node has told of where it is
        }
        var above = new TreeMap<String, String>();
        while (above.size() < clients.size()) above.putAll(parents(channels, server));
        assertEquals(
            Map.of(
                "east/rack-1", "",
                "west/rack-1", "",
                "west/rack-2", "west/rack-1",
                "east/rack-2", "east/rack-1",
                "west/rack-3", "west/rack-1",
                "localhost", "east/rack-1"), // near to nobody; the server sees that it is here
            above);
      } finally {
        for (var stoa : clients.reversed()) stoa.close();
      }
    }
  }

  /* Of those that have a place, the localities of their parents by their own; the root has none. */
  private static Map<String, String> parents(Channels channels, Server server) {
    var members =
        new SingleRequests(channels.to(new Address("127.0.0.1", server.port())), 60_000)
            .status(StatusRequest.getDefaultInstance())
            .getTreeList();
    var localities = new TreeMap<String, String>();
    members.forEach(member -> localities.put(member.getNode(), member.getLocality()));
    var above = new TreeMap<String, String>();
    for (var member : members) {
      String parent = localities.get(member.getParent());
      if (parent != null) above.put(member.getLocality(), parent);
    }
    return above;
  }

  @Test
  void aFanOutThatNoTreeCanHaveIsRefused() {
    var config = ServerConfig.of("127.0.0.1", 0);
    assertEquals(5, config.treeFanOut());
    assertEquals(2, config.withTreeFanOut(2).withTreeLease(Duration.ofSeconds(3)).treeFanOut());
    for (int wrong : List.of(-1, 0, 1, 1_001)) {
      var refused =
          assertThrows(IllegalArgumentException.class, () -> config.withTreeFanOut(wrong));
      var message = String.valueOf(refused.getMessage());
      assertTrue(message.contains(" " + wrong + " ") && message.contains("2 to 1000"), message);
    }
  }

  @Test
  void whatIsFlushedAndWhatLeftIsThereAfterARestart(@TempDir Path directory) throws Exception {
    String url = "file:" + directory;
    int port;
    try (var server = serve(url, 0)) {
      port = server.port();
      try (var one = client(server, TreeMembership.leaf())) {
        purse(one, "a").add(1);
        one.flush();
        purse(one, "a").write("x".repeat(100_000));
      }
    }
    try (var _ = serve(url, port);
        var two = client(port, TreeMembership.leaf())) {
      assertEquals(101, purse(two, "a").balance());
      assertEquals(100_000, purse(two, "a").memoLength());
    }
  }

  @Test
  void aServerThatStartsAgainGoesOnFromWhatIsDurable(@TempDir Path directory) throws Exception {
    String url = "file:" + directory;
    var server = serve(url, 0);
    int port = server.port();
    try (var one = client(server, TreeMembership.leaf());
        var two = client(server, TreeMembership.inner())) {
      purse(one, "a").add(1);
      one.flush();
      server.close();
      server = serve(url, port);
      assertEquals(102, purse(two, "a").add(1));
      assertEquals(103, purse(one, "a").add(1));
      two.flush();
      one.flush();
    } finally {
      server.close();
    }
  }

  @Test
  void leavesAndInnerNodesMoveMoneyAndComeAndGo() throws Exception {
    try (var server = serve("memory:", 0);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var names = List.of("a", "b", "c", "d");
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 9; i++) {
        var random = new Random(i);
        var membership = i % 3 == 0 ? TreeMembership.leaf() : TreeMembership.inner();
        all.add(threads.submit(() -> work(server, membership, names, random)));
      }
      for (var each : all) each.get();
      try (var last = client(server, TreeMembership.leaf())) {
        assertEquals(400L, sum(last, names));
      }
    }
  }

  private static long sum(Stoa stoa, List<String> names) {
    var purses = names.stream().map(name -> purse(stoa, name)).toList();
    return stoa.<Long, RuntimeException>together(
        purses, () -> purses.stream().mapToLong(Purse::balance).sum());
  }

  private static void work(
      Server server, TreeMembership membership, List<String> names, Random random) {
    for (int life = 0; life < 3; life++) {
      try (var stoa = client(server, membership)) {
        for (int i = 0; i < 20; i++) {
          var from = purse(stoa, names.get(random.nextInt(names.size())));
          var to = purse(stoa, names.get(random.nextInt(names.size())));
          if (i % 10 == 9) {
            assertEquals(400L, sum(stoa, names));
            continue;
          }
          stoa.<Long, RuntimeException>together(
              List.of(from, to),
              () -> {
                to.add(1);
                return from.add(-1);
              });
        }
      }
    }
  }

  @Test
  void takesNoPartWhereStatesWouldNotBeEnough() throws Exception {
    try (var server = serve("memory:", 0);
        var stoa = client(server, TreeMembership.leaf())) {
      var purse = purse(stoa, "a");
      assertEquals(101, purse.add(1));
      assertThrows(UnsupportedOperationException.class, () -> stoa.transact(() -> purse.balance()));
      try (var transaction = stoa.begin(TxOptions.STANDARD)) {
        assertThrows(UnsupportedOperationException.class, () -> transaction.on(purse).add(1));
      }
    }
  }

  @Test
  void whoStaysOutsideCallsAtTheServer() throws Exception {
    try (var server = serve("memory:", 0);
        var inside = client(server, TreeMembership.leaf());
        var outside = client(server, new TreeMembership.Outside())) {
      assertEquals(101, purse(outside, "a").add(1));
      assertEquals(103, purse(inside, "a").add(2));
      assertEquals(106, purse(outside, "a").add(3));
      assertEquals(106, purse(inside, "a").balance());
      assertEquals("a", purse(outside, "a").name());
      var poor =
          assertThrows(IllegalArgumentException.class, () -> purse(outside, "a").add(-1_000));
      assertEquals("only 106", poor.getMessage());
      inside.flush();
      var history = inside.history(purse(inside, "a"));
      assertEquals(106, history.at(history.version()).balance());
    }
  }

  @Test
  void whoIsKilledLosesWhatNobodySawAndWhoWasAwayOverwritesNothing() throws Exception {
    try (var server = serve("memory:", 0);
        var here = client(server, TreeMembership.leaf());
        var killed = new PurseProcess(server.port(), "inner");
        var slow = new PurseProcess(server.port(), "leaf")) {
      assertEquals("101", killed.does("add a 1"));
      assertEquals("flushed", killed.does("flush a"));
      assertEquals("111", killed.does("add a 10"));
      assertEquals("101", slow.does("add b 1"));
      assertEquals("flushed", slow.does("flush b"));
      assertEquals("111", slow.does("add b 10"));
      killed.kill();
      slow.signal("STOP");
      assertEquals(102, purse(here, "a").add(1));
      assertEquals(102, purse(here, "b").add(1));
      here.flush();
      slow.say("add b 1000");
      slow.signal("CONT");
      assertEquals("1102", slow.answer());
      assertEquals("lost", slow.does("flush b"));
      assertEquals("flushed", slow.does("flush b"));
      assertEquals(1103, purse(here, "b").add(1));
    }
  }

  @Test
  void whoHasClosedItsStoreCallsNothingMore() throws Exception {
    try (var server = serve("memory:", 0)) {
      Purse purse;
      try (var stoa = client(server, TreeMembership.leaf())) {
        purse = purse(stoa, "a");
        assertEquals(101, purse.add(1));
      }
      assertThrows(Closed.class, () -> purse.add(1));
    }
  }
}
