package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Blob;
import stoa.KeyEvent;
import stoa.KeyHandler;
import stoa.KeyListener;
import stoa.Order;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.node.ServerConfig;
import stoa.wire.proto.DrainRequest;
import stoa.wire.proto.JoinRequest;
import stoa.wire.proto.MemberStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.StoreGrpc;
import stoa.wire.proto.WhereRequest;

/// Servers in this process, which talk over the loopback device.
class ClusterServerTest {
  @Shared(name = "cluster.Counter")
  static class Counter {
    private long value;

    long increment() {
      return ++value;
    }

    @Accessor
    long value() {
      return value;
    }
  }

  /// Its objects are spread over all groups.
  @Shared(name = "cluster.Tally", order = Order.STREAM)
  static class Tally {
    private long value;

    long increment() {
      return ++value;
    }

    @Accessor
    long value() {
      return value;
    }
  }

  @TempDir private Path directory;
  private final List<ClusterServer> servers = new ArrayList<>();

  /// Where clients found the servers first: the others have noted it.
  private final Map<String, Integer> ports = new HashMap<>();

  private int groups = 1;
  private int replicas = 3;
  private boolean spread;

  /// Starts servers, and waits until all is where it should be.
  private void start(String... names) throws IOException {
    for (String name : names) {
      ClusterServer contact = servers.isEmpty() ? null : servers.getFirst();
      servers.add(start(directory.resolve(name), name, ports.getOrDefault(name, 0), contact));
      ports.put(name, servers.getLast().port());
    }
    settle();
  }

  /// Waits until all groups have their members and leaders, and nothing moves.
  private void settle() {
    while (!isSettled()) Thread.onSpinWait();
  }

  private boolean isSettled() {
    var status = status(servers.getLast());
    int count = status.getServersCount();
    if (count != servers.size()) return false;
    var members = new int[groups];
    var leads = new int[groups];
    for (var server : status.getServersList()) {
      int leadsHere = 0;
      for (var member : server.getGroupsList()) {
        if (!member.getMove().isEmpty() || member.getBehind() > 100) return false;
        members[member.getGroup()]++;
        if (!member.getLeads()) continue;
        leads[member.getGroup()]++;
        leadsHere++;
      }
      if (!server.getState().isEmpty() || leadsHere > (groups + count - 1) / count) return false;
    }
    for (int group = 0; group < groups; group++) {
      if (members[group] != Math.min(Math.max(3, replicas), count) || leads[group] != 1)
        return false;
    }
    return true;
  }

  private static StatusReply status(ClusterServer server) {
    return ask(server.port(), to -> to.status(StatusRequest.getDefaultInstance()));
  }

  private ClusterServer start(
      Path directory, @Nullable String name, int port, @Nullable ClusterServer contact)
      throws IOException {
    return ClusterServer.start(
        new ClusterServer.Options(
            directory,
            ServerConfig.of("127.0.0.1", port),
            name,
            "127.0.0.1",
            0,
            null,
            groups,
            replicas,
            spread,
            contact == null ? null : "127.0.0.1:" + contact.port(),
            contact(contact),
            StoaConfig.of("file:" + directory),
            ClusterServerTest.class.getClassLoader(),
            _ -> true));
  }

  private static Contact contact(@Nullable ClusterServer joined) {
    return new Contact() {
      @Override
      public void join(String name, String member) {
        var request = JoinRequest.newBuilder().setServer(name).setMember(member).build();
        String refusal =
            ask(leader(Objects.requireNonNull(joined)), to -> to.join(request)).getRefusal();
        if (!refusal.isEmpty()) throw new Unavailable(refusal);
      }

      @Override
      public void report(String address, int group, byte[] evidence) {
        throw new AssertionError("a counter is deterministic");
      }
    };
  }

  @AfterEach
  void close() {
    servers.forEach(ClusterServer::close);
    servers.clear();
  }

  private static <T> T ask(int port, Function<StoreGrpc.StoreBlockingStub, T> question) {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    try {
      return question.apply(
          StoreGrpc.newBlockingStub(channel).withDeadlineAfter(60, TimeUnit.SECONDS));
    } finally {
      channel.shutdownNow();
    }
  }

