package stoa.raft.node;

import java.io.IOException;
import java.net.BindException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Corrupt;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.base.Check;
import stoa.base.Permissions;
import stoa.base.Secret;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicaLog;
import stoa.raft.Acknowledged;
import stoa.raft.Credentials;
import stoa.raft.Group;
import stoa.raft.GroupId;
import stoa.raft.Line;
import stoa.raft.Member;
import stoa.raft.MemberNetwork;
import stoa.raft.Node;
import stoa.raft.NodeConfig;
import stoa.raft.QuestionHandler;
import stoa.raft.Reach;
import stoa.raft.Roles;
import stoa.raft.SupplyPort;
import stoa.raft.core.Eligibility;
import stoa.raft.core.LogStore;
import stoa.storage.Device;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.StorageException;

/// A server of the groups of this process. Thread-safe.
final class RaftNode implements Node {
  private static final Logger LOG = LoggerFactory.getLogger(RaftNode.class);
  private static final long LOOK_MILLIS = 20;
  private static final int FILE_BYTES_MAX = 32 << 20;

  // The file with this node's knowledge of the members of a group, in the group's directory.
  private static final String ACKNOWLEDGED = "acknowledged";

  // The folder of the log, in the group's directory; and that of a log of Ratis.
  private static final String LOG_FOLDER = "raft";
  private static final String OTHER_FOLDER = "current";

  // The time for which a node asks others for its own earlier progress, before it takes part in a
  // group.
  private static final long HAD_MILLIS = 2_000;

  // How long a node waits for its ports, and between two looks.
  private static final long PORTS_NANOS = TimeUnit.SECONDS.toNanos(5);
  private static final long PORTS_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final NodeConfig config;
  private final ConcurrentHashMap<GroupId, RaftGroup> groups = new ConcurrentHashMap<>();

  // For tasks that wait, some of them for the disk: a virtual thread that opens a file keeps a
  // processor from all others.
  private final ExecutorService background =
      Executors.newCachedThreadPool(
          task -> Thread.ofPlatform().name("stoa-raft-task").daemon().unstarted(task));

  private final ScheduledExecutorService looking;
  private final MemberNetwork network;
  private final SupplyPort supplies;
  private final MemberLinks links;

  private RaftNode(NodeConfig config, QuestionHandler questions, Reach reach) throws IOException {
    this.config = config;
    Secret secret = config.secret();
    network =
        secret == null
            ? MemberNetwork.of(config.tls(), reach)
            : MemberNetwork.with(new Credentials(secret, config.id()), reach);
    try {
      links = new MemberLinks(network, config.host(), config.port(), new Arriving());
      supplies =
          new SupplyPort(
              network,
              config.host(),
              config.supplyPort(),
              this::replica,
              this::acknowledged,
              questions);
    } catch (IOException | RuntimeException e) {
      network.close();
      throw e;
    }
    looking =
        Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().name("stoa-leaders").daemon().unstarted(task));
    var _ =
        looking.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  static RaftNode start(NodeConfig config, QuestionHandler questions, Reach reach) {
    try {
      Permissions.createDirectories(config.directory());
      requireOwnLogs(config);
      return bound(config, questions, reach);
    } catch (IOException e) {
      throw new Unavailable(
          "node %s cannot be started at %s:%d, in %s: %s; does it run already?"
              .formatted(config.id(), config.host(), config.port(), config.directory(), e),
          e);
    }
  }

  /// Starts a node when its ports are free. After a restart, another program may have one of them
  /// for a moment, as its end of a connection.
  private static RaftNode bound(NodeConfig config, QuestionHandler questions, Reach reach)
      throws IOException {
    long end = System.nanoTime() + PORTS_NANOS;
    while (true) {
      try {
        return new RaftNode(config, questions, reach);
      } catch (BindException taken) {
        if (System.nanoTime() - end >= 0 || Thread.currentThread().isInterrupted()) throw taken;
        LockSupport.parkNanos(PORTS_AGAIN_NANOS);
      }
    }
  }

