package stoa.node;

import com.google.protobuf.InvalidProtocolBufferException;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import stoa.node.access.Caller;
import stoa.node.access.Role;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.transport.Stream;
import stoa.wire.FrameLimits;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.ClientHello;
import stoa.wire.proto.Request;
import stoa.wire.proto.ServerFrame;
import stoa.wire.proto.ServerHello;

/// One connection of a client. The reading thread delivers its frames one at a time; the thread
/// that has an answer sends it.
final class ClientConnection implements Receiver {
  /*
   * `pending` counts what there may be to send since no thread was sending. The thread that raises
   * it from 0 sends until it is 0 again, or hands that to a sender. So one thread at a time uses
   * `out` for frames, and to end the connection.
   *
   * Reading: after each frame this asks for the next one, unless too much is in progress; then the
   * sender asks when that has become less.
   */
  private final ServedGroups servedGroups;
  private final Stream out;
  private final Executor senders;
  private final String peer;
  private final Caller caller;
  private final AtomicInteger pending = new AtomicInteger();
  private final Runnable sending = this::sendNow;
  private volatile @Nullable Seat seat;
  private volatile boolean over;

  // How this side ends the connection; the sender tells the client.
  private final AtomicReference<@Nullable End> end = new AtomicReference<>();

  // Used by the sender.
  private boolean saidHello;
  private boolean saidDraining;
  private int saidServers;
  private boolean saidEnd;
  private int bytesAim = FrameLimits.BYTES_FIRST;

  // Guarded by this.
  private boolean paused;

  /// The client's place.
  ///
  /// @param served the part of its group that this server has
  /// @param session its session there
  private record Seat(ServedGroup served, Session session) {}

  /// How the connection ends.
  ///
  /// @param word the last message; null for none
  private record End(Status status, @Nullable ServerFrame word) {}

  ClientConnection(ServedGroups servedGroups, Stream out, Caller caller) {
    this.servedGroups = servedGroups;
    this.out = out;
    this.senders = servedGroups.threads().senders();
    this.peer = Objects.toString(out.peer().remote(), "");
    this.caller = caller;
  }

  /// Returns where the client comes from. The address of its machine is its peer without the port.
  private Origin origin() {
    int colon = peer.lastIndexOf(':');
    String address = colon < 0 ? peer : peer.substring(peer.indexOf('/') + 1, colon);
    return new Origin(address, caller.name());
  }

  String peer() {
    return peer;
  }

  void begin() {
    servedGroups.strangers().enter(this, System.nanoTime());
    out.request(1);
  }

  // ---- frames of the client

  @Override
  public void message(byte[] message) {
    if (over) return;
    ClientFrame frame;
    try {
      frame = ClientFrame.parseFrom(message);
    } catch (InvalidProtocolBufferException none) {
      refuse(Status.Code.INVALID_ARGUMENT, "a frame is no message");
      return;
    }
    Seat known = seat;
    if (known == null) {
      servedGroups.strangers().leave(this);
      hello(frame);
      return;
    }
    if (frame.hasHello()) {
      refuse(Status.Code.INVALID_ARGUMENT, "a later frame says hello");
      return;
    }
    take(known, frame);
  }

  private void hello(ClientFrame frame) {
    ClientHello hello = frame.getHello();
    if (!frame.hasHello()) {
      refuse(Status.Code.INVALID_ARGUMENT, "the first frame says no hello");
      return;
    }
    if (hello.getProtocol() != FrameLimits.PROTOCOL) {
      refuse(
          Status.Code.FAILED_PRECONDITION,
          "the client speaks protocol "
              + hello.getProtocol()
              + ", this server "
              + FrameLimits.PROTOCOL
              + "; use the same version of both");
      return;
    }
    int group = hello.getGroup();
    if (!servedGroups.has(group)) {
      refuse(Status.Code.FAILED_PRECONDITION, servedGroups.hasNot(group));
      return;
    }
    Throwable failure = servedGroups.failure();
    if (failure != null) {
      refuse(Status.Code.UNAVAILABLE, FrameLimits.FAILED + ": " + failure.getMessage());
      return;
    }
    ServedGroup served = servedGroups.of(group);
    if (served == null) redirect(hello, frame);
    else served.background(() -> greet(served, hello, frame));
  }