  /// The port of the server that has the store, which one of them tells as soon as it knows.
  private static int leader(ClusterServer asked) {
    String leader =
        ask(asked.port(), to -> to.where(WhereRequest.getDefaultInstance())).getLeader();
    return Integer.parseInt(leader.substring(leader.lastIndexOf(':') + 1));
  }

  private static Stoa open(ClusterServer server) {
    return Stoa.open("stoa://127.0.0.1:" + server.port());
  }

  @Test
  void aStoreOfManyGroupsWithOneOrderHasItsServersInTheFirst() throws IOException {
    groups = 4;
    spread = true;
    start("a");
    try (Stoa stoa = open(servers.getFirst())) {
      for (int i = 0; i < 8; i++) assertEquals(1, stoa.get(Counter.class, "c" + i).increment());
      long sum = 0;
      for (int i = 0; i < 8; i++) sum += stoa.get(Counter.class, "c" + i).value();
      assertEquals(8, sum);
    }
  }

  @Test
  void aServerWithoutANameIsCalledByThePortThatItWasGiven() throws IOException {
    servers.add(start(directory.resolve("some"), null, 0, null));
    assertEquals("s" + servers.getFirst().port(), servers.getFirst().name());
  }

  @Test
  void theOneServerThatIsLeftGoesOnAloneAndOthersJoinIt() throws Exception {
    start("a", "b", "c");
    try (Stoa stoa = open(servers.get(1))) {
      Counter counter = stoa.get(Counter.class, "hot");
      for (int i = 1; i <= 20; i++) assertEquals(i, counter.increment());
    }
    Path left = directory.resolve("c");
    assertThrows(StoaException.class, () -> ClusterServer.goOnAlone(left), "it runs");
    close();
    assertEquals("c", ClusterServer.goOnAlone(left));
    assertEquals("c", ClusterServer.goOnAlone(left));
    start("c", "d");
    try (Stoa stoa = open(servers.getLast())) {
      assertEquals(21, stoa.get(Counter.class, "hot").increment());
    }
    assertThrows(
        IllegalArgumentException.class, () -> ClusterServer.goOnAlone(directory.resolve("none")));
  }

  @Test
  void callsGoOnWhenTheServerThatHasTheStoreStops() throws Exception {
    start("a", "b", "c");
    try (Stoa stoa = open(servers.get(1))) {
      Counter counter = stoa.get(Counter.class, "hot");
      assertEquals(1, counter.increment());
      int leading = leader(servers.get(1));
      try (var callers = Executors.newVirtualThreadPerTaskExecutor()) {
        var calls = new ArrayList<Future<Long>>();
        for (int i = 0; i < 200; i++) calls.add(callers.submit(counter::increment));
        for (ClusterServer server : List.copyOf(servers)) {
          if (server.port() != leading) continue;
          servers.remove(server);
          server.close();
        }
        for (int i = 0; i < 200; i++) calls.add(callers.submit(counter::increment));
        var answers = new TreeSet<Long>();
        for (var call : calls) answers.add(call.get());
        assertEquals(400, answers.size());
        assertEquals(401, answers.last());
      }
      assertEquals(401, counter.value());
      assertNotEquals(leading, leader(servers.getFirst()));
    }
  }

  /// Tells of every put.
  record Every() implements KeyHandler<String, String> {
    @Override
    public @Nullable String handle(Object key, @Nullable String value, @Nullable String before) {
      return value;
    }
  }

  @Test
  void aListenerDoesNotEndWithTheStoreOfAServerThatLosesIt() throws Exception {
    start("a", "b", "c");
    var heard = new LinkedBlockingQueue<String>();
    var listener =
        new KeyListener<String>() {
          @Override
          public void on(KeyEvent<String> event) {
            heard.add(event.value());
          }

          @Override
          public void ended(StoaException cause) {
            heard.add("ended: " + cause);
          }
        };
    try (Stoa stoa = open(servers.get(1));
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      var _ = stoa.store().register("key", listener, new Every());
      var puts = new ArrayList<Future<?>>();
      for (int i = 0; i < 200; i++) {
        String value = "value " + i;
        puts.add(callers.submit(() -> stoa.store().put("key", value)));
      }
      int leading = leader(servers.get(1));
      for (ClusterServer server : List.copyOf(servers)) {
        if (server.port() != leading) continue;
        servers.remove(server);
        server.close();
      }
      for (var put : puts) put.get();
      stoa.store().put("key", "last");
      var told = new TreeSet<String>();
      for (String event = heard.take(); !event.equals("last"); event = heard.take()) {
        assertTrue(event.startsWith("value"), event);
        told.add(event);
      }
      assertEquals(200, told.size());
    }
  }

