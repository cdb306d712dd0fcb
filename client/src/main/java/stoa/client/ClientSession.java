package stoa.client;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.DeadlineExceeded;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Key;
import stoa.wire.BlobOperation;
import stoa.wire.FrameLimits;
import stoa.wire.proto.Answer;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.ClientHello;
import stoa.wire.proto.EndWaiting;
import stoa.wire.proto.Open;
import stoa.wire.proto.Request;
import stoa.wire.proto.ServerHello;

/// Decides what a client sends, and the fate of its requests when connections break and servers
/// restart (CRESON, section III-D).
///
/// One owner at a time calls it. It does no I/O, reads no clock and starts no thread: the same
/// events always give the same frames.
final class ClientSession {
  /*
   * A request waits in `queue`, gets its sequence when a frame first contains it, and is in `sent`
   * until its answer arrives. On a new connection all of `sent` is due again, in order, with the
   * same sequences; the server answers the executed ones from its memory. A restarted server
   * remembers only that the session exists: that is another *life* of the session. Then a request
   * that changes the log is due again, with the moment known when the client first sent it, so that
   * the server can search the log after that moment. A request that reads is due again too. The
   * outcome of any other request is unknown.
   *
   * Invariants:
   * (1) The sequences of one session count from 1, without gaps, in the order of first sending.
   * (2) sent holds them in ascending order; all sequences below its first key are answered.
   * (3) A request that was never in a frame was certainly not executed.
   * (4) In each life of the session, a container is opened before the first request that names it,
   *     also where the client repeats both; and anew before the first request after a refusal.
   * (5) Requests of a scope from an earlier life fail, and are not sent.
   */
  // The bytes of one request in a frame beside its payload.
  private static final int OVERHEAD_BYTES = 96;

  // The most answers without a frame of their own that acknowledges them.
  private static final int UNACKNOWLEDGED_MAX = 256;

  private final int queuedMax;
  private final ArrayDeque<Outgoing> queue = new ArrayDeque<>();
  private final ArrayDeque<Outgoing> due = new ArrayDeque<>();
  private final LinkedHashMap<Long, Outgoing> sent = new LinkedHashMap<>();
  private final ArrayList<Long> arrived = new ArrayList<>();
  private final ArrayList<Failed> failed = new ArrayList<>();
  private long session;
  private com.google.protobuf.ByteString secret = com.google.protobuf.ByteString.EMPTY;
  private long lastSequence;
  private long moment;
  private int life;

  // The epoch of the server process that held the session last.
  private long epoch;

  private int requestsMax = 1;
  private int answersSinceFrame;

  // The bytes that the next frame gathers.
  private int bytesAim = FrameLimits.BYTES_FIRST;

  private boolean connected;
  private boolean draining;

  /// A failed request.
  ///
  /// @param outgoing the request
  /// @param cause the reason
  record Failed(Outgoing outgoing, RuntimeException cause) {}

  /// @param queuedMax the most requests that wait for their first frame
  ClientSession(int queuedMax) {
    this.queuedMax = queuedMax;
  }

  // ---- requests

  /// Returns whether another request may be queued.
  boolean hasRoom() {
    return queue.size() < queuedMax;
  }

  /// How many requests are queued.
  int waiting() {
    return queue.size();
  }

  /// Queues a request. Requests of the client itself may exceed the bound: there are few.
  void submit(Outgoing outgoing) {
    queue.add(outgoing);
  }

  /// Takes a call on an object back that may wait for a condition. Removes an unsent call; for
  /// another one, queues the request that takes it back. The next life of the session does not get
  /// the call.
  void endWaiting(Outgoing call) {
    if (call.sequence == 0) {
      queue.remove(call);
      return;
    }
    call.abandoned = true;
    Container container = call.container();
    if (container == null || !container.use()) return; // the call is over
    var end =
        EndWaiting.newBuilder()
            .setSession(session)
            .setSequence(call.sequence)
            .setContainer(container.number());
    var request = Request.newBuilder().setEndWaiting(end);
    queue.add(Outgoing.on(container, request, Outgoing.Recovery.READ, 0).patient());
  }

  /// Gives up waiting for a request; returns the reason as far as it is known.
  ///
  /// @param waited how long the caller has waited, for the message
  RuntimeException expire(Outgoing outgoing, String waited) {
    if (outgoing.sequence == 0) {
      queue.remove(outgoing);
      return new Unavailable(
          "no server answered within " + waited + "; the call was not sent, make it again later");
    }
    outgoing.abandoned = true;
    if (changesNothing(outgoing)) {
      String why =
          "the server did not answer within " + waited + "; nothing was changed, ask again";
      return connected ? new DeadlineExceeded(why) : new Unavailable(why);
    }
    return new UnknownOutcome(
        "the server did not answer within "
            + waited
            + "; the call may have been executed, or may be later: look before you make it again");
  }

