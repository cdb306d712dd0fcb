package stoa.node;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;

/// Admits clients with the right token, and remembers their address. Thread-safe.
final class Entrance implements ServerInterceptor {
  /// The address of a client.
  static final Context.Key<SocketAddress> PEER = Context.key("peer");

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final Arrivals arrivals;
  private final byte @Nullable [] expected;
  private final WrongTokens wrong = new WrongTokens();

  /// Creates it.
  ///
  /// @param arrivals learns of connections on which calls begin
  /// @param token the token that clients must send; null for none
  Entrance(Arrivals arrivals, @Nullable String token) {
    this.arrivals = arrivals;
    expected = token == null ? null : ("Bearer " + token).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    SocketAddress peer = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    byte[] known = expected;
    if (known != null) {
      String address = host(peer);
      if (!wrong.mayTry(address)) {
        refuse(
            call,
            Status.UNAVAILABLE,
            "wrong tokens come from " + address + ", so that none is looked at; try again soon");
        return new ServerCall.Listener<>() {};
      }
      String told = headers.get(AUTHORIZATION);
      byte[] bytes = told == null ? new byte[0] : told.getBytes(StandardCharsets.UTF_8);
      if (!MessageDigest.isEqual(known, bytes)) {
        wrong.refuse(
            address,
            () ->
                refuse(
                    call,
                    Status.UNAUTHENTICATED,
                    "the token is wrong or missing; use that of the server's --token-file"));
        return new ServerCall.Listener<>() {};
      }
    }
    Context context = Context.current();
    if (peer != null) {
      arrivals.leave(peer);
      context = context.withValue(PEER, peer);
    }
    return Contexts.interceptCall(context, call, headers, next);
  }

  private static void refuse(ServerCall<?, ?> call, Status status, String reason) {
    call.close(status.withDescription(reason), new Metadata());
  }

  private static String host(@Nullable SocketAddress peer) {
    if (peer instanceof InetSocketAddress address) return address.getAddress().getHostAddress();
    return String.valueOf(peer);
  }
}
