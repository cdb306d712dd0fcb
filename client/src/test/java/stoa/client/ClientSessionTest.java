package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Closed;
import stoa.DeadlineExceeded;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Key;
import stoa.wire.BlobOperation;
import stoa.wire.FrameLimits;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Blob;
import stoa.wire.proto.Call;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.Commit;
import stoa.wire.proto.Done;
import stoa.wire.proto.Failure;
import stoa.wire.proto.Request;
import stoa.wire.proto.ServerHello;

class ClientSessionTest {
  private static final int QUEUED_MAX = 1_000;

  /// Remembers as a server does: what it ran, by sequence, and what it answered.
  private static final class Server {
    private final Map<Long, ByteString> ran = new LinkedHashMap<>();
    private final List<ByteString> log = new ArrayList<>();
    private Map<Long, Answer> answers = new LinkedHashMap<>();
    private int restarts;

    ServerHello hello() {
      return ServerHello.newBuilder()
          .setSession(7)
          .setRequestsMax(8)
          .setRecovered(restarts > 0)
          .setEpoch(1 + restarts)
          .build();
    }

    /// Forgets all but its log.
    void restart() {
      answers = new LinkedHashMap<>();
      restarts++;
    }

    /// Runs what it does not know, and answers all.
    List<Answer> take(ClientFrame frame) {
      answers.keySet().removeIf(sequence -> sequence <= frame.getAcknowledged());
      frame.getAcknowledgedAlsoList().forEach(answers::remove);
      var said = new ArrayList<Answer>();
      for (Request request : frame.getRequestsList()) {
        assertTrue(
            request.getSequence() > frame.getAcknowledged(), "an acknowledged one is sent again");
        Answer known = answers.get(request.getSequence());
        if (known == null) {
          ByteString before = ran.get(request.getSequence());
          boolean found = request.getSince() > 0 && before != null;
          if (!found) {
            assertNull(before, "run twice: " + request);
            ran.put(request.getSequence(), request.getCall().getCall());
            if (request.hasCall()) log.add(request.getCall().getCall());
          }
          known =
              Answer.newBuilder()
                  .setSequence(request.getSequence())
                  .setDone(Done.getDefaultInstance())
                  .build();
          answers.put(request.getSequence(), known);
        }
        said.add(known);
      }
      return said;
    }
  }

  private static ServerHello hello(long session, boolean recovered) {
    return ServerHello.newBuilder()
        .setSession(session)
        .setRequestsMax(100)
        .setRecovered(recovered)
        .setEpoch(recovered ? 2 : 1)
        .build();
  }

  private static Outgoing call(int number, Outgoing.Recovery recovery) {
    var call = Call.newBuilder().setCall(ByteString.copyFromUtf8("call " + number));
    return Outgoing.of(Request.newBuilder().setCall(call), recovery, 8);
  }

  private static ClientFrame frame(ClientSession session) {
    return assertInstanceOf(ClientFrame.class, session.nextFrame());
  }

  @Test
  void runsEveryCallOnceAndInOrderWhereverConnectionsAreCutAndServersRestarted() {
    for (long seed = 0; seed < 500; seed++) {
      var random = new Random(seed);
      var session = new ClientSession(QUEUED_MAX);
      var server = new Server();
      var frames = new ArrayDeque<ClientFrame>();
      var answers = new ArrayDeque<Answer>();
      var calls = new ArrayList<Outgoing>();
      boolean connected = false;
      for (int step = 0; step < 400 || !allSettled(calls); step++) {
        assertTrue(step < 20_000, "seed " + seed + " comes to no end");
        switch (random.nextInt(step < 400 ? 12 : 8)) {
          case 0, 1, 2 -> {
            if (step < 400) {
              Outgoing made = call(calls.size(), Outgoing.Recovery.LOOKED_UP);
              calls.add(made);
              session.submit(made);
            }
          }
          case 3, 4 -> {
            ClientFrame next = session.nextFrame();
            if (next != null) frames.add(next);
          }
          case 5 -> {
            if (!frames.isEmpty()) answers.addAll(server.take(frames.remove()));
          }
          case 6 -> {
            while (!answers.isEmpty()) {
              Answer answer = answers.remove();
              Outgoing whose = session.answered(answer);
              if (whose != null) whose.settle(answer, null);
            }
          }
          case 7 -> {
            if (connected) break;
            session.connected(server.hello());
            connected = true;
          }
          default -> {
            if (random.nextInt(4) != 0) break;
            session.disconnected();
            connected = false;
            // Some of what is under way arrives, the rest is lost.
            while (!frames.isEmpty() && random.nextBoolean()) server.take(frames.remove());
            frames.clear();
            answers.clear();
            if (random.nextInt(3) == 0) server.restart();
          }
        }
        assertEquals(List.of(), session.takeFailed());
      }
      for (Outgoing made : calls) assertFalse(made.answer().hasFailure());
      var expected = new ArrayList<ByteString>();
      for (int i = 0; i < calls.size(); i++) expected.add(ByteString.copyFromUtf8("call " + i));
      assertEquals(expected, server.log, "seed " + seed);
    }
  }

