package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Random;
import org.junit.jupiter.api.Test;
import stoa.StoaConfig;
import stoa.objects.ObjectService;
import stoa.transport.Status;
import stoa.wire.proto.Call;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.Names;
import stoa.wire.proto.Request;

/// Clients that do what no client should harm only themselves.
class HostileTest {
  private static Server start(ServerConfig config) throws IOException {
    return Server.start(config, ObjectService.open(StoaConfig.of("memory:"), _ -> true));
  }

  private static final ServerConfig LOCAL = ServerConfig.of("127.0.0.1", 0);

  private static void assertServes(Server server) throws Exception {
    try (var client = new RawClient(server.port())) {
      client.open();
      client.ask(RawClient.use(1, Counter.class));
      int increment = client.number(2, Counter.class, "increment()");
      client.ask(RawClient.open(3, 1, Counter.class, "good"));
      assertTrue(client.ask(RawClient.call(4, 1, increment)).hasAnswered());
    }
  }

  @Test
  void aFrameAboveTheLimitEndsItsConnection() throws Exception {
    try (Server server = start(LOCAL)) {
      try (var client = new RawClient(server.port())) {
        client.open();
        client.send(
            Request.newBuilder()
                .setSequence(1)
                .setCall(Call.newBuilder().setCall(ByteString.copyFrom(new byte[9 << 20]))));
        assertNotEquals(Status.Code.OK, client.end().code());
      }
      assertServes(server);
    }
  }

  @Test
  void callsOfRandomBytesAreRefusedAndNotLogged() throws Exception {
    try (Server server = start(LOCAL)) {
      try (var client = new RawClient(server.port())) {
        client.open();
        client.ask(RawClient.use(1, Counter.class));
        client.ask(RawClient.open(2, 1, Counter.class, "victim"));
        var random = new Random(5);
        for (int sequence = 3; sequence < 200; sequence++) {
          byte[] bytes = new byte[random.nextInt(40)];
          random.nextBytes(bytes);
          var call = Call.newBuilder().setContainer(1).setCall(ByteString.copyFrom(bytes));
          assertTrue(client.ask(RawClient.request(sequence).setCall(call)).hasFailure());
        }
        assertEquals(0, client.ask(RawClient.find(200, 1)).getDone().getNumber());
      }
      assertServes(server);
    }
  }

  @Test
  void namesThatTheServerWouldNotNumberAreRefused() throws Exception {
    try (Server server = start(LOCAL);
        var client = new RawClient(server.port())) {
      client.open();
      client.ask(RawClient.use(1, Counter.class));
      for (String name : new String[] {"anything", "method " + Counter.class.getName() + "#no()"}) {
        var names = Names.newBuilder().addNumber(name);
        var request = RawClient.request(name.length() + 10).setNames(names);
        assertEquals("NotShareable", client.ask(request).getFailure().getKind());
      }
    }
  }

  @Test
  void aClientThatAcknowledgesNothingIsCutOff() throws Exception {
    try (Server server = start(LOCAL.withRequestsMax(16))) {
      try (var client = new RawClient(server.port())) {
        client.open();
        for (int sequence = 1; sequence <= 200; sequence++) {
          client.send(RawClient.find(sequence, 1));
        }
        assertEquals(Status.Code.INVALID_ARGUMENT, client.end().code());
      }
      assertServes(server);
    }
  }

  @Test
  void whatCameBeforeNonsenseIsDoneAndLeavesNothingUnderWay() throws Exception {
    try (Server server = start(LOCAL)) {
      try (var client = new RawClient(server.port())) {
        var hello = client.open();
        client.ask(RawClient.use(1, Counter.class));
        int increment = client.number(2, Counter.class, "increment()");
        client.ask(RawClient.open(3, 1, Counter.class, "c"));
        var call = RawClient.call(4, 1, increment);
        client.send(call, RawClient.find(4, 1));
        assertEquals(Status.Code.INVALID_ARGUMENT, client.end().code());
        try (var again = new RawClient(server.port())) {
          again.resume(hello.getSession(), hello.getSecret());
          assertTrue(again.ask(call).hasAnswered());
        }
      }
      assertServes(server);
    }
  }

  @Test
  void manyIdleSessionsHarmNobodyAndHaveALimit() throws Exception {
    try (Server server = start(LOCAL.withSessionsMax(100))) {
      var idle = new ArrayList<RawClient>();
      try {
        for (int i = 0; i < 49; i++) {
          var client = new RawClient(server.port());
          idle.add(client);
          client.open();
        }
        assertServes(server);
        try (var client = new RawClient(server.port())) {
          client.send(ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY)));
          Status end = client.end();
          assertEquals(Status.Code.RESOURCE_EXHAUSTED, end.code());
          String words = String.valueOf(end.description());
          assertTrue(words.contains("clients at 127.0.0.1 have 50 sessions"), words);
          assertTrue(words.contains("sessionsOfAddressMax"), words);
        }
        // Others have the other half.
        try (var relay = new Relay("127.0.0.2", server.port());
            var client = new RawClient(relay.port())) {
          client.open();
        }
      } finally {
        idle.forEach(RawClient::close);
      }
    }
  }

  @Test
  void nobodyIsServedWithoutTheToken() throws Exception {
    try (Server server = start(LOCAL.withToken("secret"))) {
      try (var client = new RawClient(server.port())) {
        client.send(ClientFrame.newBuilder().setHello(RawClient.hello(0, ByteString.EMPTY)));
        assertEquals(Status.Code.UNAUTHENTICATED, client.end().code());
      }
    }
  }
}
