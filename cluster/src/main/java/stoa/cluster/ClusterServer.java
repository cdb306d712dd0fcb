package stoa.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
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
import stoa.ratis.RatisGroup;
import stoa.ratis.RatisNode;
import stoa.ratis.Roles;
import stoa.storage.CorruptData;
import stoa.storage.Device;
import stoa.storage.DeviceConfig;
import stoa.storage.FileDisk;
import stoa.storage.StorageException;
import stoa.storage.UnknownFormat;
import stoa.store.Divergence;
import stoa.store.Threads;
import stoa.wire.proto.ServerStatus;

/// One of several servers that keep a store together: it has a replica of the log, and while it
/// leads it has the store, and serves clients. Thread-safe.
public final class ClusterServer implements AutoCloseable {
  /*
   * While this server leads, it has the store open, and opens it again whenever that has failed: an append
   * may come to nothing without the leadership being lost. The store is opened and closed under `roles`.
   *
   * The leader is told to clients, this server included, only when it is known; of itself only when the
   * store is open. So nobody is sent to a server that sends him away.
   */
  private static final Logger LOG = LoggerFactory.getLogger(ClusterServer.class);
  private static final int GROUP = 1;
  private static final int MEMBERS_MAX = 5;
  private static final long TICK_MILLIS = 100;
  private static final long HAND_OVER_MILLIS_MAX = 5_000;

  /// How many divergences are told at a time.
  private static final int REPORTS_MAX = 4;

  private final Options options;
  private final Device device;
  private final Replica replica;
  private final Server server;
  private final RatisNode node;
  private final RatisGroup group;
  private final Membership membership;
  private final ScheduledExecutorService ticks;
  private final Leader leader = new Leader();
  private final Executing executing = new Executing();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Semaphore reports = new Semaphore(REPORTS_MAX);
  private final ReentrantLock roles = new ReentrantLock();

  // Guarded by roles.
  private @Nullable ObjectService store;
  private boolean leads;
  private boolean closing;

  private volatile @Nullable Throwable failure;

  /// How a server of several is started.
  ///
  /// @param directory where it keeps everything
  /// @param server how it listens to clients
  /// @param name what it is called among the others; ignored when it was one of them before
  /// @param host where the others reach it; as the name
  /// @param port its port, 0 for any; as the name
  /// @param security what the servers prove themselves to each other with; null for nothing
  /// @param join a server whose store this one is to keep, too, `HOST:PORT`; null for a new store
  /// @param contact says things to other servers
  /// @param store the configuration of the store; its URL is used in messages only
  /// @param loader of the shared classes
  /// @param admissible which classes clients may make elements of collections, beside those that
  ///   the configuration lists and those that shared classes name
  public record Options(
      Path directory,
      ServerConfig server,
      String name,
      String host,
      int port,
      RatisConfig.@Nullable Tls security,
      @Nullable String join,
      Contact contact,
      StoaConfig store,
      ClassLoader loader,
      Predicate<Class<?>> admissible) {}

  private ClusterServer(Options options) throws IOException {
    this.options = options;
    Path directory = options.directory();
    Membership noted = Membership.read(directory);
    if (noted == null) Membership.requireEmpty(directory);
    device = device(directory.resolve("replica"));
    replica = new Replica(device);
    ticks =
        Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().name("stoa-roles").daemon().unstarted(task));
    try {
      server = Server.start(options.server(), new Others());
    } catch (IOException | RuntimeException failed) {
      replica.close();
      throw failed;
    }
    try {
      String name = noted != null ? noted.name() : options.name();
      var config = RatisConfig.of(name, directory.resolve("log"));
      config =
          noted != null
              ? config.withAddress(noted.host(), noted.port(), noted.supplyPort())
              : config.withAddress(options.host(), options.port(), 0);
      RatisConfig.Tls security = options.security();
      node = RatisNode.start(security == null ? config : config.withTls(security));
    } catch (RuntimeException failed) {
      server.close();
      replica.close();
      throw failed;
    }
    try {
      Member self = self();
      boolean first = noted != null ? noted.first() : options.join() == null;
      membership = new Membership(self.id(), self.host(), self.port(), self.supplyPort(), first);
      // Before it is one of them: they must find it again.
      if (noted == null) membership.write(directory);
      group = node.host(GROUP, replica, first ? List.of(self) : List.of(), new Following());
      if (member(self.id()).isEmpty()) join(self);
    } catch (RuntimeException failed) {
      server.close();
      node.close();
      throw failed;
    }
    replica.listen(executing);
    var _ =
        ticks.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private static Device device(Path directory) {
    try {
      return Device.open(new FileDisk(directory), DeviceConfig.standard());
    } catch (CorruptData | UnknownFormat damaged) {
      throw new Corrupt(directory + " cannot be opened: " + damaged.getMessage(), damaged);
    } catch (StorageException failed) {
      throw new Unavailable(directory + " cannot be opened: " + failed.getMessage(), failed);
    }
  }