  private static boolean allSettled(List<Outgoing> calls) {
    return calls.stream().allMatch(Outgoing::isSettled);
  }

  @Test
  void opensAContainerBeforeItsFirstUseInEachLifeOfTheSession() {
    var session = new ClientSession(QUEUED_MAX);
    var container = new Container(Key.of("space", "name"), 3);
    session.connected(hello(1, false));
    Outgoing first = on(container);
    session.submit(first);
    var requests = frame(session).getRequestsList();
    assertTrue(requests.get(0).hasOpen());
    assertEquals(3, requests.get(0).getOpen().getContainer());
    assertTrue(requests.get(1).hasCall());
    session.submit(on(container));
    assertEquals(1, frame(session).getRequestsCount());

    session.disconnected();
    session.connected(hello(1, false));
    requests = frame(session).getRequestsList();
    assertEquals(List.of(1L, 2L, 3L), requests.stream().map(Request::getSequence).toList());

    session.disconnected();
    session.connected(hello(1, true));
    requests = frame(session).getRequestsList();
    assertTrue(requests.get(0).hasOpen());
    assertEquals(4, requests.get(0).getSequence());
    assertEquals(2, requests.get(1).getSequence());
    assertEquals(3, requests.get(2).getSequence());
    assertEquals(1, requests.get(2).getSince());

    // That frame is lost: the server, which is the same as before, has nothing open.
    session.disconnected();
    session.connected(hello(1, true));
    requests = frame(session).getRequestsList();
    assertTrue(requests.get(0).hasOpen());
    assertEquals(List.of(4L, 2L, 3L), requests.stream().map(Request::getSequence).toList());
  }

  @Test
  void opensAContainerAnewThatWasRefused() {
    var session = new ClientSession(QUEUED_MAX);
    var container = new Container(Key.of("space", "name"), 3);
    session.connected(hello(1, false));
    session.submit(on(container));
    var requests = frame(session).getRequestsList();
    assertTrue(requests.get(0).hasOpen());
    var full = Failure.newBuilder().setKind("LimitExceeded").build();
    for (Request request : requests) {
      var refused = Answer.newBuilder().setSequence(request.getSequence()).setFailure(full).build();
      Outgoing whose = session.answered(refused);
      assertTrue(whose != null);
      whose.settle(refused, null);
    }
    assertEquals(full, container.refusal);
    session.submit(on(container));
    session.submit(on(container));
    requests = frame(session).getRequestsList();
    assertTrue(requests.get(0).hasOpen());
    assertEquals(3, requests.size(), "it is opened once");
    assertNull(container.refusal);
  }

  private static Outgoing on(Container container) {
    assertTrue(container.use());
    var call = Call.newBuilder().setContainer(container.number());
    return Outgoing.on(
        container, Request.newBuilder().setCall(call), Outgoing.Recovery.LOOKED_UP, 8);
  }

  @Test
  void whatWasNeverSentIsUnavailableAndTheRestIsUnknown() {
    var session = new ClientSession(QUEUED_MAX);
    Outgoing unsent = call(1, Outgoing.Recovery.LOOKED_UP);
    session.submit(unsent);
    assertInstanceOf(Unavailable.class, session.expire(unsent, "1 ms"));
    session.connected(hello(1, false));
    assertNull(session.nextFrame());

    Outgoing sent = call(2, Outgoing.Recovery.LOOKED_UP);
    session.submit(sent);
    assertNotNull(session.nextFrame());
    assertInstanceOf(UnknownOutcome.class, session.expire(sent, "1 ms"));
  }

