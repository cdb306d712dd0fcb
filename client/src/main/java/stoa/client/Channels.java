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
import io.grpc.netty.shaded.io.netty.channel.EventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.MultiThreadIoEventLoopGroup;
import io.grpc.netty.shaded.io.netty.channel.epoll.Epoll;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollIoHandler;
import io.grpc.netty.shaded.io.netty.channel.epoll.EpollSocketChannel;
import io.grpc.netty.shaded.io.netty.channel.nio.NioIoHandler;
import io.grpc.netty.shaded.io.netty.channel.socket.nio.NioSocketChannel;
import io.grpc.netty.shaded.io.netty.handler.ssl.SslContext;
import io.grpc.netty.shaded.io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.ConnectionSecurity;
import stoa.base.NativeCode;
import stoa.wire.proto.StoreGrpc;
import stoa.wire.proto.WhereRequest;
import stoa.wire.proto.Whereabouts;

/// Creates channels to servers, and owns the thread that reads and writes them. Thread-safe; its
/// owner closes it.
///
/// The thread ends after all channels: a channel without its thread cannot report its end, and gRPC
/// prints the failure.
final class Channels implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Channels.class);
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final int FRAME_BYTES_MAX = 8 << 20;
  private static final int WINDOW_BYTES = 1 << 20;
  private static final long KEEPALIVE_SECONDS = 20;
  private static final long SILENCE_SECONDS = 10;

  private static final long END_MILLIS = 1_000;

  // The time for a channel to end by itself.
  private static final long QUIET_MILLIS = 250;

  static {
    NativeCode.unlessAllowed(Epoll.class);
  }

  private final ConnectionSecurity security;
  private final EventLoopGroup loop;

  // The channels that may still be open. Guarded by itself.
  private final Set<ManagedChannel> open = new HashSet<>();

  private boolean closed; // guarded by open

  Channels(ConnectionSecurity security) {
    this.security = security;
    var threads = new DefaultThreadFactory("stoa-client-network", true);
    loop =
        new MultiThreadIoEventLoopGroup(
            1,
            threads,
            Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
  }

  /// Runs a task soon on the thread that reads and writes; does nothing after a close.
  void execute(Runnable task) {
    try {
      loop.execute(task);
    } catch (RejectedExecutionException closed) {
      // The channels send nothing any more.
    }
  }

  @Override
  public void close() {
    List<ManagedChannel> last;
    synchronized (open) {
      closed = true;
      last = List.copyOf(open);
      open.clear();
    }
    last.forEach(ManagedChannel::shutdown);
    if (!areOver(last, QUIET_MILLIS)) {
      last.forEach(ManagedChannel::shutdownNow);
      var _ = areOver(last, END_MILLIS);
    }
    var _ = loop.shutdownGracefully(0, END_MILLIS, TimeUnit.MILLISECONDS);
  }

  /// Waits until channels have ended; returns whether they have.
  private static boolean areOver(List<ManagedChannel> channels, long timeMillis) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeMillis);
    try {
      for (ManagedChannel channel : channels) {
        long left = Math.max(0, deadline - System.nanoTime());
        if (!channel.awaitTermination(left, TimeUnit.NANOSECONDS)) return false;
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /// Returns a channel that connects on its first use. Its events come on the thread that reads.
  /// After a close, the channel is shut down already.
  ///
  /// @throws IllegalArgumentException when the certificate is unusable
  ManagedChannel to(ServerUrl.Address address) {
    ManagedChannel made = made(address);
    synchronized (open) {
      open.removeIf(ManagedChannel::isTerminated);
      if (closed) return made.shutdownNow();
      open.add(made);
    }
    return made;
  }

  private ManagedChannel made(ServerUrl.Address address) {
    var builder =
        NettyChannelBuilder.forAddress(address.host(), address.port())
            .eventLoopGroup(loop)
            .channelType(Epoll.isAvailable() ? EpollSocketChannel.class : NioSocketChannel.class)
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
        builder.sslContext(tls(certificate));
      } catch (SSLException | IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "the certificate " + certificate + " cannot be used: " + e.getMessage(), e);
      }
    }
    String token = security.token();
    Path file = security.tokenFile();
    if (token != null || file != null) {
      builder.intercept(new Showing(token == null ? "" : token, file));
    }
    return builder.build();
  }

  private SslContext tls(Path trusted) throws SSLException {
    var tls = GrpcSslContexts.forClient().trustManager(trusted.toFile());
    Path own = security.ownCertificate();
    Path key = security.ownKey();
    if (own != null && key != null) tls.keyManager(own.toFile(), key.toFile());
    return tls.build();
  }

  /// Asks a server which server has a group's part of the store; returns null when it does not say
  /// so in time.
  @Nullable Whereabouts whereabouts(ServerUrl.Address address, int group, long timeMillis) {
    ManagedChannel channel = to(address);
    try {
      return StoreGrpc.newBlockingStub(channel)
          .withDeadlineAfter(timeMillis, TimeUnit.MILLISECONDS)
          .where(WhereRequest.newBuilder().setGroup(group).build());
    } catch (StatusRuntimeException | RejectedExecutionException silent) {
      return null;
    } finally {
      channel.shutdownNow();
    }
  }

  /// Adds the token to each call. Thread-safe.
  private static final class Showing implements ClientInterceptor {
    private final @Nullable Path file;
    private volatile String token;

    /// @param token the token, or what counts until the file is read
    /// @param file has the token; null for none
    Showing(String token, @Nullable Path file) {
      this.token = token;
      this.file = file;
    }

    private String token() {
      Path known = file;
      if (known == null) return token;
      try {
        token = Files.readString(known).strip().split("\\s", 2)[0];
      } catch (IOException unreadable) {
        LOG.warn("the token in {} cannot be read; the one of before counts", known, unreadable);
      }
      return token;
    }

    @Override
    public <A, B> ClientCall<A, B> interceptCall(
        MethodDescriptor<A, B> method, CallOptions options, Channel next) {
      return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<B> listener, Metadata headers) {
          headers.put(AUTHORIZATION, "Bearer " + token());
          super.start(listener, headers);
        }
      };
    }

    @Override
    public String toString() {
      return "shows a token";
    }
  }

  /// Returns why a server refused the conversation, when another attempt cannot help; null
  /// otherwise.
  static @Nullable String refusal(io.grpc.Status status) {
    return switch (status.getCode()) {
      case UNAUTHENTICATED, PERMISSION_DENIED ->
          "the server refuses this client: "
              + status.getDescription()
              + "; give its token in StoaConfig.withSecurity";
      case FAILED_PRECONDITION -> "the server refuses this client: " + status.getDescription();
      case UNIMPLEMENTED -> "what listens there is no server of Stoa: " + status.getDescription();
      default -> null;
    };
  }
}
