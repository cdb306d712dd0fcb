package stoa.node;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import stoa.node.access.Access;
import stoa.node.access.Caller;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.Stream;
import stoa.transport.StreamAcceptor;
import stoa.wire.Channels;
import stoa.wire.Rpc;

/// Admits clients with a known proof, and the requests that their roles allow. Thread-safe.
///
/// It decides on each method here, and [Requests] decides on the requests of a connection; both by
/// [Needs].
final class Entrance implements StreamAcceptor {
  /// The server behind the entrance. It must not wait.
  interface Hall {
    /// Begins a conversation.
    Receiver converse(Stream stream, Caller caller);

    /// Begins a stream of the tree.
    Receiver migrate(Stream stream);

    /// Begins a question.
    ///
    /// @return the receiver of its messages
    MessageReceiver ask(Rpc rpc, AuditedAnswer out);
  }

  /// Hears a question, one message after the other. It must not wait.
  interface MessageReceiver {
    /// Takes a message.
    void part(Message part);

    /// Notes that the client has sent everything.
    default void whole() {}

    /// Notes that the client waits for no answer any more.
    default void gone() {}
  }

  private final Access access;
  private final Audit audit;
  private final Hall hall;

  /// Creates it.
  ///
  /// @param audit learns of the commands of operators
  /// @param hall takes what is admitted
  Entrance(Access access, Audit audit, Hall hall) {
    this.access = access;
    this.audit = audit;
    this.hall = hall;
  }

  @Override
  public Receiver begin(Stream stream) {
    String address = host(stream.peer().remote());
    Rpc rpc = Rpc.of(stream.method());
    if (rpc == null) {
      return refused(stream, Status.Code.UNIMPLEMENTED, "there is no such method");
    }
    boolean isOpen = access.identities().isOpen();
    if (!isOpen && !access.refusals().mayTry(address)) {
      return refused(
          stream,
          Status.Code.UNAVAILABLE,
          "wrong tokens come from " + address + ", so that none is looked at; try again soon");
    }
    Caller caller =
        access.caller(stream.headers().get(Channels.AUTHORIZATION), stream.peer().certificate());
    if (caller == null) {
      access
          .refusals()
          .unproved(
              address, () -> stream.end(Status.of(Status.Code.UNAUTHENTICATED, access.remedy())));
      return new Outside();
    }
    if (rpc == Rpc.CONVERSE) return hall.converse(stream, caller);
    var noted = new AuditedAnswer(stream, caller, address, audit);
    if (rpc != Rpc.TREE) return new Question(stream, rpc, caller, noted, access, hall);
    String refusal = caller.permit(Needs.ofTree()).refusal();
    if (refusal == null) return hall.migrate(stream);
    forbid(caller, refusal, noted, access);
    return new Outside();
  }

  private static Receiver refused(Stream stream, Status.Code code, String reason) {
    stream.end(Status.of(code, reason));
    return new Outside();
  }

  /// Hears nothing of a stream that is refused, or is about to be.
  private record Outside() implements Receiver {
    @Override
    public void message(byte[] message) {}

    @Override
    public void over(Status status) {}
  }

  private static void forbid(Caller caller, String why, AuditedAnswer out, Access access) {
    var refusals = access.refusals();
    String source = "identity " + caller.name();
    if (refusals.mayTry(source)) {
      refusals.forbidden(source, why, () -> out.refuse(Status.Code.PERMISSION_DENIED, why));
      return;
    }
    out.refuse(
        Status.Code.UNAVAILABLE, "many requests of " + caller + " are refused; try again soon");
  }

  /// Passes on the messages of a question when the roles of its client allow the first one.
  private static final class Question implements Receiver {
    private final Stream stream;
    private final Rpc rpc;
    private final Caller caller;
    private final AuditedAnswer out;
    private final Access access;
    private final Hall hall;
    private @Nullable MessageReceiver asked;
    private boolean isRefused;

    Question(Stream stream, Rpc rpc, Caller caller, AuditedAnswer out, Access access, Hall hall) {
      this.stream = stream;
      this.rpc = rpc;
      this.caller = caller;
      this.out = out;
      this.access = access;
      this.hall = hall;
      stream.request(1);
    }

    @Override
    public void message(byte[] bytes) {
      if (isRefused) return;
      Message message;
      try {
        message = rpc.read(bytes);
      } catch (InvalidProtocolBufferException none) {
        isRefused = true;
        if (asked != null) asked.gone();
        out.refuse(Status.Code.INVALID_ARGUMENT, "a message cannot be read");
        return;
      }
      MessageReceiver known = asked;
      if (known == null) {
        String refusal = caller.permit(Needs.of(rpc, message)).refusal();
        if (refusal != null) {
          isRefused = true;
          forbid(caller, refusal, out, access);
          return;
        }
        out.note(rpc, message);
        known = hall.ask(rpc, out);
        asked = known;
      }
      known.part(message);
      if (rpc == Rpc.DEPLOY) stream.request(1);
    }

    @Override
    public void finished() {
      if (isRefused) return;
      if (asked != null) asked.whole();
      else out.refuse(Status.Code.INVALID_ARGUMENT, "nothing was asked");
    }

    @Override
    public void over(Status status) {
      if (asked != null) asked.gone();
    }
  }

  private static String host(@Nullable InetSocketAddress peer) {
    return peer == null ? "an unknown address" : peer.getAddress().getHostAddress();
  }
}