  private void join(Member self) {
    if (options.join() == null) {
      throw new IllegalArgumentException(
          "server "
              + self.id()
              + " in "
              + options.directory()
              + " does not keep a store with others yet, or any more; say with --join with which,"
              + " or start on a new directory");
    }
    options.contact().join(self.id(), self.toString());
  }

  /// Starts a server: a new one, or one that goes on.
  ///
  /// @throws IOException when clients' address cannot be listened on
  /// @throws StoaException when it cannot be one of the servers
  public static ClusterServer start(Options options) throws IOException {
    return new ClusterServer(options);
  }

  /// Whether a directory is that of a server which keeps its store together with others.
  ///
  /// @throws stoa.Corrupt when that cannot be read
  public static boolean was(Path directory) {
    return Membership.read(directory) != null;
  }

  private Member self() {
    return node.self().withClients(options.server().host() + ":" + server.port());
  }

  /// The port that clients find it at.
  public int port() {
    return server.port();
  }

  /// What it is called among the servers.
  public String name() {
    return membership.name();
  }

  /// Waits until it is closed; answers what it failed with, null when it was told to close.
  public @Nullable Throwable awaitClosed() throws InterruptedException {
    closed.await();
    return failure;
  }

  // ---- who has the store

  private final class Following implements Roles {
    @Override
    public void leading(long term) {
      roles.lock();
      try {
        leads = true;
        openStore();
      } finally {
        roles.unlock();
      }
    }

    @Override
    public void following() {
      roles.lock();
      try {
        leads = false;
        closeStore();
      } finally {
        roles.unlock();
      }
    }

    @Override
    public void leader(String id) {
      roles.lock();
      try {
        if (!leads) follow(id);
      } finally {
        roles.unlock();
      }
    }

    @Override
    public void caughtUp() {
      LOG.info("server {} has caught up with the others", membership.name());
    }

    @Override
    public void failed(Throwable cause) {
      if (isOut()) {
        LOG.info("server {} keeps the store no more", membership.name());
      } else {
        LOG.error("server {} has stopped: {}", membership.name(), cause.getMessage());
        failure = cause;
      }
      // Not on this thread: closing waits for it.
      Thread.ofPlatform().name("stoa-stop").start(ClusterServer.this::close);
    }
  }

  /// Another one leads; called with roles held. Where clients find it may not be known here yet:
  /// then the next tick looks again.
  private void follow(String id) {
    if (id.equals(membership.name())) return; // told when the store is open
    member(id).ifPresentOrElse(member -> leader.is(member.clients()), leader::isUnknown);
  }

  private Optional<Member> member(String id) {
    return group.members().stream().filter(member -> member.id().equals(id)).findAny();
  }

  /// Whoever leads has the store; called with roles held.
  private void openStore() {
    if (closing || store != null) return;
    executing.close();
    try {
      ObjectService opened = open();
      store = opened;
      server.lead(opened);
      leader.is(self().clients());
      LOG.info("server {} has the store", membership.name());
    } catch (RuntimeException later) {
      // Another one leads by now, or the next tick tries again.
      LOG.info("server {} cannot open the store yet: {}", membership.name(), later.getMessage());
      closeStore();
    }
  }

  /// Executes what the leader executes; called with roles held.
  private void execute() {
    executing.open(() ->
        withLoader(() ->
            EmbeddedEngine.openStandby(
                options.store(),
                device,
                replica.streams(),
                Clock.system(),
                Threads.real(),
                this::suspect)));
  }

  /// An object is not here what it is at the leader, who is told. What cannot be told now is told
  /// again later.
  private void suspect(Divergence evidence) {
    String address = leader.ask().getNow("");
    if (address.isEmpty() || !reports.tryAcquire()) return;
    // Not on this thread, on which objects are executed: it may take long.
    Thread.ofVirtual()
        .start(() -> {
          try {
            options.contact().report(address, evidence.toBytes());
          } catch (RuntimeException later) {
            LOG.debug("{} is not told of {}", address, evidence.object(), later);
          } finally {
            reports.release();
          }
        });
  }

  private ObjectService open() {
    return withLoader(() -> {
      Stoa stoa =
          EmbeddedEngine.openReplicated(
              options.store(),
              device,
              () -> ReplicatedShardLog.open(replica, group),
              Clock.system(),
              Threads.real());
      return ObjectService.of(stoa, options.admissible());
    });
  }

