package stoa.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Secret;
import stoa.cluster.SecretFile;

/// Several servers in this process that keep one store together, with faults. They talk over the
/// loopback device, agree as the servers of `./stoa cluster` do, and keep the store on disks in
/// memory. The log by which they agree is in a temporary directory, which [#close()] deletes.
///
/// ```java
/// @Test
/// void callsGoOnWithoutTheLeader(@Clustered(3) StoaCluster cluster) {
///   Account ada = cluster.client().get(Account.class, "ada");
///   ada.deposit(5);
///   cluster.leader().kill();
///   ada.deposit(5); // waits for the next leader
///   assertEquals(10, ada.balance());
/// }
/// ```
///
/// Thread-safe, except that one thread at a time ends and starts servers.
public final class StoaCluster implements AutoCloseable {
  private static final int SERVERS_MAX = 5;
  private static final int REPLICAS = 3;
  private static final long SETTLE_NANOS = TimeUnit.MINUTES.toNanos(2);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  static {
    LibraryLogs.silence(); // before the libraries make their first loggers
  }

  private final Path directory;
  private final int groups;
  private final List<StoaServer> servers = new CopyOnWriteArrayList<>();
  private final List<ClusterMember> members = new ArrayList<>();
  private final Clients clients;

  // The names of the servers on one side of a partition; empty while there is none.
  private volatile Set<String> side = Set.of();

  private StoaCluster(Path directory, int groups, StoaConfig config) {
    this.directory = directory;
    this.groups = groups;
    this.clients = new Clients(config, this::url);
  }

  /// Starts servers with an empty store and the standard configuration, which the caller closes.
  /// Returns when all of them have their part of the store.
  ///
  /// @param servers 1 to 5
  public static StoaCluster start(int servers) {
    return start(servers, 1, TestDefaults.standard());
  }

  /// Starts servers with an empty store, which the caller closes.
  ///
  /// @param servers 1 to 5
  /// @param groups over which objects spread, each with a leader of its own
  /// @param config the types, limits and [StoaConfig#keep()] of the store, and the limits of
  ///   clients; the servers ignore its URL
  public static StoaCluster start(int servers, int groups, StoaConfig config) {
    return start(servers, groups, config, new StoaClock());
  }

  static StoaCluster start(int servers, int groups, StoaConfig config, StoaClock clock) {
    if (servers < 1 || servers > SERVERS_MAX) {
      throw new IllegalArgumentException(
          servers + " servers; a cluster in one process has 1 to " + SERVERS_MAX);
    }
    try {
      Path directory = Files.createTempDirectory("stoa-test");
      var cluster = new StoaCluster(directory, groups, config);
      try {
        for (int number = 1; number <= servers; number++) {
          cluster.add("s" + number, servers == 4 ? REPLICAS : servers, config, clock);
        }
        cluster.awaitSettled();
        return cluster;
      } catch (RuntimeException | Error failed) {
        try {
          cluster.close();
        } catch (RuntimeException second) {
          failed.addSuppressed(second);
        }
        throw failed;
      }
    } catch (IOException failed) {
      throw new UncheckedIOException("no temporary directory can be made", failed);
    }
  }

  private void add(String name, int replicas, StoaConfig config, StoaClock clock) {
    var disk = new StoaDisk();
    var front = new Front();
    var member =
        new ClusterMember(
            directory.resolve(name),
            name,
            groups,
            replicas,
            config.withUrl("memory:"),
            new TestMachine(disk, clock, front, other -> reaches(name, other)),
            members.isEmpty() ? null : members.getFirst(),
            this::secret);
    var server = new StoaServer(name, config, clock, disk, front, member, this::url);
    members.add(member);
    servers.add(server);
    server.begin();
  }

  private Secret secret() {
    Secret made = SecretFile.in(directory.resolve(servers.getFirst().name()));
    if (made == null) throw new IllegalStateException("the first server has no secret");
    return made;
  }

  /// Returns whether messages between two servers pass.
  private boolean reaches(String one, String other) {
    Set<String> cut = side;
    if (cut.contains(one) != cut.contains(other)) return false;
    for (StoaServer server : servers) {
      boolean meant = server.name().equals(one) || server.name().equals(other);
      if (meant && server.isPaused()) return false;
    }
    return true;
  }

