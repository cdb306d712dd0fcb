package stoa.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import stoa.Security;
import stoa.wire.proto.StoreGrpc;
import stoa.wire.proto.WhereRequest;
import stoa.wire.proto.Whereabouts;

/// Makes channels to servers. Thread-safe.
final class Channels {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final int FRAME_BYTES_MAX = 8 << 20;
  private static final int WINDOW_BYTES = 1 << 20;
  private static final long KEEPALIVE_SECONDS = 20;
  private static final long SILENCE_SECONDS = 10;

  private final Security security;

  Channels(Security security) {
    this.security = security;
  }

  /// A channel that connects when it is first used. Its events come on the thread that reads.
  ///
  /// @throws IllegalArgumentException when the certificate cannot be used
  ManagedChannel to(Addresses.Address address) {
    var builder =
        NettyChannelBuilder.forAddress(address.host(), address.port())
            .directExecutor()
            .disableRetry()
            .maxInboundMessageSize(FRAME_BYTES_MAX)
            .flowControlWindow(WINDOW_BYTES)
            .keepAliveTime(KEEPALIVE_SECONDS, TimeUnit.SECONDS)
            .keepAliveTimeout(SILENCE_SECONDS, TimeUnit.SECONDS);
    Path certificate = security.certificate();
    if (certificate == null) {
      builder.usePlaintext();
    } else {
      try {
        builder.sslContext(GrpcSslContexts.forClient().trustManager(certificate.toFile()).build());
      } catch (SSLException | IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "the certificate " + certificate + " cannot be used: " + e.getMessage(), e);
      }
    }
    String token = security.token();
    if (token != null) builder.intercept(new Showing(token));
    return builder.build();
  }

  /// Asks a server which one has the store; null when it does not say so in time.
  @Nullable Whereabouts whereabouts(Addresses.Address address, long timeMillis) {
    ManagedChannel channel = to(address);
    try {
      return StoreGrpc.newBlockingStub(channel)
          .withDeadlineAfter(timeMillis, TimeUnit.MILLISECONDS)
          .where(WhereRequest.getDefaultInstance());
    } catch (StatusRuntimeException silent) {
      return null;
    } finally {
      channel.shutdownNow();
    }
  }

  /// Shows the token with each call.
  private record Showing(String token) implements ClientInterceptor {
    @Override
    public <A, B> ClientCall<A, B> interceptCall(
        MethodDescriptor<A, B> method, CallOptions options, Channel next) {
      return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<B> listener, Metadata headers) {
          headers.put(AUTHORIZATION, "Bearer " + token);
          super.start(listener, headers);
        }
      };
    }

    @Override
    public String toString() {
      return "shows a token";
    }
  }

  /// Why a server refused the conversation, when another attempt cannot help; null otherwise.
  static @Nullable String refusal(io.grpc.Status status) {
    return switch (status.getCode()) {
      case UNAUTHENTICATED, PERMISSION_DENIED ->
          "the server refuses this client: "
              + status.getDescription()
              + "; give its token in StoaConfig.withSecurity";
      case UNIMPLEMENTED -> "what listens there is no server of Stoa: " + status.getDescription();
      default -> null;
    };
  }
}
