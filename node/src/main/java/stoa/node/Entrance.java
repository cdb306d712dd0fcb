package stoa.node;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/// Lets in who knows the token, and remembers who it is. Immutable.
final class Entrance implements ServerInterceptor {
  /// The address of a client.
  static final Context.Key<SocketAddress> PEER = Context.key("peer");

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final Arrivals arrivals;
  private final byte @Nullable [] expected;

  /// @param arrivals is told of connections on which calls begin
  /// @param token what clients must tell; null for nothing
  Entrance(Arrivals arrivals, @Nullable String token) {
    this.arrivals = arrivals;
    expected = token == null ? null : ("Bearer " + token).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    byte[] known = expected;
    if (known != null) {
      String told = headers.get(AUTHORIZATION);
      byte[] bytes = told == null ? new byte[0] : told.getBytes(StandardCharsets.UTF_8);
      if (!MessageDigest.isEqual(known, bytes)) {
        call.close(
            Status.UNAUTHENTICATED.withDescription(
                "the token is wrong or missing; use that of the server's --token-file"),
            new Metadata());
        return new ServerCall.Listener<>() {};
      }
    }
    SocketAddress peer = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    Context context = Context.current();
    if (peer != null) {
      arrivals.leave(peer);
      context = context.withValue(PEER, peer);
    }
    return Contexts.interceptCall(context, call, headers, next);
  }
}