  /// Returns whether a request changes nothing, or only what a commit makes durable later: its
  /// outcome is then known.
  private static boolean changesNothing(Outgoing outgoing) {
    boolean begun = outgoing.scope() != null && !commits(outgoing.request());
    return begun || outgoing.recovery() == Outgoing.Recovery.READ;
  }

  /// Returns how many requests have no answer.
  int underWay() {
    return queue.size() + sent.size();
  }

  /// Returns whether requests are in progress, beside those that may wait for conditions.
  boolean isBusy() {
    for (Outgoing outgoing : queue) if (!outgoing.isPatient()) return true;
    for (Outgoing outgoing : sent.values()) if (!outgoing.isPatient()) return true;
    return false;
  }

  /// Returns the server's number of the session; 0 before it is open.
  long id() {
    return session;
  }

  /// Returns the life of the session at the server, from 1.
  int life() {
    return life;
  }

  // ---- connections

  /// Returns the first frame of a new connection.
  ClientHello hello() {
    return ClientHello.newBuilder().setProtocol(1).setSession(session).setSecret(secret).build();
  }

  /// Begins a new connection.
  void connected(ServerHello hello) {
    connected = true;
    draining = false;
    bytesAim = FrameLimits.BYTES_FIRST;
    requestsMax = Math.max(1, hello.getRequestsMax());
    due.clear();
    boolean another = hello.getSession() != session;
    // A server that took the session over from an earlier one says so on each connection.
    boolean forgotten = another || (hello.getRecovered() && hello.getEpoch() != epoch);
    epoch = hello.getEpoch();
    if (forgotten) life++;
    if (another) {
      session = hello.getSession();
      lastSequence = 0;
      arrived.clear();
    }
    secret = hello.getSecret();
    if (!forgotten) {
      // A request that the server must look up has kept its sequence, below that of the opening
      // that it needs.
      for (Outgoing outgoing : sent.values()) if (outgoing.request().hasOpen()) due.add(outgoing);
      for (Outgoing outgoing : sent.values()) if (!outgoing.request().hasOpen()) due.add(outgoing);
      return;
    }
    var before = List.copyOf(sent.values());
    sent.clear();
    var again = new ArrayList<Outgoing>();
    for (Outgoing outgoing : before) {
      if (outgoing.abandoned) continue;
      Scope scope = outgoing.scope();
      if (scope != null && outgoing.recovery() != Outgoing.Recovery.READ) {
        fail(outgoing, lost(outgoing));
      } else if (outgoing.recovery() == Outgoing.Recovery.READ) {
        outgoing.sequence = 0;
        outgoing.again();
        again.add(outgoing);
      } else if (outgoing.recovery() == Outgoing.Recovery.LOOKED_UP && !another) {
        sent.put(outgoing.sequence, outgoing);
        due.add(outgoing);
        outgoing.request().setSince(outgoing.moment + 1);
      } else {
        fail(outgoing, unknown());
      }
    }
    for (Outgoing outgoing : again.reversed()) queue.addFirst(outgoing);
  }

  private static RuntimeException unknown() {
    return new UnknownOutcome(
        "the server restarted, or ended the session, while the call was in progress; check whether"
            + " it was executed before you repeat it");
  }

  private static RuntimeException lost(Outgoing outgoing) {
    return outgoing.sequence != 0 && commits(outgoing.request())
        ? unknown()
        : new Unavailable(
            "the server was started again, or ended the session, and what was begun there is lost;"
                + " nothing of it was written, begin again");
  }

  private static boolean commits(Request.Builder request) {
    return request.hasCommit()
        || (request.hasBlob() && BlobOperation.COMMIT.is(request.getBlob().getOperation()));
  }

  /// Ends the connection.
  void disconnected() {
    connected = false;
    due.clear();
  }

  /// Ends the session, which the server no longer knows: the next connection opens another.
  void ended() {
    session = 0;
    secret = com.google.protobuf.ByteString.EMPTY;
  }

  /// Notes that the server wants no more requests on this connection.
  void draining() {
    draining = true;
  }

  /// Returns whether the server has answered all requests and wants no more.
  boolean isDrained() {
    return draining && sent.isEmpty();
  }

  // ---- frames

  /// Returns the next frame to send, or null when there is nothing to send now.
  @Nullable ClientFrame nextFrame() {
    return nextFrame(UNACKNOWLEDGED_MAX);
  }

  /// Returns a frame that acknowledges the arrived answers, or null when there is none.
  @Nullable ClientFrame acknowledgement() {
    return nextFrame(1);
  }

