package stoa.links;

import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.CallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import stoa.TreeMembership;
import stoa.Unavailable;
import stoa.base.NativeCode;
import stoa.migration.core.NodeId;

/// The port of this process for other processes of the tree, when it may be an inner node, and its
/// connections to them. Thread-safe.
public final class PeerServer implements AutoCloseable {
  private static final int PART_BYTES_MAX = Pipe.PART_BYTES_MAX + 1;
  private static final int CHANNELS_MAX = 64;
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final long END_MILLIS = 500;

  static {
    NativeCode.unlessAllowed(NettyChannelBuilder.class);
  }

  /// The place of one tree's nodes in this process.
  static final class Desk {
    private final String address;
    private final Tickets tickets = new Tickets();
    private volatile @Nullable TreeLinks links;

    private Desk(String address) {
      this.address = address;
    }

    /// Returns the address of the nodes.
    String address() {
      return address;
    }

    /// Returns the tickets of processes that may connect.
    Tickets tickets() {
      return tickets;
    }

    void serve(TreeLinks own) {
      links = own;
    }
  }

  private final @Nullable Path trusted;
  private final String place;
  private final @Nullable Server server;
  private final Map<String, Desk> desks = new ConcurrentHashMap<>();
  private final Map<String, ManagedChannel> channels = new ConcurrentHashMap<>();

  private PeerServer(@Nullable Path trusted) {
    this.trusted = trusted;
    server = null;
    place = NodeId.LEAF;
  }

  private PeerServer(TreeMembership.Inner inner, @Nullable Path trusted) {
    this.trusted = trusted;
    String host = inner.host();
    int port = inner.port();
    Path certificate = inner.certificate();
    Path key = inner.key();
    var service =
        ServerServiceDefinition.builder("stoa.Tree")
            .addMethod(Pipe.METHOD, ServerCalls.asyncBidiStreamingCall(this::take))
            .build();
    try {
      var builder =
          NettyServerBuilder.forAddress(new InetSocketAddress(host, port))
              .directExecutor()
              .maxInboundMessageSize(PART_BYTES_MAX)
              .maxConcurrentCallsPerConnection(64)
              .addService(service);
      if (certificate != null && key != null) {
        builder.sslContext(GrpcSslContexts.forServer(certificate.toFile(), key.toFile()).build());
      }
      server = builder.build().start();
    } catch (SSLException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "the certificate " + certificate + " cannot be used: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new Unavailable(
          "nothing can listen on " + host + ":" + port + ": " + e.getMessage(), e);
    }
    place = "tcp://" + bracketed(host) + ":" + server.getPort() + "/";
  }

  /// Returns the server of a process to which none connects.
  ///
  /// @param trusted the certificate that authenticates others; null without encryption
  public static PeerServer leaf(@Nullable Path trusted) {
    return new PeerServer(trusted);
  }

  /// Returns the server of a process to which others connect.
  ///
  /// @param trusted the certificate that authenticates others; null without encryption
  /// @throws Unavailable when the address is not available
  /// @throws IllegalArgumentException when a certificate is unusable
  public static PeerServer inner(TreeMembership.Inner inner, @Nullable Path trusted) {
    return new PeerServer(inner, trusted);
  }

  private static String bracketed(String host) {
    return host.indexOf(':') >= 0 && !host.startsWith("[") ? "[" + host + "]" : host;
  }

  /// Unique among all processes, past and future.
  private static String token() {
    byte[] random = new byte[8];
    RANDOM.nextBytes(random);
    return HexFormat.of().formatHex(random);
  }

  /// Opens a place for the nodes of a tree.
  Desk open() {
    var desk = new Desk(place + token());
    desks.put(desk.address, desk);
    return desk;
  }

  /// Closes one.
  void close(Desk desk) {
    desks.remove(desk.address);
  }

  private StreamObserver<byte[]> take(StreamObserver<byte[]> out) {
    var pipe = new Pipe(new Entering());
    pipe.out((CallStreamObserver<byte[]>) out);
    return pipe;
  }

  /// The receiver of a stream's frames: a node, when the first frame has named it.
  private final class Entering implements Pipe.Listener {
    private volatile Pipe.@Nullable Listener inside;

    @Override
    public void frame(Pipe pipe, Frame frame) {
      var known = inside;
      if (known != null) {
        known.frame(pipe, frame);
        return;
      }
      if (!(frame instanceof Frame.Greeting(var from, var to, var ticket))) {
        pipe.cut(Status.INVALID_ARGUMENT.withDescription("no greeting of a node: " + frame));
        return;
      }
      Desk desk = desks.get(to.address());
      var own = desk == null ? null : desk.links;
      if (desk == null || own == null) {
        pipe.cut(Status.NOT_FOUND.withDescription(to + " is not here"));
      } else if (!desk.tickets.isGood(ticket, from.address())) {
        pipe.cut(Status.UNAUTHENTICATED.withDescription("the ticket of " + from + " is not good"));
      } else {
        inside = own.accept(pipe, from, to);
      }
    }

    @Override
    public void beat(Pipe pipe, Frame.Beat beat, boolean first) {
      var known = inside;
      if (known != null) known.beat(pipe, beat, first);
    }

    @Override
    public void over(Pipe pipe, Status why) {
      var known = inside;
      if (known != null) known.over(pipe, why);
    }
  }

  /// Returns a channel to another process; null when that cannot be reached.
  @Nullable Channel to(String other) {
    String place = place(other);
    if (place == null) return null;
    if (channels.size() > CHANNELS_MAX) {
      channels
          .values()
          .removeIf(channel -> {
            boolean idle = channel.getState(false) != io.grpc.ConnectivityState.READY;
            if (idle) channel.shutdown();
            return idle;
          });
    }
    return channels.computeIfAbsent(
        place,
        target ->
            secured(NettyChannelBuilder.forTarget("dns:///" + target))
                .disableRetry()
                .directExecutor()
                .idleTimeout(1, TimeUnit.MINUTES)
                .maxInboundMessageSize(PART_BYTES_MAX)
                .build());
  }

  private NettyChannelBuilder secured(NettyChannelBuilder builder) {
    Path known = trusted;
    if (known == null) return builder.usePlaintext();
    try {
      return builder.sslContext(GrpcSslContexts.forClient().trustManager(known.toFile()).build());
    } catch (SSLException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "the certificate " + known + " cannot be used: " + e.getMessage(), e);
    }
  }

  private static @Nullable String place(String other) {
    String scheme = "tcp://";
    int end = other.lastIndexOf('/');
    boolean reachable = other.startsWith(scheme) && end > scheme.length();
    return reachable ? other.substring(scheme.length(), end) : null;
  }

  @Override
  public void close() {
    channels.values().forEach(ManagedChannel::shutdown);
    Server own = server;
    if (own != null) own.shutdown();
    try {
      for (var channel : channels.values()) {
        if (!channel.awaitTermination(END_MILLIS, TimeUnit.MILLISECONDS)) channel.shutdownNow();
      }
      if (own != null && !own.awaitTermination(END_MILLIS, TimeUnit.MILLISECONDS)) {
        own.shutdownNow();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
