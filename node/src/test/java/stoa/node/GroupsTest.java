package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.ConnectionSecurity;
import stoa.LogOrder;
import stoa.Ref;
import stoa.Shared;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.base.Key;
import stoa.base.Secret;
import stoa.front.types.Keys;
import stoa.log.LocalBatchLog;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.Part;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.threads.Threads;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.wire.Channels;
import stoa.wire.SlotMap;
import stoa.wire.proto.Answer;
import stoa.wire.proto.CancelRequest;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.ServerFrame;
import stoa.wire.proto.ServerHello;
import stoa.wire.proto.ServerStatus;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.WhereRequest;

/// A server that has several groups' parts of a store.
class GroupsTest {
  private static final int GROUPS = 2;
  private static final SlotMap MAP = SlotMap.of(GROUPS);

  @Shared(order = LogOrder.STREAM)
  static class Tally {
    private long value;

    public long increment() {
      return ++value;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  /// Another server leads what this one does not.
  private static final class Others implements Peers {
    private volatile List<String> servers = List.of("127.0.0.1:1", "127.0.0.1:2");

    @Override
    public List<String> alarms() {
      return List.of();
    }

    @Override
    public @Nullable Secret secret() {
      return null;
    }

    @Override
    public int replicas() {
      return 3;
    }

    @Override
    public int groups() {
      return GROUPS;
    }

    @Override
    public List<String> servers() {
      return servers;
    }

    @Override
    public CompletableFuture<String> leader(int group) {
      return CompletableFuture.completedFuture("127.0.0.1:" + (group + 1));
    }

    @Override
    public Duration age() {
      return Duration.ZERO;
    }

    @Override
    public List<ServerStatus> status() {
      return List.of();
    }

    @Override
    public void join(String server, String member) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void drain(String server) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void setReplicas(int number) {
      throw new UnsupportedOperationException();
    }
  }

  private final Others others = new Others();
  private final Server server;

  GroupsTest() throws IOException {
    server = start(ServerConfig.of("127.0.0.1", 0));
  }

  private Server start(ServerConfig config) throws IOException {
    Server made = Server.start(config, others);
    for (int group = 0; group < GROUPS; group++) made.lead(group, part(group));
    return made;
  }

  private static ObjectService part(int group) {
    Device device = Device.open(new MemoryDisk(64 << 20), DeviceConfig.standard());
    var stoa =
        EmbeddedEngine.openReplicated(
            StoaConfig.of("memory:"),
            device,
            () -> new LocalBatchLog(device),
            Clock.system(),
            Threads.real(),
            new Part(group, MAP::group));
    return ObjectService.of(stoa, _ -> true);
  }

  @AfterEach
  void close() {
    server.close();
  }

  /// The first of the names whose tally a group has.
  private static String name(int group) {
    for (int i = 0; ; i++) {
      var name = "tally " + i;
      String type = Tally.class.getName();
      var key = new Key(type, Keys.encode(name), new Ref<>(type, name));
      if (MAP.group(key.stream()) == group) return name;
    }
  }

  private static ServerHello open(RawClient client, int group) throws InterruptedException {
    client.send(
        ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY).setGroup(group)));
    return client.frame().getHello();
  }

  private static Answer increment(RawClient client, String name) throws InterruptedException {
    client.ask(RawClient.use(1, Tally.class));
    client.ask(RawClient.open(2, 1, Tally.class, name));
    int method = client.number(3, Tally.class, "increment()");
    return client.ask(RawClient.call(4, 1, method));
  }

  @Test
  void whoStaysConnectedIsToldOfServersThatComeAndGo() throws Exception {
    try (var client = new RawClient(server.port())) {
      assertEquals(others.servers, open(client, 0).getServersList());
      others.servers = List.of("127.0.0.1:2", "127.0.0.1:3");
      assertEquals(others.servers, client.frame().getServersList());
      assertTrue(increment(client, name(0)).hasAnswered());
      others.servers = List.of("127.0.0.1:3");
      ServerFrame told = client.frame();
      while (told.getServersCount() == 0) told = client.frame();
      assertEquals(others.servers, told.getServersList());
    }
  }

  @Test
  void aConversationIsAboutTheGroupThatItsHelloNames() throws Exception {
    try (var zero = new RawClient(server.port());
        var one = new RawClient(server.port())) {
      assertEquals(GROUPS, open(zero, 0).getGroups());
      assertEquals(GROUPS, open(one, 1).getGroups());
      assertTrue(increment(zero, name(0)).hasAnswered());
      assertTrue(increment(one, name(1)).hasAnswered());
    }
  }

