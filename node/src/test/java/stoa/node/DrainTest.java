package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Shared;
import stoa.StoaConfig;
import stoa.objects.ObjectService;

/// A server that stops while calls are under way.
class DrainTest {
  private static final CountDownLatch BEGUN = new CountDownLatch(1);
  private static final CountDownLatch LEAVE = new CountDownLatch(1);
  private static final int CALLS = 40;

  /// Its first call lasts until the test says so.
  @Shared
  static class Slow {
    private long value;

    protected Slow() {}

    public long pass() throws InterruptedException {
      BEGUN.countDown();
      if (!LEAVE.await(60, TimeUnit.SECONDS)) throw new IllegalStateException("nobody let it go");
      return ++value;
    }
  }

  private static Server start(Path directory) throws IOException {
    return Server.start(
        ServerConfig.of("127.0.0.1", 0),
        ObjectService.open(StoaConfig.of("file:" + directory), _ -> true));
  }

  private static int open(RawClient client) throws InterruptedException {
    client.open();
    client.ask(RawClient.use(1, Slow.class));
    int pass = client.number(2, Slow.class, "pass()");
    client.ask(RawClient.open(3, 1, Slow.class, "s"));
    return pass;
  }

  @Test
  void everyCallUnderWayIsAnsweredAndNoneIsLost(@TempDir Path directory) throws Exception {
    Server server = start(directory);
    try (var client = new RawClient(server.port())) {
      int pass = open(client);
      for (int i = 0; i < CALLS; i++) client.send(RawClient.call(4 + i, 1, pass));
      // The server has received all requests on the stream that precede an answered one.
      client.send(RawClient.request(4 + CALLS).setUnfollow(stoa.wire.proto.Unfollow.newBuilder()));
      assertTrue(BEGUN.await(60, TimeUnit.SECONDS));
      assertEquals(4 + CALLS, client.answer().getSequence());
      var closing = Thread.ofPlatform().start(server::close);
      while (!client.frame().getDraining()) {}
      LEAVE.countDown();
      var answered = new TreeSet<Long>();
      for (int i = 0; i < CALLS; i++) {
        var answer = client.answer();
        assertTrue(answer.hasAnswered(), answer::toString);
        answered.add(answer.getSequence());
      }
      assertEquals(CALLS, answered.size());
      client.end();
      closing.join();
    } finally {
      LEAVE.countDown();
      server.close();
    }
    try (Server again = start(directory);
        var client = new RawClient(again.port())) {
      int pass = open(client);
      var answer = client.ask(RawClient.call(4, 1, pass)).getAnswered().getAnswer();
      var in = new stoa.base.Decoder(answer.toByteArray());
      assertEquals(1, in.u8());
      in.u8();
      assertEquals(CALLS + 1, in.varint() >>> 1);
    }
  }
}
