package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import stoa.Aborted;
import stoa.Accessor;
import stoa.Closed;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.View;
import stoa.node.Server;

/// Several clients of one server.
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RemoteStoaTest {
  @Shared(name = "remote.Counter")
  static class Counter {
    private long value;

    public long add(long more) {
      value += more;
      return value;
    }

    @Accessor
    public long value() {
      return value;
    }

    public void fail(String reason) throws IOException {
      value = -1;
      throw new IOException(reason);
    }
  }

  /// Notes the thread; unseen by the check of what methods do. The fields are here, and not in the
  /// test: a server reads the files of all classes that a shared class reaches, and would read
  /// those of all tests here.
  private static final class Noting implements Runnable {
    private static final List<String> THREADS = new CopyOnWriteArrayList<>();
    private static final Runnable NOTE = new Noting();

    @Override
    public void run() {
      THREADS.add(Thread.currentThread().getName());
    }
  }

  /// Brief, until it asks another object.
  @Shared(name = "remote.Asking")
  static class Asking {
    private long calls;

    public long run(Counter other, boolean asks) {
      Noting.NOTE.run();
      return ++calls + (asks ? other.add(100) : 0);
    }
  }

  private final Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
  private final Stoa one = Stoa.open("stoa://127.0.0.1:" + server.port());
  private final Stoa two = Stoa.open("stoa://127.0.0.1:" + server.port());

  @BeforeAll
  void connects() {
    assertEquals(0, one.get(Counter.class, "none").value());
  }

  @AfterAll
  void closes() {
    one.close();
    two.close();
    server.close();
  }

  @Test
  void opensAtAServerThatAnswersLaterThanACallMayTake() {
    var hasty = Limits.standard().withCallTimeMax(Duration.ofMillis(1));
    String url = "stoa://127.0.0.1:" + server.port();
    try (Stoa stoa = Stoa.open(StoaConfig.of(url).withLimits(hasty))) {
      assertNotNull(stoa);
    }
  }

  @Test
  void clientsShareObjects() {
    assertEquals(2, one.get(Counter.class, "shared").add(2));
    assertEquals(5, two.get(Counter.class, "shared").add(3));
    assertEquals(5, one.get(Counter.class, "shared").value());
  }

  /* On a busy machine, a reader may hand the first call on before it is executed. It also hands
  on what takes long to decode, so the calls before name the other object too. */
  @Test
  void aMethodThatWasBriefAndAsksAnotherObjectIsRunOnceByAWorker() {
    boolean begunByAReader = false;
    for (int i = 0; i < 50 && !begunByAReader; i++) {
      try (var fresh = ServedEngine.serve(StoaConfig.of("memory:"), 0);
          var store = Stoa.open("stoa://127.0.0.1:" + fresh.port())) {
        List<String> threads = threadsOfWhatAsksAnotherObject(store);
        begunByAReader = threads.getFirst().startsWith("stoa-reader");
        assertTrue(threads.size() > (begunByAReader ? 3 : 2), threads::toString);
        for (String later : threads.subList(1, threads.size())) {
          assertTrue(later.startsWith("stoa-worker"), threads::toString);
        }
      }
    }
    assertTrue(begunByAReader);
  }

  private static List<String> threadsOfWhatAsksAnotherObject(Stoa store) {
    Asking asking = store.get(Asking.class, "asking");
    Counter asked = store.get(Counter.class, "asked");
    long calls = 0;
    do {
      assertEquals(++calls, asking.run(asked, false));
    } while (!Noting.THREADS.getLast().startsWith("stoa-reader"));
    int before = Noting.THREADS.size();
    assertEquals(++calls + 100, asking.run(asked, true));
    assertEquals(++calls + 200, asking.run(asked, true));
    assertEquals(++calls, asking.run(asked, false));
    assertEquals(200, asked.value());
    return List.copyOf(Noting.THREADS.subList(before, Noting.THREADS.size()));
  }

  @Test
  void checkedExceptionsReachTheCallerAsTheyAre() {
    Counter counter = one.get(Counter.class, "failing");
    var thrown = assertThrows(IOException.class, () -> counter.fail("why"));
    assertEquals("why", thrown.getMessage());
    assertEquals(-1, two.get(Counter.class, "failing").value());
  }

  @Test
  void aTransactionThatLosesSaysToWhom() {
    Counter mine = one.get(Counter.class, "contended");
    mine.add(1);
    try (Transaction transaction = one.begin(TxOptions.STANDARD)) {
      transaction.on(mine).add(1);
      two.get(Counter.class, "contended").add(10);
      var outcome = assertInstanceOf(Transaction.Outcome.Aborted.class, transaction.commit());
      Aborted cause = outcome.cause();
      assertEquals(one.ref(mine), cause.object());
      assertTrue(cause.changedAt().compareTo(cause.readAt()) > 0);
    }
    assertEquals(11, mine.value());
  }

  @Test
  void aLocalViewSeesWhatAnotherClientWasAnswered() {
    Counter counter = one.get(Counter.class, "local");
    Counter local = one.view(Counter.class, one.ref(counter), new View.Local());
    for (int i = 1; i <= 50; i++) {
      assertEquals(i, two.get(Counter.class, "local").add(1));
      assertEquals(i, local.value());
    }
  }

  @Test
  void cachedViewsAreNeverBehindWhatTheirClientHasSeen() {
    Counter a = one.get(Counter.class, "cached a");
    Counter b = one.get(Counter.class, "cached b");
    Counter cached = one.view(Counter.class, one.ref(a), new View.Cached());
    for (int i = 1; i <= 50; i++) {
      two.get(Counter.class, "cached a").add(1);
      two.get(Counter.class, "cached b").add(1);
      // A client that has seen the second change has seen the first.
      assertEquals(i, b.value());
      assertEquals(i, cached.value());
      assertEquals(i, cached.value());
    }
    assertEquals(51, a.add(1));
    assertEquals(51, cached.value());
  }

  @Test
  void asynchronousCallsOfAThreadHappenInOrder() {
    Counter counter = one.get(Counter.class, "async");
    var futures = new ArrayList<CompletableFuture<Long>>();
    for (int i = 0; i < 500; i++) futures.add(one.async(counter, c -> c.add(1)));
    var answers = futures.stream().map(CompletableFuture::join).toList();
    for (int i = 0; i < 500; i++) assertEquals(i + 1L, answers.get(i));
  }

  @Test
  void manyObjectsAreUsedThroughABoundedNumberOfContainers() {
    for (int i = 0; i < 300; i++) one.get(Counter.class, "many " + i).add(i);
    for (int i = 0; i < 300; i++) {
      assertEquals(i, one.get(Counter.class, "many " + i).value());
    }
  }

  @Test
  void aClosedClientRefusesCallsAndLeavesOthersAlone() {
    Stoa third = Stoa.open("stoa://127.0.0.1:" + server.port());
    Counter counter = third.get(Counter.class, "closing");
    counter.add(1);
    third.close();
    assertThrows(Closed.class, () -> counter.add(1));
    assertEquals(1, one.get(Counter.class, "closing").value());
  }

  @Test
  void snapshotsShowWhatWas() {
    Counter counter = one.get(Counter.class, "then");
    counter.add(1);
    try (var snapshot = one.snapshot()) {
      two.get(Counter.class, "then").add(1);
      assertEquals(1, snapshot.on(counter).value());
      assertEquals(2, counter.value());
      var history = one.history(counter);
      assertEquals(1, history.at(1).value());
      assertEquals(2, history.version());
      assertEquals(List.of(1L), List.of(history.oldest()));
    }
  }

  private static Limits bytes(int transactionBytesMax) {
    return Limits.standard().withTransactionBytesMax(transactionBytesMax);
  }

  private static String refusal(Limits ofServer, Limits ofClient) {
    try (Server limited = ServedEngine.serve(StoaConfig.of("memory:").withLimits(ofServer), 0);
        Stoa stoa =
            Stoa.open(StoaConfig.of("stoa://127.0.0.1:" + limited.port()).withLimits(ofClient))) {
      Counter counter = stoa.get(Counter.class, "c");
      assertEquals(1, counter.add(1));
      var refused =
          assertThrows(
              LimitExceeded.class,
              () ->
                  stoa.transact(() -> {
                    for (int i = 0; i < 100; i++) counter.add(1);
                  }));
      assertEquals(1, counter.value());
      return String.valueOf(refused.getMessage());
    }
  }

  @Test
  void aTransactionIsWithinTheLimitsOfClientAndServer() {
    String ofClient = refusal(Limits.standard(), bytes(100));
    assertTrue(ofClient.contains("100 bytes (the client's transactionBytesMax)"), ofClient);
    String ofServer = refusal(bytes(50), bytes(100));
    assertTrue(ofServer.contains("50 bytes (the server's transactionBytesMax)"), ofServer);
  }
}
