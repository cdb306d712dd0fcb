package stoa.node;

import io.grpc.netty.shaded.io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Path;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.objects.ObjectService;
import stoa.wire.Frames;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.ServerFrame;
import stoa.wire.proto.StoreGrpc;

/// A server of a store: listens, and serves clients until it is closed. Thread-safe.
public final class Server implements AutoCloseable {
  private static final int LEASE_TICK_MILLIS = 500;

  private final Node node;
  private final ObjectService service;
  private final ServerConfig config;
  private final io.grpc.Server server;
  private final ScheduledExecutorService leases;

  private Server(ServerConfig config, ObjectService service) throws IOException {
    this.config = config;
    this.service = service;
    this.node = new Node(config, service);
    var builder =
        NettyServerBuilder.forAddress(new InetSocketAddress(config.host(), config.port()))
            .directExecutor()
            .maxInboundMessageSize(Frames.BYTES_MAX)
            .maxInboundMetadataSize(Frames.HEADER_BYTES_MAX)
            .maxConcurrentCallsPerConnection(16)
            .flowControlWindow(4 << 20)
            .permitKeepAliveWithoutCalls(true)
            .permitKeepAliveTime(1, TimeUnit.SECONDS)
            .keepAliveTime(20, TimeUnit.SECONDS)
            .keepAliveTimeout(10, TimeUnit.SECONDS)
            .addService(new Conversing());
    Path certificate = config.certificate();
    Path key = config.key();
    if (certificate != null && key != null) {
      builder.sslContext(GrpcSslContexts.forServer(certificate.toFile(), key.toFile()).build());
    }
    builder.intercept(new Entrance(config.token()));
    try {
      server = builder.build().start();
    } catch (IOException | RuntimeException failed) {
      node.close();
      throw failed;
    }
    leases =
        Executors.newSingleThreadScheduledExecutor(task -> {
          var thread = new Thread(task, "stoa-leases");
          thread.setDaemon(true);
          return thread;
        });
    var _ =
        leases.scheduleWithFixedDelay(
            () -> node.background(node.registry()::expire),
            LEASE_TICK_MILLIS,
            LEASE_TICK_MILLIS,
            TimeUnit.MILLISECONDS);
  }

  /// Starts to serve a store, which is closed with the server.
  ///
  /// @throws IOException when the address cannot be listened on, or the certificate not be read
  public static Server start(ServerConfig config, ObjectService service) throws IOException {
    return new Server(config, service);
  }

  /// The port that it listens on.
  public int port() {
    return server.getPort();
  }

  /// Stops: takes no more requests, answers what is under way, tells its clients, and closes the
  /// store.
  @Override
  public void close() {
    node.drain();
    server.shutdown();
    leases.shutdownNow();
    long end = System.nanoTime() + config.drainTimeMax().toNanos();
    boolean interrupted = false;
    try {
      while (System.nanoTime() < end && !server.awaitTermination(20, TimeUnit.MILLISECONDS)) {
        if (node.isIdle()) break;
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    server.shutdownNow();
    try {
      if (!interrupted) server.awaitTermination(2, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    service.close();
    node.close();
    if (interrupted) Thread.currentThread().interrupt();
  }

  private final class Conversing extends StoreGrpc.StoreImplBase {
    @Override
    public StreamObserver<ClientFrame> converse(StreamObserver<ServerFrame> out) {
      @Nullable SocketAddress peer = Entrance.PEER.get();
      var conversation =
          new Conversation(
              node,
              (ServerCallStreamObserver<ServerFrame>) out,
              node.senders(),
              peer == null ? "" : peer.toString());
      conversation.begin();
      return conversation;
    }
  }
}
