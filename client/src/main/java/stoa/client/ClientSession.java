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
import stoa.wire.Frames;
import stoa.wire.proto.Answer;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.ClientHello;
import stoa.wire.proto.Open;
import stoa.wire.proto.Request;
import stoa.wire.proto.ServerHello;

/// Decides what a client sends, and what becomes of its requests when connections are cut and
/// servers start again (CRESON, section III-D).
///
/// One owner at a time calls it. It does no I/O, reads no clock and starts no thread: the same
/// events always give the same frames.
final class ClientSession {
  /*
   * A request waits in `queue`, gets its sequence when it is first put into a frame, and is in `sent`
   * until its answer is there. On a new connection all of `sent` is due again, in order, with the
   * same sequences; the server answers what it did from what it remembers. A server that was started
   * again remembers nothing but that the session exists: that is another *life* of the session. Then
   * what changes the log is due again with the moment that was known when it was first sent, so that
   * the server can look for it behind that; what reads is due again; of anything else nobody knows.
   *
   * Invariants:
   * (1) Sequences of one session are given from 1, without gaps, in the order of first sending.
   * (2) sent holds them in ascending order; what is below its first key was answered.
   * (3) A request that was never in a frame was certainly not executed.
   * (4) A container is opened in a life of the session before the first request that names it there,
   *     also where both are sent again; and anew before the first one behind a refusal.
   * (5) Requests of a scope that was begun in an earlier life fail, and are not sent.
   */
  /// What one request takes in a frame beside the bytes that it carries.
  private static final int OVERHEAD_BYTES = 96;

  /// How many answers are not acknowledged by a frame of their own.
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

  /// Which process of the server held the session last.
  private long epoch;

  private int requestsMax = 1;
  private int answersSinceFrame;

  /// How many bytes the next frame gathers.
  private int bytesAim = Frames.BYTES_FIRST;

  private boolean connected;
  private boolean draining;

  /// A request that came to nothing.
  ///
  /// @param outgoing the request
  /// @param cause why
  record Failed(Outgoing outgoing, RuntimeException cause) {}

  /// @param queuedMax how many requests wait for their first frame
  ClientSession(int queuedMax) {
    this.queuedMax = queuedMax;
  }

  // ---- requests

  /// Whether another request may be queued.
  boolean hasRoom() {
    return queue.size() < queuedMax;
  }

  /// How many requests are queued.
  int waiting() {
    return queue.size();
  }

  /// Queues a request. Those of the client itself may exceed the bound: there are few.
  void submit(Outgoing outgoing) {
    queue.add(outgoing);
  }

  /// A request is no longer waited for: why, as far as it is known.
  ///
  /// @param waited how long, for the message
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

  /// Whether a request changes nothing, or only what a commit makes durable later: nothing can be
  /// unknown about it.
  private static boolean changesNothing(Outgoing outgoing) {
    boolean begun = outgoing.scope() != null && !commits(outgoing.request());
    return begun || outgoing.recovery() == Outgoing.Recovery.READ;
  }

  /// How many requests are not answered.
  int underWay() {
    return queue.size() + sent.size();
  }

  /// What the server calls it; 0 before it is open.
  long id() {
    return session;
  }

  /// Which life of the session at the server this is, from 1.
  int life() {
    return life;
  }

  // ---- connections

  /// What a new connection begins with.
  ClientHello hello() {
    return ClientHello.newBuilder().setProtocol(1).setSession(session).setSecret(secret).build();
  }

  /// A connection is there.
  void connected(ServerHello hello) {
    connected = true;
    draining = false;
    bytesAim = Frames.BYTES_FIRST;
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
      // What is looked for has kept its sequence, below that of the opening that it needs.
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
        "the server was started again, or ended the session, while the call was under way; look"
            + " whether it was executed before you make it again");
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
        || (request.hasBlob() && request.getBlob().getOperation() == RemoteBlobs.COMMIT);
  }

  /// The connection is gone.
  void disconnected() {
    connected = false;
    due.clear();
  }

  /// The server does not know the session any more: the next connection opens another.
  void ended() {
    session = 0;
    secret = com.google.protobuf.ByteString.EMPTY;
  }

  /// The server wants no more requests on this connection.
  void draining() {
    draining = true;
  }

  /// Whether the server has answered all and wants no more.
  boolean isDrained() {
    return draining && sent.isEmpty();
  }

  // ---- frames

  /// The next frame to send, null when there is nothing to say now.
  @Nullable ClientFrame nextFrame() {
    return nextFrame(UNACKNOWLEDGED_MAX);
  }

  /// A frame that acknowledges what has arrived, null when nothing has.
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
      // One that was given up is sent again, too: only an answer lets the server forget its line.
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
      // What refused it once, such as a limit, need not do so any more.
      if (container != null && (container.openedIn != life || container.refusal != null)) {
        container.openedIn = life;
        add(frame, opening(container));
        bytes += OVERHEAD_BYTES + container.key().name().length;
      }
      add(frame, next);
      bytes += size;
    }
    if (frame == null) {
      if (answersSinceFrame < unacknowledgedMax) return null;
      frame = ClientFrame.newBuilder();
    } else if (!due.isEmpty() || !queue.isEmpty()) {
      bytesAim = Frames.growing(bytesAim);
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
        // It is opened once more where it is used.
      }
    });
    return opening;
  }

  // ---- answers

  /// The server has committed everything up to a log counter.
  void moment(long counter) {
    moment = Math.max(moment, counter);
  }

  /// An answer has arrived: whose, null when that is settled already.
  @Nullable Outgoing answered(Answer answer) {
    Outgoing outgoing = sent.remove(answer.getSequence());
    if (outgoing == null) return null;
    answersSinceFrame++;
    arrived.add(answer.getSequence());
    return outgoing;
  }

  /// Takes what has come to nothing since the last time.
  List<Failed> takeFailed() {
    if (failed.isEmpty()) return List.of();
    var taken = List.copyOf(failed);
    failed.clear();
    return taken;
  }

  private void fail(Outgoing outgoing, RuntimeException cause) {
    failed.add(new Failed(outgoing, cause));
  }

  /// All is over: what was not answered fails.
  void abandon(java.util.function.Supplier<RuntimeException> unsent) {
    for (Outgoing outgoing : sent.values()) {
      fail(outgoing, changesNothing(outgoing) ? unsent.get() : unknown());
    }
    for (Outgoing outgoing : queue) fail(outgoing, unsent.get());
    sent.clear();
    queue.clear();
    due.clear();
  }

  /// Refuses a request for which there is no room.
  LimitExceeded full() {
    return new LimitExceeded(
        queuedMax + " calls wait already (queuedCallsMax); make fewer at once");
  }
}