  private <T> T withLoader(Supplier<T> opening) {
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    Thread.currentThread().setContextClassLoader(options.loader());
    try {
      return opening.get();
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  /// Called with roles held.
  private void closeStore() {
    if (store == null) return;
    store = null;
    leader.isUnknown();
    server.follow();
  }

  private void tick() {
    if (!roles.tryLock()) return;
    try {
      if (closing) return;
      if (leads && isOut()) {
        LOG.info("server {} keeps the store no more; stop it", membership.name());
        leads = false;
        closeStore();
        leader.isUnknown();
      }
      if (!leads) {
        execute();
        if (!leader.isKnown()) group.leader().ifPresent(this::follow);
        return;
      }
      ObjectService current = store;
      if (current != null && current.hasFailed()) closeStore();
      if (store == null && group.leads()) openStore();
    } catch (RuntimeException failed) {
      LOG.warn("server {}", membership.name(), failed);
    } finally {
      roles.unlock();
    }
  }

  // ---- the others

  private final class Others implements Peers {
    @Override
    public List<String> servers() {
      return group.members().stream().map(Member::clients).toList();
    }

    @Override
    public CompletableFuture<String> leader() {
      return leader.ask();
    }

    @Override
    public List<ServerStatus> status() {
      String leading = group.leader().orElse("");
      Map<String, Long> committed = group.committed();
      long most = committed.getOrDefault(leading, 0L);
      return group.members().stream()
          .map(member -> {
            var shown =
                ServerStatus.newBuilder()
                    .setServer(member.id())
                    .setClientAddress(member.clients())
                    .setPeerAddress(member.host() + ":" + member.port())
                    .setLeads(member.id().equals(leading))
                    .setBehind(Math.max(0, most - committed.getOrDefault(member.id(), 0L)));
            var progress = executing.progress();
            if (progress != null && member.id().equals(membership.name())) {
              shown.setCompared(progress.compared()).setDiffered(progress.diverged());
            }
            return shown.build();
          })
          .toList();
    }

    @Override
    public void join(String name, String written) {
      requireStore();
      Member joining = Member.of(written);
      if (!joining.id().equals(name)) {
        throw new IllegalArgumentException("server " + name + " says that it is " + joining);
      }
      List<Member> members = group.members();
      Optional<Member> known = member(name);
      if (known.isPresent() && !known.get().withClients("").equals(joining.withClients(""))) {
        throw new IllegalArgumentException(
            "there is a server "
                + name
                + " already; start this one with another --name, or drain that one first");
      }
      if (known.isEmpty() && members.size() >= MEMBERS_MAX) {
        throw new LimitExceeded(
            members.size() + " servers keep the store, which is the most; drain one first");
      }
      group.add(joining);
    }

    @Override
    public void drain(String name) {
      requireStore();
      List<Member> members = group.members();
      if (members.stream().noneMatch(member -> member.id().equals(name))) {
        throw new IllegalArgumentException(
            "there is no server "
                + name
                + "; there are "
                + String.join(", ", members.stream().map(Member::id).toList()));
      }
      if (members.size() == 1) {
        throw new IllegalArgumentException(
            "server " + name + " is the last one that keeps the store; let another one join first");
      }
      group.remove(name);
    }
  }

  private void requireStore() {
    if (group.leads()) return;
    throw new Unavailable(
        "server "
            + membership.name()
            + " has not the store; when no server has it, fewer than half of them are there: start"
            + " them, and try again");
  }

  /// Has the server that knows most lead, if this one does and is not alone. Waits shortly.
  private void handOver() {
    if (!group.leads() || isOut()) return;
    Map<String, Long> committed = group.committed();
    Optional<String> next =
        group.members().stream()
            .map(Member::id)
            .filter(id -> !id.equals(membership.name()))
            .max((a, b) ->
                Long.compare(committed.getOrDefault(a, 0L), committed.getOrDefault(b, 0L)));
    if (next.isEmpty()) return;
    var done = new CountDownLatch(1);
    // Ratis waits without a limit when the others are not there.
    Thread.ofVirtual()
        .start(() -> {
          try {
            group.transfer(next.get());
          } catch (Unavailable none) {
            LOG.info("server {} does not take over: {}", next.get(), none.getMessage());
          } finally {
            done.countDown();
          }
        });
    try {
      var _ = done.await(HAND_OVER_MILLIS_MAX, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// Whether it was taken out.
  private boolean isOut() {
    List<Member> members = group.members();
    return !members.isEmpty() && member(membership.name()).isEmpty();
  }

  /// Stops: hands the store to another server, and takes part no more.
  @Override
  public void close() {
    roles.lock();
    try {
      if (closing) return;
      closing = true;
    } finally {
      roles.unlock();
    }
    ticks.shutdownNow();
    if (failure == null) handOver();
    server.close();
    executing.close();
    node.close();
    closed.countDown();
  }
}
