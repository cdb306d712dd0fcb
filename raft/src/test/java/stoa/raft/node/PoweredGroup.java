package stoa.raft.node;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.base.Secret;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.Replica;
import stoa.log.ReplicatedBatchLog;
import stoa.log.Streams;
import stoa.raft.Group;
import stoa.raft.GroupId;
import stoa.raft.Member;
import stoa.raft.Node;
import stoa.raft.NodeConfig;
import stoa.raft.Reach;
import stoa.raft.Roles;
import stoa.sim.world.PoweredLog;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.SimulatedDisk;

/// A group of real Raft servers in this process, each with a device that loses power when its
/// server is killed.
final class PoweredGroup implements PoweredLog {
  static final DeviceConfig SMALL = new DeviceConfig(1 << 20, 64 << 10, 256 << 10, 256 << 10);
  private static final int PATIENCE_SECONDS = 60;
  static final GroupId GROUP = new GroupId(7, 1);

  // Where replicas have their logs: `JAVA_TOOL_OPTIONS=-Dstoa.raft.log=DEVICE` runs any test of a
  // group with logs on devices.
  private static final Replica.LogPlace LOGS =
      Replica.LogPlace.valueOf(System.getProperty("stoa.raft.log", "FILES"));

  /// A copy of the files and the disk of a server at some time.
  record Copy(Path log, SimulatedDisk disk) {}

  /// One server: what survives it, and its present life.
  final class Server implements Roles {
    final String id;
    private final Path directory;
    private Member self;
    private SimulatedDisk disk;
    private long snapshotCommands = PoweredGroup.this.snapshotCommands;
    final Way way = new Way(); // to its supply
    @Nullable Node node;
    @Nullable Group group;
    final AtomicInteger catchUps = new AtomicInteger();
    final Map<String, String> alarms = new ConcurrentHashMap<>();

    Server(String id) {
      this.id = id;
      this.directory = PoweredGroup.this.directory.resolve(id);
      this.disk = new SimulatedDisk(id.hashCode());
      this.self = new Member(id, "127.0.0.1", 0, 0);
    }

    void start() {
      var config =
          config(NodeConfig.of(id, directory), snapshotCommands)
              .withAddress("127.0.0.1", self.port(), self.supplyPort());
      node = new MicroRaft().start(config, (_, question) -> question, Reach.ALL);
      self = node.self();
      way.leadsTo(self.supplyPort());
    }

    /// Has it never drop what is in its log, from its next start on.
    void keepLog() {
      snapshotCommands = Long.MAX_VALUE;
    }

    /// Opens the replica of the server, which does not run.
    Replica open() {
      return new Replica(Device.open(disk, SMALL), logs);
    }

    void host(List<Member> initial) {
      Replica replica = open();
      replica.listen(
          new Replica.Listener() {
            @Override
            public void committed(Batch batch) {
              changed.release();
            }

            @Override
            public void sealed(long epoch) {
              changed.release();
            }

            @Override
            public void trimmed(StreamId stream, long oldest) {
              changed.release();
            }
          });
      group = running().host(GROUP, replica, initial, this);
    }

    /// The folder of the files of its log.
    Path logFolder() {
      return RaftNode.logFolder(NodeConfig.of(id, directory), GROUP);
    }

    /// Moves the log of the server, which runs and has no replica open, to its device.
    void moveLog() {
      try (Device device = Device.open(disk, SMALL)) {
        running().moveLog(GROUP, device);
      }
    }

    Node running() {
      if (node == null) throw new IllegalStateException(id + " does not run");
      return node;
    }

    Group group() {
      if (group == null) throw new IllegalStateException(id + " has no replica");
      return group;
    }

    Replica replica() {
      return group().replica();
    }

    boolean isRunning() {
      return group != null;
    }

    Member self() {
      return new Member(id, self.host(), self.port(), way.port());
    }

    /// Ends it by a loss of power of its device: what that has not synced is lost, kept or torn.
    void kill() {
      if (node == null) return;
      disk = disk.crash();
      node.close();
      node = null;
      group = null;
    }

    /// Ends it as it is asked to.
    void stop() {
      if (node == null) return;
      disk = disk.kill();
      node.close();
      node = null;
      group = null;
    }

    /// Copies the files and the disk of the server, which does not run.
    Copy copy(Path to) throws IOException {
      copy(directory, to);
      return new Copy(to, disk.copy());
    }

    /// Restores the files and the disk of the server from a copy.
    void putBack(Copy before) throws IOException {
      try (var files = Files.walk(directory)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
      }
      copy(before.log(), directory);
      disk = before.disk();
    }

    /// Damages the file with what the server knows of the others.
    void forget() throws IOException {
      try (var files = Files.walk(directory)) {
        List<Path> known = files.filter(file -> file.endsWith("acknowledged")).toList();
        assertFalse(known.isEmpty());
        for (Path file : known) Files.write(file, new byte[] {1, 2, 3});
      }
    }

    private static void copy(Path from, Path to) throws IOException {
      try (var files = Files.walk(from)) {
        for (Path file : files.toList()) Files.copy(file, to.resolve(from.relativize(file)));
      }
    }

