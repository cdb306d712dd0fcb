package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Latency;
import stoa.base.Measures;
import stoa.front.types.Keys;
import stoa.objects.ObjectService;
import stoa.transport.Status;
import stoa.wire.BlobOperation;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Begin;
import stoa.wire.proto.Blob;
import stoa.wire.proto.Bounds;
import stoa.wire.proto.End;
import stoa.wire.proto.Pin;
import stoa.wire.proto.Request;
import stoa.wire.proto.Trim;
import stoa.wire.proto.Unpin;

/// A client's session holds some of the past, and a trim comes after the request to end that.
class HoldChangesTest {
  private static final ServerConfig LOCAL = ServerConfig.of("127.0.0.1", 0);
  private static final long BYTES_MAX = 16 << 10;
  private static final long TRANSACTION = 7;

  private static volatile CountDownLatch entered = new CountDownLatch(1);
  private static volatile CountDownLatch mayReturn = new CountDownLatch(1);

  /// A door, at which a call waits.
  @Shared
  public static class Door {
    /// A closed door.
    public Door() {}

    /// Waits until the test opens it.
    public void pass() {
      entered.countDown();
      try {
        mayReturn.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private long sequence;

  @BeforeEach
  void closeTheDoor() {
    entered = new CountDownLatch(1);
    mayReturn = new CountDownLatch(1);
  }

  @AfterEach
  void openTheDoor() {
    mayReturn.countDown();
  }

  private static Server start() throws IOException {
    var config = LOCAL.withAnswerBytesMax(BYTES_MAX);
    return Server.start(config, ObjectService.open(StoaConfig.of("memory:"), _ -> true));
  }

  private Request.Builder next() {
    return RawClient.request(++sequence);
  }

  /// Opens a session, container 1 with a counter, and container 2 with a door.
  private void open(RawClient client) throws InterruptedException {
    client.open();
    assertTrue(client.ask(RawClient.use(++sequence, Counter.class)).hasDone());
    assertTrue(client.ask(RawClient.use(++sequence, Door.class)).hasDone());
    assertTrue(client.ask(RawClient.open(++sequence, 1, Counter.class, "c")).hasDone());
    assertTrue(client.ask(RawClient.open(++sequence, 2, Door.class, "d")).hasDone());
  }

  private void increment(RawClient client, int method, int times) throws InterruptedException {
    for (int i = 0; i < times; i++) {
      assertTrue(client.ask(RawClient.call(++sequence, 1, method)).hasAnswered());
    }
  }

  private Request.Builder trim(long before) {
    return next().setTrim(Trim.newBuilder().setContainer(1).setBefore(before));
  }

  private Request.Builder bounds() {
    return next().setBounds(Bounds.newBuilder().setContainer(1));
  }

  private Request.Builder end() {
    return next().setTransaction(TRANSACTION).setEnd(End.getDefaultInstance());
  }

  /// Begins a transaction that reads the counter as it is now, and waits at the door in it.
  private void beginAndWait(RawClient client, int pass) throws InterruptedException {
    var begin = Begin.newBuilder().setTransaction(TRANSACTION);
    assertTrue(client.ask(next().setTransaction(TRANSACTION).setBegin(begin)).hasDone());
    client.send(RawClient.call(++sequence, 2, pass).setTransaction(TRANSACTION));
    entered.await();
  }

  /// Returns the gauges of a server.
  private static Map<String, Double> gauges(Server server) {
    var found = new HashMap<String, Double>();
    server.measure(
        new Measures() {
          @Override
          public void count(String name, String unit, String meaning, long total, String... tags) {
            // Not asked for.
          }

          @Override
          public void gauge(
              String name, String unit, String meaning, double value, String... tags) {
            found.put(name, value);
          }

          @Override
          public void latency(String name, String meaning, Latency latency, String... tags) {
            // Not asked for.
          }
        });
    return found;
  }

  private static double gauge(Server server, String name) {
    return gauges(server).getOrDefault(name, Double.NaN);
  }

  @Test
  void aTrimReleasesWhatATransactionHeldThatItsClientEndedBefore() throws Exception {
    try (Server server = start();
        var client = new RawClient(server.port())) {
      open(client);
      int increment = client.number(++sequence, Counter.class, "increment()");
      int pass = client.number(++sequence, Door.class, "pass()");
      increment(client, increment, 5);
      beginAndWait(client, pass);
      increment(client, increment, 5);
      client.send(end(), trim(10));
      long trim = sequence;
      Answer bounds = client.ask(bounds());
      assertEquals(
          sequence, bounds.getSequence(), "the trim was done before the transaction ended");
      assertEquals(10, bounds.getDone().getOther());
      mayReturn.countDown();
      Answer answer;
      do answer = client.answer();
      while (answer.getSequence() != trim);
      assertEquals(10, answer.getDone().getNumber(), answer::toString);
      assertEquals(10, client.ask(bounds()).getDone().getNumber());
    }
  }

  @Test
  void aPinEndsWhoseClientEndsItBeforeItHasBegun() throws Exception {
    try (Server server = start();
        var client = new RawClient(server.port())) {
      open(client);
      int increment = client.number(++sequence, Counter.class, "increment()");
      increment(client, increment, 5);
      int pins = 200;
      var requests = new Request.Builder[2 * pins];
      for (int i = 0; i < pins; i++) {
        requests[2 * i] = next().setPin(Pin.newBuilder().setPin(i));
        requests[2 * i + 1] = next().setUnpin(Unpin.newBuilder().setPin(i));
      }
      client.send(requests);
      for (int i = 0; i < requests.length; i++) assertTrue(client.answer().hasDone());
      assertEquals(0, gauge(server, "stoa.pins"));
      increment(client, increment, 5);
      assertEquals(10, client.ask(trim(10)).getDone().getNumber());
    }
  }

  @Test
  void aTransactionEndsAlsoWhenItsClientLeavesAnswersUnread() throws Exception {
    try (Server server = start();
        var client = new RawClient(server.port())) {
      open(client);
      int increment = client.number(++sequence, Counter.class, "increment()");
      int pass = client.number(++sequence, Door.class, "pass()");
      beginAndWait(client, pass);
      client.send(end());
      var requests = new Request.Builder[(int) BYTES_MAX / 8];
      for (int i = 0; i < requests.length; i++) {
        requests[i] = RawClient.call(++sequence, 1, increment);
      }
      client.send(requests);
      assertEquals(Status.Code.RESOURCE_EXHAUSTED, client.end().code());
      mayReturn.countDown();
      while (gauge(server, "stoa.server.requests.under.way") > 0) Thread.onSpinWait();
      assertEquals(0, gauge(server, "stoa.pins"));
    }
  }

  @Test
  void aSnapshotOfABlobIsReleasedAlsoWhenItsClientLeavesAnswersUnread() throws Exception {
    Stoa stoa = Stoa.open(StoaConfig.of("memory:"));
    var blob = stoa.get(stoa.Blob.class, "b");
    blob.truncate(1);
    var config = LOCAL.withAnswerBytesMax(BYTES_MAX);
    try (Server server = Server.start(config, ObjectService.of(stoa, _ -> true));
        var client = new RawClient(server.port())) {
      client.open();
      Answer taken = client.ask(onBlob(BlobOperation.SNAPSHOT, 0, 0));
      assertEquals(1, blob.snapshots().size());
      var data = new Decoder(taken.getData().toByteArray());
      long generation = data.varint();
      long number = data.varint();
      var requests = new Request.Builder[(int) BYTES_MAX / 8];
      int last = requests.length - 1;
      for (int i = 0; i < last; i++) requests[i] = onBlob(BlobOperation.TRUNCATE, 0, i + 2);
      requests[last] = onBlob(BlobOperation.RELEASE, generation, number);
      client.send(requests);
      assertEquals(Status.Code.RESOURCE_EXHAUSTED, client.end().code());
      while (gauge(server, "stoa.server.requests.under.way") > 0) Thread.onSpinWait();
      assertEquals(List.of(), blob.snapshots());
    }
  }

  private Request.Builder onBlob(BlobOperation operation, long generation, long argument) {
    return next()
        .setBlob(
            Blob.newBuilder()
                .setKey(ByteString.copyFrom(Keys.encode("b")))
                .setGeneration(generation)
                .setOperation(operation.number())
                .setArguments(ByteString.copyFrom(new Encoder(9).varint(argument).toBytes())));
  }

  @Test
  void changesSettleThatBeganBefore() {
    var changes = new HoldChanges();
    assertTrue(changes.settled().isDone());
    Runnable first = changes.noted(() -> {});
    Runnable second =
        changes.noted(() -> {
          throw new IllegalStateException("as asked");
        });
    var both = changes.settled();
    Runnable third = changes.noted(() -> {});
    first.run();
    assertFalse(both.isDone());
    assertThrows(IllegalStateException.class, second::run);
    assertTrue(both.isDone());
    assertFalse(both.isCompletedExceptionally());
    assertFalse(changes.settled().isDone());
    third.run();
    assertTrue(changes.settled().isDone());
  }
}
