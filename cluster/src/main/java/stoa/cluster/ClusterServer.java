package stoa.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.log.Replica;
import stoa.log.ReplicatedShardLog;
import stoa.node.Peers;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.ratis.Member;
import stoa.ratis.RatisConfig;
import stoa.ratis.RatisNode;
import stoa.storage.Device;
import stoa.storage.DeviceConfig;
import stoa.storage.FileDisk;
import stoa.store.Threads;
import stoa.wire.proto.ServerStatus;

/// One of several servers that keep a store together: it has a replica of the log, and while it
/// leads it has the store, and serves clients. Thread-safe.
public final class ClusterServer implements AutoCloseable {
  /*
   * What happens to the leadership is told by the consensus, on its threads, which must not wait. So one
   * thread of this server's own, `roles`, opens and closes the store, and goes by what is so when it does.
   * While this server leads, it opens the store again whenever that has failed, for an append may come to
   * nothing without the leadership being lost.
   *
   * The leader is told to clients, this server included, only when it is known; of itself only when the
   * store is open. So nobody is sent to a server that sends him away.
   */
  private static final Logger LOG = LoggerFactory.getLogger(ClusterServer.class);
  private static final int STORE_BYTES = 16;
  private static final long TICK_MILLIS = 100;
  private static final int MEMBERS_MAX = 5;

  private final Options options;
  private final Membership membership;
  private final Device device;
  private final Replica replica;
  private final Server server;
  private final RatisNode node;
  private final ScheduledExecutorService roles;
  private final Others others = new Others();
  private volatile @Nullable String leader;

  // Of the thread of roles.
  private @Nullable ObjectService store;

  /// How a server of several is started.
  ///
  /// @param directory where it keeps everything
  /// @param server how it listens to clients
  /// @param name what it is called among the others; ignored when it was one of them before
  /// @param peerHost where the others reach it; as the name
  /// @param peerPort its port, 0 for any; as the name
  /// @param join asks a server to keep its store together with it; null for a new store
  /// @param store the configuration of the store; its URL is used in messages only
  /// @param admissible which classes clients may make elements of collections, beside those that
  ///   the configuration lists and those that shared classes name
  public record Options(
      Path directory,
      ServerConfig server,
      String name,
      String peerHost,
      int peerPort,
      @Nullable Joining join,
      StoaConfig store,
      Predicate<Class<?>> admissible) {}

  /// Asks a server that keeps a store whether another one may keep it, too.
  public interface Joining {
    /// Answers the 16 bytes that name the store, as soon as the server is one of those that keep it.
    ///
    /// @throws stoa.StoaException when it may not
    byte[] join(String server, String clientAddress, String peerAddress);
  }

  private ClusterServer(Options options) throws IOException {
    this.options = options;
    Path directory = options.directory();
    Membership noted = Membership.read(directory);
    Opened opened = open(directory);
    device = opened.device();
    replica = opened.replica();
    try {
      server = Server.start(options.server(), others);
    } catch (IOException | RuntimeException failed) {
      replica.close();
      throw failed;
    }
    roles = Executors.newSingleThreadScheduledExecutor(task -> {
      var thread = new Thread(task, "stoa-roles");
      thread.setDaemon(true);
      return thread;
    });
  }

  /// Starts a server: a new one, or one that goes on.
  ///
  /// @throws IOException when an address cannot be listened on
  /// @throws stoa.StoaException when it cannot be one of the servers
  public static ClusterServer start(Options options) throws IOException {
    return new ClusterServer(options);
  }

  /// The port that clients find it at.
  public int port() {
    return server.port();
  }

  /// What it is called among the servers.
  public String name() {
    return membership.name();
  }

  /// Waits until it is closed.
  public void awaitClosed() throws InterruptedException {
    server.awaitClosed();
  }
}
