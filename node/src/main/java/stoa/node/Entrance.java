package stoa.node;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.security.cert.X509Certificate;
import java.util.Objects;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;
import stoa.node.access.Access;
import stoa.node.access.Caller;

/// Admits clients with a known proof, and the requests that their roles allow. Thread-safe.
///
/// It decides on each method here, and [Requests] decides on the requests of a connection; both by
/// [Needs].
final class Entrance implements ServerInterceptor {
  /// The address of a client.
  static final Context.Key<SocketAddress> PEER = Context.key("peer");

  private static final Context.Key<Caller> CALLER = Context.key("caller");

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final Arrivals arrivals;
  private final Access access;
  private final Audit audit;

  /// Creates it.
  ///
  /// @param arrivals learns of connections on which calls begin
  /// @param audit learns of the commands of operators
  Entrance(Arrivals arrivals, Access access, Audit audit) {
    this.arrivals = arrivals;
    this.access = access;
    this.audit = audit;
  }

  /// Returns the client of the current call.
  static Caller caller() {
    return Objects.requireNonNull(CALLER.get(), "every call passes the entrance");
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    SocketAddress peer = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    String address = host(peer);
    Rpc rpc = Rpc.of(call.getMethodDescriptor().getFullMethodName());
    if (rpc == null) {
      refuse(call, Status.UNIMPLEMENTED, "there is no such method");
      return new ServerCall.Listener<>() {};
    }
    boolean isOpen = access.identities().isOpen();
    if (!isOpen && !access.refusals().mayTry(address)) {
      refuse(
          call,
          Status.UNAVAILABLE,
          "wrong tokens come from " + address + ", so that none is looked at; try again soon");
      return new ServerCall.Listener<>() {};
    }
    Caller caller = access.caller(headers.get(AUTHORIZATION), certificate(call));
    if (caller == null) {
      access
          .refusals()
          .unproved(address, () -> refuse(call, Status.UNAUTHENTICATED, access.remedy()));
      return new ServerCall.Listener<>() {};
    }
    Context context = Context.current().withValue(CALLER, caller);
    if (peer != null) {
      arrivals.leave(peer);
      context = context.withValue(PEER, peer);
    }
    if (rpc == Rpc.CONVERSE) return Contexts.interceptCall(context, call, headers, next);
    var noted = new Noted<>(call, caller, address, audit);
    return new Checked<>(
        Contexts.interceptCall(context, noted, headers, next), noted, rpc, caller, access);
  }

  /// Passes on the messages of a call when the roles of its client allow the first one.
  private static final class Checked<Q, A> extends SimpleForwardingServerCallListener<Q> {
    private final Noted<Q, A> call;
    private final Rpc rpc;
    private final Caller caller;
    private final Access access;
    private boolean isAllowed;
    private boolean isRefused;

    Checked(ServerCall.Listener<Q> next, Noted<Q, A> call, Rpc rpc, Caller caller, Access access) {
      super(next);
      this.call = call;
      this.rpc = rpc;
      this.caller = caller;
      this.access = access;
    }

    @Override
    public void onMessage(Q message) {
      if (isRefused) return;
      if (!isAllowed) {
        String refusal = caller.permit(Needs.of(rpc, message)).refusal();
        if (refusal != null) {
          isRefused = true;
          refuse(refusal);
          return;
        }
        isAllowed = true;
        call.note(rpc, message);
      }
      super.onMessage(message);
    }

    private void refuse(String why) {
      var refusals = access.refusals();
      String source = "identity " + caller.name();
      if (refusals.mayTry(source)) {
        refusals.forbidden(source, why, () -> Entrance.refuse(call, Status.PERMISSION_DENIED, why));
        return;
      }
      Entrance.refuse(
          call, Status.UNAVAILABLE, "many requests of " + caller + " are refused; try again soon");
    }

    @Override
    public void onHalfClose() {
      if (!isRefused) super.onHalfClose();
    }
  }

  private static void refuse(ServerCall<?, ?> call, Status status, String reason) {
    call.close(status.withDescription(reason), new Metadata());
  }

  /// Returns the certificate that the client has shown; null for none.
  private static @Nullable X509Certificate certificate(ServerCall<?, ?> call) {
    SSLSession session = call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION);
    return session == null ? null : certificate(session);
  }

  /// Returns the certificate that the other end of a connection has shown, and that the authorities
  /// have signed; null for none.
  static @Nullable X509Certificate certificate(SSLSession session) {
    try {
      var shown = session.getPeerCertificates();
      return shown.length > 0 && shown[0] instanceof X509Certificate first ? first : null;
    } catch (SSLPeerUnverifiedException none) {
      return null;
    }
  }

  private static String host(@Nullable SocketAddress peer) {
    if (peer instanceof InetSocketAddress address) return address.getAddress().getHostAddress();
    return String.valueOf(peer);
  }
}