  @Test
  void whatChangesNothingIsNeverUnknown() {
    var session = new ClientSession(QUEUED_MAX);
    session.connected(hello(1, false));
    Outgoing read = call(1, Outgoing.Recovery.READ);
    session.submit(read);
    var scope = new Scope();
    session.submit(Outgoing.beginning(scope, Request.newBuilder(), Outgoing.Recovery.UNKNOWN));
    Outgoing step = Outgoing.in(scope, null, Request.newBuilder(), 1);
    session.submit(step);
    var committing = Request.newBuilder().setCommit(Commit.getDefaultInstance());
    Outgoing commit = Outgoing.in(scope, null, committing, 1);
    session.submit(commit);
    assertEquals(4, frame(session).getRequestsCount());
    assertInstanceOf(DeadlineExceeded.class, session.expire(read, "1 ms"));
    assertInstanceOf(DeadlineExceeded.class, session.expire(step, "1 ms"));
    assertInstanceOf(UnknownOutcome.class, session.expire(commit, "1 ms"));
    session.disconnected();
    assertInstanceOf(Unavailable.class, session.expire(read, "1 ms"));
    session.abandon(() -> new Closed("the store is closed"));
    for (var failed : session.takeFailed()) {
      var expected = failed.outgoing() == commit ? UnknownOutcome.class : Closed.class;
      assertInstanceOf(expected, failed.cause());
    }
  }

  @Test
  void failsWhatNobodyCanFindAgainWhenTheServerHasForgotten() {
    var session = new ClientSession(QUEUED_MAX);
    session.connected(hello(1, false));
    Outgoing append = call(1, Outgoing.Recovery.UNKNOWN);
    Outgoing read = call(2, Outgoing.Recovery.READ);
    session.submit(append);
    session.submit(read);
    assertEquals(2, frame(session).getRequestsCount());
    session.disconnected();
    session.connected(hello(1, true));
    var failed = session.takeFailed();
    assertEquals(1, failed.size());
    assertEquals(append, failed.getFirst().outgoing());
    assertInstanceOf(UnknownOutcome.class, failed.getFirst().cause());
    assertEquals("call 2", frame(session).getRequests(0).getCall().getCall().toStringUtf8());
  }

  @Test
  void hasTheLogSearchedBehindWhatWasKnownWhenACallWasSentFirst() {
    var session = new ClientSession(QUEUED_MAX);
    session.connected(hello(1, false));
    session.moment(5);
    session.submit(call(1, Outgoing.Recovery.LOOKED_UP));
    assertEquals(0, frame(session).getRequests(0).getSince());
    session.moment(50);
    for (int restarts = 0; restarts < 2; restarts++) {
      session.disconnected();
      session.connected(hello(1, true).toBuilder().setEpoch(2 + restarts).build());
      assertEquals(6, frame(session).getRequests(0).getSince());
      session.moment(60);
    }
  }

  @Test
  void anotherSessionLeavesInDoubtWhatWasSentInTheOneThatEnded() {
    var session = new ClientSession(QUEUED_MAX);
    session.connected(hello(1, false));
    Outgoing sent = call(1, Outgoing.Recovery.LOOKED_UP);
    session.submit(sent);
    assertNotNull(session.nextFrame());
    session.disconnected();
    session.ended();
    assertEquals(0, session.hello().getSession());
    Outgoing unsent = call(2, Outgoing.Recovery.LOOKED_UP);
    session.submit(unsent);
    session.connected(hello(2, false));
    var failed = session.takeFailed();
    assertEquals(List.of(sent), failed.stream().map(ClientSession.Failed::outgoing).toList());
    assertInstanceOf(UnknownOutcome.class, failed.getFirst().cause());
    assertEquals(1, frame(session).getRequests(0).getSequence());
  }

  @Test
  void callsOfATransactionThatTheServerHasForgottenAreNotSent() {
    var session = new ClientSession(QUEUED_MAX);
    session.connected(hello(1, false));
    var scope = new Scope();
    session.submit(Outgoing.beginning(scope, Request.newBuilder(), Outgoing.Recovery.UNKNOWN));
    Outgoing sent = Outgoing.in(scope, null, Request.newBuilder(), 0);
    session.submit(sent);
    assertEquals(2, frame(session).getRequestsCount());
    session.disconnected();
    session.connected(hello(1, true));
    for (var failed : session.takeFailed()) assertInstanceOf(Unavailable.class, failed.cause());
    Outgoing late = Outgoing.in(scope, null, Request.newBuilder(), 0);
    session.submit(late);
    assertNull(session.nextFrame());
    assertEquals(late, session.takeFailed().getFirst().outgoing());
  }

  @Test
  void aCommitThatWasSentToAServerThatHasForgottenIsInDoubt() {
    var blob = Blob.newBuilder().setOperation(BlobOperation.COMMIT.number());
    for (Request.Builder commit :
        List.of(
            Request.newBuilder().setCommit(Commit.getDefaultInstance()),
            Request.newBuilder().setBlob(blob))) {
      var session = new ClientSession(QUEUED_MAX);
      session.connected(hello(1, false));
      var scope = new Scope();
      session.submit(Outgoing.beginning(scope, Request.newBuilder(), Outgoing.Recovery.UNKNOWN));
      session.submit(Outgoing.in(scope, null, commit, 0));
      assertNotNull(session.nextFrame());
      session.disconnected();
      session.connected(hello(1, true));
      assertInstanceOf(UnknownOutcome.class, session.takeFailed().getLast().cause());
    }
  }