  private @Nullable ClientFrame nextFrame(int unacknowledgedMax) {
    if (!connected) return null;
    ClientFrame.Builder frame = null;
    int bytes = 0;
    while (!draining && bytes < bytesAim) {
      Outgoing next = due.peek();
      boolean again = next != null;
      if (next == null) next = queue.peek();
      if (next == null) break;
      if (!again && sent.size() >= requestsMax) break;
      int size = next.bytes() + OVERHEAD_BYTES;
      if (frame != null && bytes + size > bytesAim) break;
      var _ = again ? due.remove() : queue.remove();
      // A request that was given up is sent again, too: only an answer lets the server forget it.
      if (next.isSettled() && !(again && sent.containsKey(next.sequence))) continue;
      Scope scope = next.scope();
      if (scope != null) {
        if (next.begins()) scope.begin(life);
        if (scope.isLost(life)) {
          fail(next, lost(next));
          continue;
        }
      }
      if (frame == null) frame = ClientFrame.newBuilder();
      Container container = next.container();
      // The cause of an earlier refusal, such as a limit, may be gone.
      if (container != null && (container.openedIn != life || container.refusal != null)) {
        container.openedIn = life;
        add(frame, opening(container));
        bytes += OVERHEAD_BYTES + container.key().name().length;
      }
      if (again) next.again();
      add(frame, next);
      bytes += size;
    }
    if (frame == null) {
      if (answersSinceFrame < unacknowledgedMax) return null;
      frame = ClientFrame.newBuilder();
    } else if (!due.isEmpty() || !queue.isEmpty()) {
      bytesAim = FrameLimits.growing(bytesAim);
    }
    return acknowledging(frame);
  }

  private void add(ClientFrame.Builder frame, Outgoing outgoing) {
    if (outgoing.sequence == 0) {
      outgoing.sequence = ++lastSequence;
      outgoing.moment = moment;
      outgoing.request().setSequence(outgoing.sequence);
      sent.put(outgoing.sequence, outgoing);
    }
    frame.addRequests(outgoing.request().build());
  }

  private ClientFrame acknowledging(ClientFrame.Builder frame) {
    answersSinceFrame = 0;
    long acknowledged = sent.isEmpty() ? lastSequence : sent.firstEntry().getKey() - 1;
    frame.setAcknowledged(acknowledged);
    for (long sequence : arrived) {
      if (sequence > acknowledged) frame.addAcknowledgedAlso(sequence);
    }
    arrived.clear();
    return frame.build();
  }

  private static Outgoing opening(Container container) {
    Key key = container.key();
    var open =
        Open.newBuilder()
            .setContainer(container.number())
            .setType(key.space())
            .setKey(com.google.protobuf.UnsafeByteOperations.unsafeWrap(key.name()));
    container.refusal = null;
    var opening =
        Outgoing.of(
            Request.newBuilder().setOpen(open), Outgoing.Recovery.UNKNOWN, key.name().length);
    opening.whenSettled(opened -> {
      try {
        Answer answer = opened.answer();
        if (answer.hasFailure()) container.refusal = answer.getFailure();
      } catch (UnknownOutcome again) {
        // The next use opens it again.
      }
    });
    return opening;
  }

  // ---- answers

  /// Notes that the server has committed everything up to a log counter.
  void moment(long counter) {
    moment = Math.max(moment, counter);
  }

  /// Takes an answer; returns its request, or null when that is settled already.
  @Nullable Outgoing answered(Answer answer) {
    Outgoing outgoing = sent.remove(answer.getSequence());
    if (outgoing == null) return null;
    answersSinceFrame++;
    arrived.add(answer.getSequence());
    return outgoing;
  }

  /// Takes the requests that have failed since the last call.
  List<Failed> takeFailed() {
    if (failed.isEmpty()) return List.of();
    var taken = List.copyOf(failed);
    failed.clear();
    return taken;
  }

  private void fail(Outgoing outgoing, RuntimeException cause) {
    failed.add(new Failed(outgoing, cause));
  }

  /// Ends everything: all requests without an answer fail.
  void abandon(java.util.function.Supplier<RuntimeException> unsent) {
    for (Outgoing outgoing : sent.values()) {
      fail(outgoing, changesNothing(outgoing) ? unsent.get() : unknown());
    }
    for (Outgoing outgoing : queue) fail(outgoing, unsent.get());
    sent.clear();
    queue.clear();
    due.clear();
  }

  /// Returns the refusal of a request when there is no room.
  LimitExceeded full() {
    return new LimitExceeded(
        queuedMax + " calls wait already (queuedCallsMax); make fewer at once");
  }
}
