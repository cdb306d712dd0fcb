package stoa.links;

import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;
import stoa.Locality;

/// Records the locality of the other side of each stream, as this side sees it: its host, which has
/// one name for all processes of this machine. Stateless.
final class LocalityInterceptor implements ServerInterceptor {
  private static final Context.Key<Locality> LOCALITY =
      Context.keyWithDefault("locality", Locality.UNKNOWN);
  private static final Locality HERE = Locality.of("localhost");

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    Attributes attributes = call.getAttributes();
    InetAddress there = host(attributes, Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
    InetAddress here = host(attributes, Grpc.TRANSPORT_ATTR_LOCAL_ADDR);
    Context context = Context.current();
    if (there != null) context = context.withValue(LOCALITY, locality(there, here));
    return Contexts.interceptCall(context, call, headers, next);
  }

  private static @Nullable InetAddress host(
      Attributes attributes, Attributes.Key<SocketAddress> which) {
    return attributes.get(which) instanceof InetSocketAddress address ? address.getAddress() : null;
  }

  /// Returns the locality of a host.
  ///
  /// @param here the address at which it reaches this side
  static Locality locality(InetAddress host, @Nullable InetAddress here) {
    if (host.isLoopbackAddress() || host.equals(here)) return HERE;
    String address = host.getHostAddress();
    int zone = address.indexOf('%'); // which this machine knows alone
    return Locality.of(zone < 0 ? address : address.substring(0, zone));
  }

  /// Returns the locality of the other side of the stream that begins on this thread.
  static Locality current() {
    return LOCALITY.get();
  }
}