  @Test
  void acknowledgesWhatHasArrivedBehindACallThatTakesLong() {
    var session = new ClientSession(QUEUED_MAX);
    session.connected(hello(1, false));
    for (int i = 0; i < 3; i++) session.submit(call(i, Outgoing.Recovery.LOOKED_UP));
    assertEquals(3, frame(session).getRequestsCount());
    for (long sequence = 2; sequence <= 3; sequence++) {
      assertNotNull(session.answered(answer(sequence)));
    }
    ClientFrame said = assertInstanceOf(ClientFrame.class, session.acknowledgement());
    assertEquals(0, said.getAcknowledged());
    assertEquals(List.of(2L, 3L), said.getAcknowledgedAlsoList());
    assertNull(session.acknowledgement());
    assertNull(session.answered(answer(2)));
    assertNotNull(session.answered(answer(1)));
    said = assertInstanceOf(ClientFrame.class, session.acknowledgement());
    assertEquals(3, said.getAcknowledged());
  }

  private static Answer answer(long sequence) {
    return Answer.newBuilder().setSequence(sequence).setDone(Done.getDefaultInstance()).build();
  }

  @Test
  void sendsNoMoreThanTheServerTakesAtOnceAndNothingWhileItDrains() {
    var session = new ClientSession(QUEUED_MAX);
    session.connected(ServerHello.newBuilder().setSession(1).setRequestsMax(2).build());
    for (int i = 0; i < 3; i++) session.submit(call(i, Outgoing.Recovery.LOOKED_UP));
    assertEquals(2, frame(session).getRequestsCount());
    assertNull(session.nextFrame());
    session.draining();
    assertNotNull(session.answered(answer(1)));
    assertNotNull(session.answered(answer(2)));
    assertTrue(session.isDrained());
    assertNull(session.nextFrame());
    session.disconnected();
    session.connected(hello(1, false));
    assertEquals(3, frame(session).getRequests(0).getSequence());
  }

  @Test
  void aFullQueueRefuses() {
    var session = new ClientSession(1);
    assertTrue(session.hasRoom());
    session.submit(call(1, Outgoing.Recovery.LOOKED_UP));
    assertFalse(session.hasRoom());
    assertThrows(
        stoa.LimitExceeded.class,
        () -> {
          throw session.full();
        });
  }

  @Test
  void cutsLargeBatchesIntoSeveralFrames() {
    var session = new ClientSession(QUEUED_MAX);
    session.connected(hello(1, false));
    var bytes = ByteString.copyFrom(new byte[FrameLimits.BYTES_AIM / 2]);
    for (int i = 0; i < 4; i++) {
      var call = Call.newBuilder().setCall(bytes);
      session.submit(
          Outgoing.of(
              Request.newBuilder().setCall(call), Outgoing.Recovery.LOOKED_UP, bytes.size()));
    }
    int requests = 0;
    for (@Nullable ClientFrame next = session.nextFrame();
        next != null;
        next = session.nextFrame()) {
      assertTrue(next.getSerializedSize() < 2 * FrameLimits.BYTES_AIM);
      requests += next.getRequestsCount();
    }
    assertEquals(4, requests);
  }

  @Test
  void theFirstFramesOfAConnectionAreSmall() {
    var session = new ClientSession(QUEUED_MAX);
    var bytes = ByteString.copyFrom(new byte[FrameLimits.BYTES_FIRST / 4]);
    for (int i = 0; i < 10; i++) {
      var call = Call.newBuilder().setCall(bytes);
      session.submit(
          Outgoing.of(
              Request.newBuilder().setCall(call), Outgoing.Recovery.LOOKED_UP, bytes.size()));
    }
    for (int connection = 0; connection < 2; connection++) {
      session.connected(hello(1, false));
      int aim = FrameLimits.BYTES_FIRST;
      int requests = 0;
      for (@Nullable ClientFrame next = session.nextFrame();
          next != null;
          next = session.nextFrame()) {
        assertTrue(next.getSerializedSize() <= aim, next.getSerializedSize() + " of " + aim);
        aim = FrameLimits.growing(aim);
        requests += next.getRequestsCount();
      }
      assertEquals(10, requests, "what was not answered is due again");
      session.disconnected();
    }
  }
}
