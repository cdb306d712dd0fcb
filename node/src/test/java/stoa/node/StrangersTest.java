package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import stoa.ConnectionSecurity;
import stoa.StoaConfig;
import stoa.objects.ObjectService;
import stoa.transport.Channel;
import stoa.transport.Status;
import stoa.wire.Channels;

/// Connections that say no hello have a time, and others have room.
class StrangersTest {
  private static Server start(Duration timeMax, int connectionsMax) throws Exception {
    return Server.start(
        ServerConfig.of("127.0.0.1", 0).withHello(timeMax, connectionsMax),
        ObjectService.open(StoaConfig.of("memory:"), _ -> true));
  }

  private static void assertServes(Server server) throws Exception {
    try (var client = new RawClient(server.port())) {
      client.open();
      assertTrue(client.ask(RawClient.use(1, Counter.class)).hasDone());
    }
  }

  @Test
  void oneThatSaysNothingIsEndedAfterAWhile() throws Exception {
    try (Server server = start(Duration.ofMillis(300), 10);
        var silent = new RawClient(server.port())) {
      Status end = silent.end();
      assertEquals(Status.Code.UNAVAILABLE, end.code());
      assertTrue(String.valueOf(end.description()).contains("helloTimeMax"), end::toString);
      assertServes(server);
    }
  }

  @Test
  void oneThatDoesNotEvenBeginIsClosed() throws Exception {
    try (Server server = start(Duration.ofSeconds(3), 10);
        var socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
      socket.setSoTimeout(60_000);
      while (socket.getInputStream().read() >= 0) {}
      assertServes(server);
    }
  }

  @Test
  void connectionsThatDoNotEvenBeginLeaveRoomForOthers() throws Exception {
    int most = 10;
    var silent = new ArrayList<Socket>();
    try (Server server = start(Duration.ofMinutes(10), most)) {
      try {
        for (int i = 0; i < 3 * most; i++) {
          silent.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
        }
        // The oldest are closed, though their time is not over.
        for (Socket socket : silent.subList(0, 2 * most)) {
          socket.setSoTimeout(60_000);
          while (socket.getInputStream().read() >= 0) {}
        }
        assertServes(server);
      } finally {
        for (Socket socket : silent) socket.close();
      }
    }
  }

  @Test
  void aThousandThatSayNothingLeaveRoomForOneThatDoes() throws Exception {
    int most = 100;
    var silent = new ArrayList<RawClient>();
    try (Server server = start(Duration.ofMinutes(10), most);
        var channels = new Channels(ConnectionSecurity.none())) {
      try {
        for (int i = 0; i < 100; i++) {
          Channel channel = RawClient.channel(channels, server.port());
          for (int j = 0; j < 10; j++) silent.add(new RawClient(channel));
        }
        while (silent.stream().filter(RawClient::hasEnded).count() < silent.size() - most) {
          Thread.onSpinWait();
        }
        assertServes(server);
        for (RawClient one : silent) {
          if (!one.hasEnded()) continue;
          Status end = one.end();
          assertEquals(Status.Code.RESOURCE_EXHAUSTED, end.code());
          assertTrue(
              String.valueOf(end.description()).contains("helloConnectionsMax"), end::toString);
        }
      } finally {
        silent.forEach(RawClient::close);
      }
    }
  }
}