  @Test
  void whatIsAskedOfTheWrongGroupIsRefused() throws Exception {
    try (var client = new RawClient(server.port())) {
      open(client, 1);
      client.ask(RawClient.use(1, Tally.class));
      Answer refused = client.ask(RawClient.open(2, 1, Tally.class, name(0)));
      assertEquals("IllegalArgumentException", refused.getFailure().getKind());
      String message = refused.getFailure().getMessage();
      assertTrue(message.contains("group 0") && message.contains("group 1"), message);
    }
  }

  @Test
  void clientsOfAGroupThatIsLedElsewhereAreToldWhereAndTheOthersStay() throws Exception {
    try (var zero = new RawClient(server.port());
        var one = new RawClient(server.port());
        var silent = new RawClient(server.port())) {
      open(zero, 0);
      open(one, 1);
      server.follow(1);
      assertEquals(Status.Code.UNAVAILABLE, one.end().code());
      silent.send(
          ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY).setGroup(1)));
      ServerFrame told = silent.frame();
      assertEquals("127.0.0.1:2", told.getElsewhere().getLeader());
      assertEquals(2, told.getElsewhere().getServersCount());
      assertEquals(GROUPS, told.getElsewhere().getGroups());
      assertEquals(Status.Code.OK, silent.end().code());
      assertTrue(increment(zero, name(0)).hasAnswered());
      server.lead(1, part(1));
      try (var again = new RawClient(server.port())) {
        open(again, 1);
        assertTrue(increment(again, name(1)).hasAnswered());
      }
    }
  }

  @Test
  void sessionsOfAllGroupsCountTogether() throws Exception {
    try (Server limited = start(ServerConfig.of("127.0.0.1", 0).withSessionsMax(1));
        var zero = new RawClient(limited.port());
        var one = new RawClient(limited.port())) {
      open(zero, 0);
      one.send(ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY).setGroup(1)));
      assertEquals(Status.Code.RESOURCE_EXHAUSTED, one.end().code());
    }
  }

  @Test
  void aGroupThatThereIsNotIsRefused() throws Exception {
    try (var channels = new Channels(ConnectionSecurity.none());
        var client = new RawClient(RawClient.channel(channels, server.port()))) {
      client.send(
          ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY).setGroup(2)));
      Status end = client.end();
      assertEquals(Status.Code.FAILED_PRECONDITION, end.code());
      assertTrue(String.valueOf(end.description()).contains("2 keep the store"), end::toString);
      var operator = RawClient.questions(channels, server.port());
      var where = WhereRequest.newBuilder().setGroup(7).build();
      var refused = assertThrows(StatusException.class, () -> operator.where(where));
      assertEquals(Status.Code.FAILED_PRECONDITION, refused.status().code());
    }
  }

  @Test
  void anOperatorAsksForAGroup() throws Exception {
    try (var channels = new Channels(ConnectionSecurity.none());
        var client = new RawClient(RawClient.channel(channels, server.port()))) {
      open(client, 1);
      server.follow(0);
      var operator = RawClient.questions(channels, server.port());
      var one = operator.status(StatusRequest.newBuilder().setGroup(1).build());
      assertEquals("leads", one.getRole());
      assertEquals(1, one.getSessionsCount());
      assertEquals(GROUPS, one.getGroups());
      var zero = operator.status(StatusRequest.getDefaultInstance());
      assertEquals("follows", zero.getRole());
      assertEquals(0, zero.getSessionsCount());
      assertEquals(
          "127.0.0.1:2", operator.where(WhereRequest.newBuilder().setGroup(1).build()).getLeader());
      var cancel = CancelRequest.newBuilder().setId("1").setGroup(1).build();
      assertFalse(operator.cancel(cancel).getCancelled());
    }
  }

  @Test
  void aServerThatStopsTellsTheClientsOfAllGroups() throws Exception {
    try (Server stopping =
            start(ServerConfig.of("127.0.0.1", 0).withHello(Duration.ofMinutes(1), 10));
        var zero = new RawClient(stopping.port());
        var one = new RawClient(stopping.port())) {
      open(zero, 0);
      open(one, 1);
      Thread closing = Thread.ofVirtual().start(stopping::close);
      assertTrue(zero.frame().getDraining());
      assertTrue(one.frame().getDraining());
      closing.join();
    }
  }
}