  /// Tells a client which server leads its group, as soon as that is known. Meanwhile this server
  /// itself may have become the leader.
  private void redirect(ClientHello hello, ClientFrame frame) {
    int group = hello.getGroup();
    var _ =
        servedGroups
            .whereabouts(group)
            .whenComplete((whereabouts, late) -> {
              ServedGroup served = servedGroups.of(group);
              if (late != null) {
                refuse(Status.Code.UNAVAILABLE, ServedGroups.NOBODY);
              } else if (served != null) {
                served.background(() -> greet(served, hello, frame));
              } else {
                lost();
                end(Status.OK, ServerFrame.newBuilder().setElsewhere(whereabouts).build());
              }
            });
  }

  /// Finds or opens the session; may wait for the disk.
  private void greet(ServedGroup served, ClientHello hello, ClientFrame frame) {
    try {
      Session found = served.registry().session(hello, origin());
      ClientConnection before = found.attach(this);
      if (before != null)
        before.refuse(Status.Code.ABORTED, "another connection continues the session");
      var taken = new Seat(served, found);
      seat = taken;
      if (over) { // it was lost meanwhile, when nobody knew whose it was
        lost();
        return;
      }
      if (served.isOver()) { // and may have missed this one
        refuse(Status.Code.UNAVAILABLE, "another server has the store");
        return;
      }
      sendSoon();
      take(taken, frame);
      found.sendEvents();
    } catch (StatusException refused) {
      refuse(refused.status());
    } catch (RuntimeException failed) {
      refuse(Status.Code.UNAVAILABLE, String.valueOf(failed.getMessage()));
    }
  }

  private void take(Seat at, ClientFrame frame) {
    Session known = at.session();
    ServedGroup served = at.served();
    if (endUnlessKnown()) return;
    if (known.isEnded()) {
      refuse(Status.Code.UNAVAILABLE, "session " + known.id() + " is about to end; ask again");
      return;
    }
    String refusal =
        known.take(
            this,
            frame,
            run -> {
              if (!run.isEmpty()) Readers.gather(served.service());
              for (Request request : run) served.requests().begin(known, request, caller);
            });
    if (refusal != null) {
      refuse(Status.Code.INVALID_ARGUMENT, refusal);
      return;
    }
    if (known.hasMore()) sendSoon();
    readOn(at);
  }

  private void readOn(Seat at) {
    synchronized (this) {
      paused = at.served().isFull(at.session());
      if (paused) return;
    }
    out.request(1);
  }

  @Override
  public void ready() {
    sendSoon();
  }

  @Override
  public void over(Status status) {
    lost();
  }

  @Override
  public void finished() {
    lost();
    end(Status.OK, null);
  }

  private void lost() {
    over = true;
    servedGroups.strangers().leave(this);
    Seat at = seat;
    if (at != null && at.session().detach(this, at.served().nowNanos())) {
      at.served().registry().lost(at.session());
    }
  }

  /// Returns whether another server has the store, or may have it: then nothing is sent here any
  /// more.
  boolean isOver() {
    Seat at = seat;
    return at != null && at.served().isOver();
  }

  /// Ends the connection when the client's identity has ended or was removed; it may come again
  /// with another proof.
  ///
  /// @return whether it has ended it
  boolean endUnlessKnown() {
    if (caller.isKnown()) return false;
    refuse(
        Status.Code.UNAVAILABLE,
        "the identity " + caller + " or its proof has ended or was removed");
    return true;
  }

  /// Ends the connection; the session lives on under its lease.
  void refuse(Status.Code code, String reason) {
    refuse(Status.of(code, reason));
  }

