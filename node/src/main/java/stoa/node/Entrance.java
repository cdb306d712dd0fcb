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
import org.jspecify.annotations.Nullable;

/// Admits clients with one of the right tokens, and remembers their address and token. Thread-safe.
final class Entrance implements ServerInterceptor {
  /// The address of a client.
  static final Context.Key<SocketAddress> PEER = Context.key("peer");

  // Which of the tokens a client sent, from 1.
  private static final Context.Key<Integer> TOKEN = Context.key("token");

  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

  private final Arrivals arrivals;
  private final Tokens expected;
  private final WrongTokens wrong;

  /// Creates it.
  ///
  /// @param arrivals learns of connections on which calls begin
  /// @param expected the tokens of which clients must send one
  /// @param wrong slows down those who try tokens
  Entrance(Arrivals arrivals, Tokens expected, WrongTokens wrong) {
    this.arrivals = arrivals;
    this.expected = expected;
    this.wrong = wrong;
  }

  /// Returns which of the tokens the client of the current call sent, from 1; 0 for none.
  static int token() {
    Integer told = TOKEN.get();
    return told == null ? 0 : told;
  }

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    SocketAddress peer = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    Context context = Context.current();
    if (!expected.isEmpty()) {
      String address = host(peer);
      if (!wrong.mayTry(address)) {
        refuse(
            call,
            Status.UNAVAILABLE,
            "wrong tokens come from " + address + ", so that none is looked at; try again soon");
        return new ServerCall.Listener<>() {};
      }
      String told = headers.get(AUTHORIZATION);
      int token = expected.find(told);
      if (token == 0) {
        wrong.refuse(
            address,
            () ->
                refuse(
                    call,
                    Status.UNAUTHENTICATED,
                    "the token is wrong or missing; use that of the server's --token-file"));
        return new ServerCall.Listener<>() {};
      }
      context = context.withValue(TOKEN, token);
    }
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
