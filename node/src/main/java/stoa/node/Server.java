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
import stoa.objects.ObjectCall;
import stoa.objects.ObjectService;
import stoa.storage.DeviceStats;
import stoa.wire.Frames;
import stoa.wire.proto.CallStatus;
import stoa.wire.proto.CancelReply;
import stoa.wire.proto.CancelRequest;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.ServerFrame;
import stoa.wire.proto.ShardStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.StoreGrpc;

/// A server of a store: listens, and serves clients until it is closed. Thread-safe.
public final class Server implements AutoCloseable {
  private static final int LEASE_TICK_MILLIS = 500;
  private static final int SHOWN_MAX = 1_000;
  private static final int DRAIN_TICK_MILLIS = 20;
  private static final int IDLE_TICKS = 10;
  private static final String VERSION = "0.1.0";

  private final Node node;
  private final ObjectService service;
  private final ServerConfig config;
  private final io.grpc.Server server;
  private final ScheduledExecutorService leases;
  private final long startedNanos;

  private Server(ServerConfig config, ObjectService service) throws IOException {
    this.config = config;
    this.service = service;
    this.node = new Node(config, service);
    this.startedNanos = node.nowNanos();
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
            // Those that do not even begin a conversation.
            .handshakeTimeout(config.helloTimeMax().toMillis(), TimeUnit.MILLISECONDS)
            .maxConnectionIdle(config.helloTimeMax().toMillis(), TimeUnit.MILLISECONDS)
            .addService(Lenient.bind(new Conversing()));
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
            node::tick, LEASE_TICK_MILLIS, LEASE_TICK_MILLIS, TimeUnit.MILLISECONDS);
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
      int idle = 0;
      while (System.nanoTime() < end
          && !server.awaitTermination(DRAIN_TICK_MILLIS, TimeUnit.MILLISECONDS)) {
        // Clients that were told are given a moment to go by themselves.
        idle = node.isIdle() ? idle + 1 : 0;
        if (idle > IDLE_TICKS) break;
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

  /// Waits until it is closed.
  public void awaitClosed() throws InterruptedException {
    server.awaitTermination();
  }

  private final class Conversing extends StoreGrpc.StoreImplBase {
    @Override
    public void status(StatusRequest asked, StreamObserver<StatusReply> out) {
      node.background(() -> {
        var reply =
            StatusReply.newBuilder()
                .setVersion(VERSION)
                .setData(service.place())
                .setUpMillis(TimeUnit.NANOSECONDS.toMillis(node.nowNanos() - startedNanos))
                .setObjectsInMemory(service.residentKeys())
                .setCallsAnswered(node.answered().total())
                .setCallsPerSecond(node.answered().perSecond())
                .setSyncsPerSecond(node.syncs().perSecond());
        long moment = service.moment();
        for (DeviceStats device : service.devices()) {
          reply.addShards(
              ShardStatus.newBuilder()
                  .setShard(reply.getShardsCount())
                  .setLogBytes(device.logBytes())
                  .setCounter(moment));
        }
        node.registry().all().stream()
            .limit(SHOWN_MAX)
            .forEach(session -> reply.addSessions(session.status()));
        for (ObjectCall call : service.calls(SHOWN_MAX)) reply.addCalls(shown(call));
        out.onNext(reply.build());
        out.onCompleted();
      });
    }

    private CallStatus shown(ObjectCall call) {
      Session session = node.registry().find(call.session());
      return CallStatus.newBuilder()
          .setSession(call.session())
          .setPeer(session == null ? "" : session.peer())
          .setId(Long.toString(call.id()))
          .setObject(call.object())
          .setMethod(call.method())
          .setVersion(call.version())
          .setMillis(call.age().toMillis())
          .setRunning(call.progress() != ObjectCall.Progress.WAITING)
          .build();
    }

    @Override
    public void cancel(CancelRequest asked, StreamObserver<CancelReply> out) {
      node.background(() -> {
        var reply = CancelReply.newBuilder();
        try {
          reply.setCancelled(service.cancel(Long.parseLong(asked.getId())));
          if (!reply.getCancelled()) {
            reply.setWhy("no call " + asked.getId() + " is under way that can be cancelled");
          }
        } catch (NumberFormatException none) {
          reply.setWhy(asked.getId() + " is no call's number; ./stoa status lists them");
        }
        out.onNext(reply.build());
        out.onCompleted();
      });
    }

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