  private void refuse(Status why) {
    lost();
    end(why, null);
  }

  private void end(Status status, @Nullable ServerFrame word) {
    end.compareAndSet(null, new End(status, word));
    sendNow();
  }

  // ---- sending

  /// Sends everything waiting, on this thread, unless another one sends.
  void sendNow() {
    if (pending.getAndIncrement() == 0) send();
  }

  /// Makes a sender send everything waiting, unless a thread sends.
  void sendSoon() {
    if (pending.getAndIncrement() == 0) senders.execute(this::send);
  }

  /// Sends everything waiting when this thread has finished its present answers.
  ///
  /// @return false when this thread has only one answer
  boolean sendAfterwards() {
    Seat at = seat;
    return at != null && at.served().service().afterTurn(sending);
  }

  private void send() {
    int seen;
    do {
      seen = pending.get();
      try {
        sendAll();
      } catch (RuntimeException | Error broken) {
        refuse(Status.Code.UNAVAILABLE, String.valueOf(broken.getMessage()));
      }
      sayEnd();
    } while (pending.addAndGet(-seen) != 0);
  }

  private void sayEnd() {
    End last = end.get();
    if (last == null || saidEnd) return;
    saidEnd = true;
    if (last.word() != null) out.send(last.word().toByteArray());
    out.end(last.status());
  }

  private void sendAll() {
    Seat at = seat;
    if (at == null) return;
    Session known = at.session();
    ServedGroup served = at.served();
    while (!over && out.isReady()) {
      var frame = ServerFrame.newBuilder();
      boolean something = false;
      ServedGroups.Told servers = servedGroups.told();
      if (!saidHello) {
        saidHello = true;
        something = true;
        frame.setHello(hello(at));
      } else if (servers.number() != saidServers) {
        something = true;
        frame.addAllServers(servers.servers());
      }
      saidServers = servers.number();
      boolean draining = served.isDraining();
      if (draining && !saidDraining) {
        saidDraining = true;
        something = true;
        frame.setDraining(true);
      }
      if (!something && !known.hasMore()) break;
      known.takeAnswers(this, frame, bytesAim);
      frame.setMoment(served.service().moment());
      known.takeChanges(this, frame);
      if (frame.getAnswersCount() == 0) known.takeEvents(this, frame, bytesAim);
      if (known.connection() != this) break;
      out.send(frame.build().toByteArray());
      if (known.hasMore()) bytesAim = FrameLimits.growing(bytesAim);
    }
    if (over) return;
    if (known.isOverfull()) {
      refuse(
          Status.Code.RESOURCE_EXHAUSTED,
          "the client does not read, or does not acknowledge, what it is answered");
      return;
    }
    boolean resume;
    synchronized (this) {
      resume = paused && !served.isFull(known);
      if (resume) paused = false;
    }
    if (resume) out.request(1);
  }

  private ServerHello hello(Seat at) {
    Session known = at.session();
    ServedGroup served = at.served();
    ServerConfig config = served.config();
    var limits = served.service().limits();
    return ServerHello.newBuilder()
        .setProtocol(FrameLimits.PROTOCOL)
        .setSession(known.id())
        .setSecret(known.secret())
        .setRecovered(known.isRecovered())
        .setEpoch(served.service().owner())
        .setCallBytesMax(limits.callBytesMax())
        .setRequestsMax(config.requestsMax())
        .setContainersMax(config.containersMax())
        .setLeaseMillis((int) config.lease().toMillis())
        .setBlobBytesMax(limits.blobBytesMax())
        .setCallTimeMaxMillis(limits.callTimeMax().toMillis())
        .addAllServers(servedGroups.servers())
        .setGroups(servedGroups.groups())
        .setSpreadsStreams(true)
        .setClientClasses(config.clientClasses() && caller.hasSome(Role.DEPLOY))
        .build();
  }
}