  private void look() {
    try {
      groups.values().forEach(RaftGroup::look);
    } catch (RuntimeException failed) {
      LOG.debug("it was not seen whether replicas are whole", failed);
    }
  }

  private final class Arriving implements MemberLinks.Receiving {
    @Override
    public void receive(GroupId name, byte[] message) {
      RaftGroup group = groups.get(name);
      if (group != null) group.receive(message);
    }

    @Override
    public void ended(String node) {
      for (RaftGroup group : groups.values()) group.ended(node);
    }
  }

  private @Nullable Replica replica(GroupId name) {
    RaftGroup hosted = groups.get(name);
    return hosted == null ? null : hosted.replica();
  }

  // ---- what members had

  private final ConcurrentHashMap<GroupId, Acknowledged> known = new ConcurrentHashMap<>();

  /// Returns this node's knowledge of the members of a group, hosted or not.
  private Acknowledged acknowledged(GroupId name) {
    return known.computeIfAbsent(name, of -> new Acknowledged(folder(of).resolve(ACKNOWLEDGED)));
  }

  private Path folder(GroupId name) {
    return folder(config, name);
  }

  static Path folder(NodeConfig config, GroupId name) {
    return config.directory().resolve(new UUID(name.store(), name.number()).toString());
  }

  static Path logFolder(NodeConfig config, GroupId name) {
    return folder(config, name).resolve(LOG_FOLDER);
  }

  /// Returns the index up to which others know this node to have had the log of a group; -1 for
  /// none. It asks the members that the log or the file beside it names, as one of the two may be
  /// damaged. It leaves out a node that does not answer in time.
  private long had(GroupId name, List<Member> logged, Acknowledged before) {
    var others = new TreeMap<String, Member>();
    for (Member member : logged) others.put(member.id(), member);
    for (Member member : before.members()) others.put(member.id(), member);
    others.remove(config.id());
    var had = new AtomicLong(-1);
    var asking = new ArrayList<CompletableFuture<Void>>();
    for (Member other : others.values()) {
      asking.add(
          CompletableFuture.runAsync(
              () -> {
                try {
                  long index = SupplyPort.had(network, other, name, config.id());
                  had.accumulateAndGet(index, Math::max);
                } catch (IOException | RuntimeException silent) {
                  LOG.debug("{} says nothing of {}", other, name, silent);
                }
              },
              background));
    }
    CompletableFuture.allOf(asking.toArray(CompletableFuture[]::new))
        .completeOnTimeout(null, HAD_MILLIS, TimeUnit.MILLISECONDS)
        .join();
    return had.get();
  }

  // ---- groups

  @Override
  public Member self() {
    return new Member(config.id(), config.host(), links.port(), supplies.port());
  }

  @Override
  public Line line(Member to) {
    return new Line(network, to);
  }

  @Override
  public void moveLog(GroupId name, Device device) {
    Path folder = logFolder(config, name);
    try {
      if (!Files.exists(folder)) {
        LogStore.begin(device);
        return;
      }
      try (var disk = new FileDisk(folder)) {
        LogStore.move(disk, device);
      }
      delete(folder);
    } catch (Unavailable refused) {
      throw new Unavailable(folder + " is not moved: " + refused.getMessage(), refused);
    } catch (CorruptData damaged) {
      throw new Corrupt(
          "the device of the replica of " + name + " is damaged: " + damaged.getMessage(), damaged);
    } catch (IOException | StorageException failed) {
      throw new Unavailable(
          folder + " cannot be moved to the device of its replica: " + failed.getMessage(), failed);
    }
  }