  // ---- clients

  /// Returns the URL by which programs open the store: `stoa://` and the addresses of all servers.
  public String url() {
    return servers.stream()
        .map(server -> server.front().address())
        .collect(Collectors.joining(",", "stoa://", ""));
  }

  /// Returns a client of the store, which all callers of this share. The cluster closes it.
  public Stoa client() {
    return clients.shared();
  }

  /// Opens another client of the store, with a session of its own. The cluster closes it, unless
  /// the caller has.
  public Stoa openClient() {
    return clients.open();
  }

  // ---- servers

  /// Returns all servers, in the order of their start.
  public List<StoaServer> servers() {
    return List.copyOf(servers);
  }

  /// Returns a server.
  ///
  /// @param index from 0, in the order of their start
  public StoaServer server(int index) {
    return servers.get(index);
  }

  /// Returns the server that leads the first group, which is that of all objects in a cluster
  /// without groups. Waits until there is one that the servers agree on.
  ///
  /// @throws IllegalStateException when no server leads within two minutes, for example because
  ///   most of them are down
  public StoaServer leader() {
    return leader(0);
  }

  /// Returns the server that leads a group, as [#leader()].
  ///
  /// @param group from 0
  public StoaServer leader(int group) {
    long end = System.nanoTime() + SETTLE_NANOS;
    while (true) {
      for (StoaServer asked : majority()) {
        String address = members.get(servers.indexOf(asked)).leader(group);
        for (StoaServer server : servers) {
          boolean leads = server.front().address().equals(address);
          if (leads && server.isRunning() && !server.isPaused() && isWithMost(server)) {
            return server;
          }
        }
      }
      pause(end, "no server leads group " + group + " that the others can reach");
    }
  }

  /// Returns the servers other than one.
  public List<StoaServer> others(StoaServer server) {
    return servers.stream().filter(other -> !other.equals(server)).toList();
  }

  /// Returns the servers that run and are on the side of most servers.
  private List<StoaServer> majority() {
    return servers.stream()
        .filter(server -> server.isRunning() && !server.isPaused() && isWithMost(server))
        .toList();
  }

  private boolean isWithMost(StoaServer server) {
    Set<String> cut = side;
    return 2 * cut.size() > servers.size() == cut.contains(server.name());
  }

  /// Waits until the servers that run have all groups, every group has its members and a leader,
  /// and no replica moves: as after a start, or a restart. All servers must run.
  ///
  /// @throws IllegalStateException when that takes more than two minutes
  public void awaitSettled() {
    long end = System.nanoTime() + SETTLE_NANOS;
    while (!members.getLast().isSettled(members.size())) {
      pause(end, "the servers do not settle");
    }
  }

  private static void pause(long end, String what) {
    if (System.nanoTime() - end > 0) {
      throw new IllegalStateException(
          what + " within two minutes; restart(), resume() and heal() end the faults of the test");
    }
    LockSupport.parkNanos(LOOK_NANOS);
  }

  // ---- the network

  /// Cuts some servers off from all others, until [#heal()]. Clients still reach each server;
  /// [StoaServer#cutClients()] changes that.
  ///
  /// @param some the servers on one side
  /// @throws IllegalArgumentException when one is not of this cluster
  public void partition(StoaServer... some) {
    for (StoaServer server : some) {
      if (servers.contains(server)) continue;
      throw new IllegalArgumentException(server.name() + " is no server of this cluster");
    }
    side = Stream.of(some).map(StoaServer::name).collect(Collectors.toUnmodifiableSet());
  }

  /// Ends a partition.
  public void heal() {
    side = Set.of();
  }

  // ---- the end

  /// Ends all servers at once, and the clients that were opened here and at the servers.
  @Override
  public void close() {
    LibraryLogs.silence();
    heal();
    var endings = new ArrayList<AutoCloseable>();
    endings.add(clients);
    endings.add(Closing.together(servers));
    endings.add(this::delete);
    Closing.all(endings);
  }

  private void delete() throws IOException {
    try (var files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }
}
