package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import stoa.StoaConfig;
import stoa.base.Decoder;
import stoa.objects.ObjectService;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Begin;
import stoa.wire.proto.Call;
import stoa.wire.proto.Commit;
import stoa.wire.proto.End;
import stoa.wire.proto.Follow;
import stoa.wire.proto.Outcome;
import stoa.wire.proto.Request;
import stoa.wire.proto.TakeSnapshot;

/// Transactions, snapshots and follows, message by message.
class ProtocolTest {
  private static Server start() throws IOException {
    return Server.start(
        ServerConfig.of("127.0.0.1", 0), ObjectService.open(StoaConfig.of("memory:"), _ -> true));
  }

  /// A client that has a counter open as its container 1.
  private static final class Counting implements AutoCloseable {
    private final RawClient raw;
    private final int increment;
    private final int value;
    private long sequence = 10;

    Counting(Server server) throws InterruptedException {
      raw = new RawClient(server.port());
      raw.open();
      raw.ask(RawClient.use(1, Counter.class));
      increment = raw.number(2, Counter.class, "increment()");
      value = raw.number(3, Counter.class, "value()");
      raw.ask(RawClient.open(4, 1, Counter.class, "c"));
    }

    Request.Builder next() {
      return RawClient.request(sequence++);
    }

    Request.Builder call(int method) {
      return RawClient.call(sequence++, 1, method);
    }

    long value() throws InterruptedException {
      return number(raw.ask(call(value)));
    }

    Answer begin(long transaction) throws InterruptedException {
      return raw.ask(next().setBegin(Begin.newBuilder().setTransaction(transaction)));
    }

    @Override
    public void close() {
      raw.close();
    }
  }

  /// Returns the number in a counter's answer: returned, the mark of a long, and the number.
  private static long number(Answer answer) {
    assertTrue(answer.hasAnswered(), answer::toString);
    var in = new Decoder(answer.getAnswered().getAnswer().toByteArray());
    assertEquals(1, in.u8());
    in.u8();
    return in.varint() >>> 1;
  }

  @Test
  void aTransactionIsSeenByItselfAloneUntilItCommits() throws Exception {
    try (Server server = start();
        var one = new Counting(server);
        var other = new Counting(server)) {
      assertTrue(one.begin(1).getDone().hasAt());
      assertEquals(1, number(one.raw.ask(one.call(one.increment).setTransaction(1))));
      assertEquals(2, number(one.raw.ask(one.call(one.increment).setTransaction(1))));
      assertEquals(0, other.value());
      var commit = one.raw.ask(one.next().setTransaction(1).setCommit(Commit.newBuilder()));
      assertEquals(Outcome.Kind.COMMITTED, commit.getOutcome().getKind(), commit::toString);
      assertEquals(2, other.value());
    }
  }

  @Test
  void aTransactionThatEndsWithoutCommitLeavesNothing() throws Exception {
    try (Server server = start();
        var one = new Counting(server)) {
      one.begin(1);
      assertEquals(1, number(one.raw.ask(one.call(one.increment).setTransaction(1))));
      assertTrue(one.raw.ask(one.next().setTransaction(1).setEnd(End.newBuilder())).hasDone());
      assertEquals(0, one.value());
      assertTrue(one.raw.ask(one.call(one.increment).setTransaction(1)).hasFailure());
    }
  }

  @Test
  void aTransactionThatEndsMakesRoomForTheNextAtOnce() throws Exception {
    int max = ServerConfig.of("127.0.0.1", 0).transactionsMax();
    try (Server server = start();
        var one = new Counting(server)) {
      for (int i = 1; i <= max; i++) assertTrue(one.begin(i).hasDone());
      assertTrue(one.begin(max + 1).hasFailure());
      // In one frame, so that the server reads the second request before it has answered the first.
      for (int i = 1; i <= max; i++) {
        var end = one.next().setTransaction(i).setEnd(End.newBuilder());
        var next = Begin.newBuilder().setTransaction(max + 1 + i);
        one.raw.send(end, one.next().setBegin(next));
        assertTrue(one.raw.answer().hasDone());
        assertTrue(one.raw.answer().hasDone());
      }
    }
  }

  @Test
  void aTransactionIsAbortedWhenWhatItReadHasChanged() throws Exception {
    try (Server server = start();
        var one = new Counting(server);
        var other = new Counting(server)) {
      other.raw.ask(other.call(other.increment));
      one.begin(1);
      assertEquals(1, number(one.raw.ask(one.call(one.value).setTransaction(1))));
      other.raw.ask(other.call(other.increment));
      Answer late = one.raw.ask(one.call(one.increment).setTransaction(1));
      var commit = one.raw.ask(one.next().setTransaction(1).setCommit(Commit.newBuilder()));
      boolean refused = late.hasFailure() && late.getFailure().getKind().equals("Aborted");
      assertTrue(
          refused || commit.getOutcome().getKind() == Outcome.Kind.ABORTED,
          () -> late + " " + commit);
      assertEquals(2, other.value());
    }
  }

  @Test
  void aSnapshotShowsWhatWas() throws Exception {
    try (Server server = start();
        var one = new Counting(server)) {
      one.raw.ask(one.call(one.increment));
      var taken =
          one.raw.ask(one.next().setTakeSnapshot(TakeSnapshot.newBuilder().setName("then")));
      var at = taken.getSnapshots().getSnapshots(0).getAt();
      one.raw.ask(one.call(one.increment));
      var call = Call.newBuilder(one.call(one.value).getCall()).setAddress(at);
      assertEquals(1, number(one.raw.ask(one.next().setCall(call))));
      assertEquals(2, one.value());
    }
  }

  @Test
  void aFollowedObjectsChangesAreToldUpToTheMomentOfTheFrame() throws Exception {
    try (Server server = start();
        var one = new Counting(server);
        var other = new Counting(server)) {
      one.raw.ask(one.next().setFollow(Follow.newBuilder().setContainer(1)));
      long reach = other.raw.ask(other.call(other.increment)).getReach();
      while (true) {
        var frame = one.raw.frame();
        if (frame.getChangesCount() == 0) continue;
        assertEquals(1, frame.getChanges(0).getContainer());
        assertTrue(frame.getMoment() >= frame.getChanges(0).getCounter());
        if (frame.getMoment() >= reach) break;
      }
    }
  }
}