  @Test
  void aServerThatIsDrainedIsOutAndTheOthersGoOn() throws Exception {
    start("a", "b", "c");
    try (Stoa stoa = open(servers.getFirst())) {
      Counter counter = stoa.get(Counter.class, "drained");
      assertEquals(1, counter.increment());
      for (String name : List.of("a", "b")) {
        ClusterServer gone = servers.removeFirst();
        assertEquals(name, gone.name());
        var request = DrainRequest.newBuilder().setServer(name).build();
        assertEquals("", ask(leader(servers.getLast()), to -> to.drain(request)).getRefusal());
        gone.close();
        counter.increment();
      }
      assertEquals(3, counter.value());
      var last = DrainRequest.newBuilder().setServer("c").build();
      String refusal = ask(leader(servers.getLast()), to -> to.drain(last)).getRefusal();
      assertTrue(refusal.contains("last one"), refusal);
      var status = status(servers.getLast());
      assertEquals("leads", status.getRole());
      assertEquals(1, status.getServersCount());
    }
  }

  @Test
  void groupsAreSpreadAndServersComeAndGoWhileClientsWork() throws Exception {
    groups = 4;
    start("a", "b", "c");
    var ends = new ArrayList<Future<Long>>();
    try (Stoa stoa = open(servers.getLast());
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      var enough = new AtomicBoolean();
      for (int i = 0; i < 8; i++) {
        Tally tally = stoa.get(Tally.class, "t" + i);
        ends.add(
            callers.submit(() -> {
              long made = 0;
              while (!enough.get()) {
                made++;
                if (tally.increment() != made) throw new AssertionError("not exactly once");
              }
              return made;
            }));
      }
      start("d", "e");
      // One of them is asked for the drain, and leads group 0 maybe.
      for (String name : List.of("a", "b")) {
        ClusterServer gone = servers.removeFirst();
        assertEquals(name, gone.name());
        var request = DrainRequest.newBuilder().setServer(name).build();
        assertEquals("", ask(leader(gone), to -> to.drain(request)).getRefusal());
        assertNull(gone.awaitClosed());
        settle();
      }
      enough.set(true);
      for (int i = 0; i < 8; i++) {
        assertEquals(ends.get(i).get(), stoa.get(Tally.class, "t" + i).value());
      }
    }
  }

  @Test
  void fewerReplicasThanServersGoOnFromLogUnitsAndAreStartedAgain() throws Exception {
    groups = 2;
    for (int count : List.of(2, 1)) {
      replicas = count;
      var names = List.of("a" + count, "b" + count, "c" + count);
      start(names.toArray(String[]::new));
      try (Stoa stoa = open(servers.getFirst())) {
        for (int i = 0; i < 20; i++) assertEquals(1, stoa.get(Tally.class, "t" + i).increment());
        assertEquals(groups * (3L - count), logUnits());
        servers.removeFirst().close();
        for (int i = 0; i < 20; i++) assertEquals(2, stoa.get(Tally.class, "t" + i).increment());
      }
      close();
      if (count == 2) continue;
      start(names.reversed().toArray(String[]::new));
      try (Stoa stoa = open(servers.getFirst())) {
        for (int i = 0; i < 20; i++) assertEquals(3, stoa.get(Tally.class, "t" + i).increment());
      }
    }
  }

  private long logUnits() {
    return status(servers.getLast()).getServersList().stream()
        .flatMap(server -> server.getGroupsList().stream())
        .filter(MemberStatus::getLogUnit)
        .count();
  }

  @Test
  void allAreStartedAgainAndHaveWhatWasThere() throws Exception {
    start("a", "b", "c");
    try (Stoa stoa = open(servers.getFirst())) {
      assertEquals(1, stoa.get(Counter.class, "kept").increment());
      assertThrows(UnsupportedOperationException.class, () -> stoa.get(Blob.class, "b").size());
    }
    close();
    start("b", "c", "a");
    try (Stoa stoa = open(servers.getFirst())) {
      assertEquals(2, stoa.get(Counter.class, "kept").increment());
    }
  }
}
