package stoa.node;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import stoa.Shared;
import stoa.StoaConfig;
import stoa.objects.ObjectService;
import stoa.spi.Cancellation;
import stoa.wire.proto.ClientFrame;

/// The tasks that the threads that read connections run, and those that they leave to others.
class ReadersTest {
  private static final List<String> THREADS = new CopyOnWriteArrayList<>();
  private static final AtomicBoolean RELEASED = new AtomicBoolean();

  /// Notes the thread; unseen by the check of what methods do.
  private static final class Noting implements Runnable {
    @Override
    public void run() {
      THREADS.add(Thread.currentThread().getName());
    }
  }

  private static final Runnable NOTE = new Noting();

  /// Brief, until it is told otherwise.
  @Shared
  static class Moody {
    private boolean endless;
    private long calls;

    protected Moody() {}

    public void change() {
      endless = true;
    }

    public long run() {
      NOTE.run();
      while (endless && !RELEASED.get()) Cancellation.check();
      return ++calls;
    }
  }

  private static final CountDownLatch KEYS = new CountDownLatch(1);

  /// A key whose constructor waits when it comes from a client.
  record Slow(String name) {
    Slow {
      if (Thread.currentThread().getName().startsWith("stoa-")) {
        try {
          KEYS.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  @Test
  void noReaderMakesKeysOfUsersClasses() throws Exception {
    var key = new Slow("k");
    int readers = Math.max(2, Runtime.getRuntime().availableProcessors());
    var slow = new ArrayList<RawClient>();
    try (Server server = server()) {
      try {
        for (int i = 0; i < 2 * readers; i++) {
          var client = new RawClient(server.port());
          slow.add(client);
          client.open();
          client.ask(RawClient.use(1, Counter.class));
        }
        for (RawClient client : slow) client.send(RawClient.open(2, 1, Counter.class, key));
        for (int i = 0; i < 2 * readers; i++) {
          try (var client = new RawClient(server.port())) {
            client.open();
            assertTrue(client.ask(RawClient.open(1, 1, Counter.class, "c")).hasDone());
          }
        }
        KEYS.countDown();
        for (RawClient client : slow) assertTrue(client.answer().hasDone());
      } finally {
        KEYS.countDown();
        slow.forEach(RawClient::close);
      }
    }
  }

  private static Server server() throws Exception {
    var service = ObjectService.open(StoaConfig.of("memory:"), _ -> true);
    return Server.start(ServerConfig.of("127.0.0.1", 0), service);
  }

  /// Calls until a reader runs the method itself; answers the next sequence.
  private static int prove(RawClient client, int from, int run) throws Exception {
    int sequence = from;
    do {
      client.send(ClientFrame.newBuilder().setAcknowledged(sequence - 1));
      assertTrue(client.ask(RawClient.call(sequence++, 1, run)).hasAnswered());
    } while (!THREADS.getLast().startsWith("stoa-reader"));
    return sequence;
  }

  @Test
  void aMethodThatWasBriefAndDoesNotEndLeavesTheReaderToOthers() throws Exception {
    THREADS.clear();
    RELEASED.set(false);
    try (Server server = server();
        var client = new RawClient(server.port())) {
      client.open();
      var used = client.ask(RawClient.use(1, Moody.class));
      assertTrue(used.hasDone(), used::toString);
      int run = client.number(2, Moody.class, "run()");
      int change = client.number(3, Moody.class, "change()");
      client.ask(RawClient.open(4, 1, Moody.class, "m"));
      RELEASED.set(true);
      int next = 5;
      client.ask(RawClient.call(next++, 1, change));

      int before;
      while (true) {
        next = prove(client, next, run);
        before = THREADS.size();
        RELEASED.set(false);
        client.send(RawClient.call(next++, 1, run));
        while (THREADS.size() == before) Thread.onSpinWait();
        if (THREADS.get(before).startsWith("stoa-reader")) break;
        // Somebody else led just then: once more.
        RELEASED.set(true);
        assertTrue(client.answer().hasAnswered());
      }
      while (THREADS.size() < before + 2) Thread.onSpinWait();
      assertTrue(THREADS.get(before + 1).startsWith("stoa-worker"), THREADS::toString);

      // The same connection is served.
      client.ask(RawClient.use(next++, Counter.class));
      int increment = client.number(next++, Counter.class, "increment()");
      client.ask(RawClient.open(next++, 2, Counter.class, "c"));
      for (int i = 0; i < 100; i++) {
        assertTrue(client.ask(RawClient.call(next++, 2, increment)).hasAnswered());
      }
      RELEASED.set(true);
      assertTrue(client.answer().hasAnswered());
    } finally {
      RELEASED.set(true);
    }
  }
}