    @Override
    public void leading(long term) {
      changed.release();
    }

    @Override
    public void following() {
      changed.release();
    }

    @Override
    public void leader(String leader) {
      changed.release();
    }

    @Override
    public void leaderEnded() {
      changed.release();
    }

    @Override
    public void caughtUp() {
      catchUps.incrementAndGet();
      changed.release();
    }

    @Override
    public void failed(Throwable cause) {
      changed.release();
    }

    @Override
    public void alarm(String member, String trouble) {
      alarms.put(member, trouble);
      changed.release();
    }
  }

  private final Path directory;
  private final long snapshotCommands;
  private final Replica.LogPlace logs;
  private final UnaryOperator<NodeConfig> security;
  final List<Server> servers = new ArrayList<>();
  private final Semaphore changed = new Semaphore(0);
  private List<Member> initial = List.of();
  private @Nullable ReplicatedBatchLog leader;
  private int restarts;

  PoweredGroup(Path directory, int count, long snapshotCommands) {
    this(directory, count, snapshotCommands, LOGS);
  }

  PoweredGroup(Path directory, int count, long snapshotCommands, Replica.LogPlace logs) {
    this(directory, count, snapshotCommands, UnaryOperator.identity(), logs);
  }

  PoweredGroup(Path directory, int count, long snapshotCommands, NodeConfig.Tls tls) {
    this(directory, count, snapshotCommands, config -> config.withTls(tls), LOGS);
  }

  PoweredGroup(Path directory, int count, long snapshotCommands, Secret secret) {
    this(directory, count, snapshotCommands, config -> config.withSecret(secret), LOGS);
  }

  PoweredGroup(
      Path directory,
      int count,
      long snapshotCommands,
      UnaryOperator<NodeConfig> security,
      Replica.LogPlace logs) {
    this.logs = logs;
    this.directory = directory;
    this.security = security;
    this.snapshotCommands = snapshotCommands;
    for (int i = 0; i < count; i++) {
      var server = new Server(String.valueOf((char) ('a' + i)));
      servers.add(server);
      server.start();
    }
    initial = servers.stream().map(Server::self).toList();
    for (var server : servers) server.host(initial);
  }

  private NodeConfig config(NodeConfig plain, long snapshots) {
    return security.apply(plain).withCommandBytesMax(1 << 20).withSnapshotCommands(snapshots);
  }

  /// Waits until something holds; it is looked at whenever anything has changed.
  void await(String what, BooleanSupplier holds) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!holds.getAsBoolean()) {
      if (System.nanoTime() > end) throw new AssertionError("waited in vain until " + what);
      try {
        // Nothing reports the end of an election, for example, so look again after a while.
        if (changed.tryAcquire(20, TimeUnit.MILLISECONDS)) changed.drainPermits();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  /// The server that leads.
  Server leading() {
    await("somebody leads", () -> servers.stream().anyMatch(PoweredGroup::leads));
    return servers.stream().filter(PoweredGroup::leads).findFirst().orElseGet(this::leading);
  }

  /// One that is none of these.
  Server other(Server... than) {
    return servers.stream()
        .filter(server -> !List.of(than).contains(server))
        .findFirst()
        .orElseThrow();
  }

  private static boolean leads(Server server) {
    return server.isRunning() && server.group().leads();
  }

  @Override
  public BatchLog leader() {
    while (leader == null) {
      var server = leading();
      try {
        leader = ReplicatedBatchLog.open(server.replica(), server.group());
      } catch (Unavailable deposed) {
        // Somebody else leads by now, or will.
      }
    }
    return leader;
  }

  /// With whom the group began.
  List<Member> members() {
    return initial;
  }

  /// Lets who leads open the log anew.
  void reopen() {
    leader = null;
  }

  @Override
  public boolean step() {
    var leads = leading();
    await(
        "all replicas show the same",
        () -> {
          var tail = leads.replica().tail();
          return servers.stream()
              .filter(Server::isRunning)
              .allMatch(server -> server.replica().tail().equals(tail));
        });
    return false;
  }

  @Override
  public void restart() {
    leader = null;
    if (restarts++ % 2 == 0) {
      var leads = leading();
      leads.kill();
      leads.start();
      leads.host(initial);
    } else {
      killAll();
      servers.forEach(Server::start);
      for (var server : servers) server.host(initial);
    }
  }

  @Override
  public List<Streams> replicas() {
    return servers.stream().map(server -> server.replica().streams()).toList();
  }

  @Override
  public void calm() {}

  /// Ends the life of the group, so that the servers can begin another one.
  @Override
  public void close() {
    killAll();
    for (var server : servers) server.way.close();
  }

  private void killAll() {
    // At once: each takes about a second, in which it does nothing.
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (var server : servers) threads.execute(server::kill);
    }
  }

  /// A server that is no member yet.
  Server another(String id) {
    var server = new Server(id);
    server.start();
    server.host(List.of());
    servers.add(server);
    return server;
  }
}