  @Override
  public Group host(GroupId name, Replica replica, List<Member> initial, Roles roles) {
    if (groups.containsKey(name)) throw new IllegalStateException(name + " is hosted here already");
    Path folder = logFolder(config, name);
    LogStore store = null;
    try {
      Permissions.createDirectories(folder(name));
      ReplicaLog log = replica.log();
      boolean isNew = log == null ? !LogStore.exists(new FileDisk(folder)) : log.head() == null;
      Member self = self(initial);
      Position applied = replica.applied();
      var begin = applied.index() == 0 ? new Position(1, 1) : replica.sync();
      store =
          log == null
              ? LogStore.open(new FileDisk(folder), self, begin, initial, FILE_BYTES_MAX)
              : LogStore.open(log, self, begin, initial);
      var before = acknowledged(name);
      // A log that has just begun has no earlier members that know more.
      long had = isNew && initial.isEmpty() ? -1 : had(name, store.known(), before);
      if (!store.isOfThisMembership(had + 1)) had = -1;
      var eligibility = new Eligibility(config.directory().toAbsolutePath(), before, had);
      var group =
          new RaftGroup(
              new RaftGroup.NodeParts(config, background, network, links),
              self,
              name,
              replica,
              guarded(name, roles),
              eligibility,
              store,
              isNew);
      groups.put(name, group);
      group.begin();
      return group;
    } catch (IOException | RuntimeException e) {
      groups.remove(name);
      if (store != null) store.close();
      if (e instanceof StoaException told) throw told;
      throw new Unavailable(name + " cannot be begun: " + e, e);
    }
  }

  /// Returns this node as its group knows it, with its address for clients.
  private Member self(List<Member> initial) {
    return initial.stream()
        .filter(member -> member.id().equals(config.id()))
        .findAny()
        .orElseGet(this::self);
  }

  /// Refuses a directory with the log of a group that an earlier version has written.
  static void requireOwnLogs(NodeConfig config) {
    try (var folders = Files.newDirectoryStream(config.directory())) {
      for (Path folder : folders) {
        if (!Files.isDirectory(folder.resolve(OTHER_FOLDER))) continue;
        throw new Unavailable(
            folder.toAbsolutePath()
                + " has a log of Apache Ratis, by which the servers of earlier versions agreed, and"
                + " which this version does not read; start the servers with the version that wrote"
                + " it, make a backup (./stoa backup), and restore it with this version into empty"
                + " directories (./stoa restore)");
      }
    } catch (IOException unreadable) {
      throw new Unavailable(config.directory() + " cannot be read: " + unreadable, unreadable);
    }
  }

  /// Logs exceptions of roles, which no other code sees.
  private static Roles guarded(GroupId name, Roles roles) {
    return new Roles() {
      @Override
      public void leading(long term) {
        run(() -> roles.leading(term));
      }

      @Override
      public void following() {
        run(roles::following);
      }

      @Override
      public void leader(String id) {
        run(() -> roles.leader(id));
      }

      @Override
      public void leaderEnded() {
        run(roles::leaderEnded);
      }

      @Override
      public void caughtUp() {
        run(roles::caughtUp);
      }

      @Override
      public void failed(Throwable cause) {
        run(() -> roles.failed(cause));
      }

      @Override
      public void alarm(String member, String trouble) {
        run(() -> roles.alarm(member, trouble));
      }

      private void run(Runnable event) {
        try {
          event.run();
        } catch (RuntimeException failure) {
          LOG.error("what became of {} could not be taken note of", name, failure);
        }
      }
    };
  }

  @Override
  public void release(GroupId name) {
    RaftGroup group = groups.remove(name);
    if (group == null) return;
    group.closing();
    group.close();
    forget(name);
  }

  @Override
  public void forget(GroupId name) {
    Check.that(!groups.containsKey(name), "%s is hosted", name);
    known.remove(name);
    Path left = folder(name);
    if (!Files.exists(left)) return;
    try {
      delete(left);
    } catch (IOException e) {
      throw new Unavailable(left + " cannot be deleted: " + e, e);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }

  @Override
  public void close() {
    looking.shutdownNow();
    groups.values().forEach(RaftGroup::closing);
    supplies.close();
    groups.values().forEach(RaftGroup::close);
    groups.clear();
    links.close();
    network.close();
    background.close();
  }
}
