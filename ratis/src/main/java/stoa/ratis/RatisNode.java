package stoa.ratis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.grpc.GrpcTlsConfig;
import org.apache.ratis.proto.RaftProtos.RaftGroupIdProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Unavailable;
import stoa.base.Check;
import stoa.base.Permissions;
import stoa.base.Secret;
import stoa.log.CatchUp;
import stoa.log.Replica;
import stoa.raft.Certificates;
import stoa.raft.Acknowledged;
import stoa.raft.Credentials;
import stoa.raft.GroupId;
import stoa.raft.Line;
import stoa.raft.Member;
import stoa.raft.Node;
import stoa.raft.NodeConfig;
import stoa.raft.Questions;
import stoa.raft.Reach;
import stoa.raft.Roles;
import stoa.raft.Sockets;
import stoa.raft.Standing;
import stoa.raft.SupplyPort;

/// One Raft server in a process, with the groups that it hosts. Thread-safe.
///
/// A group is expensive: each has threads, a buffer of the size of the largest command, and a log
/// of its own. A process should have about eight at most.
public final class RatisNode implements Node {
  private static final Logger LOG = LoggerFactory.getLogger(RatisNode.class);

  // The most bytes of an entry of Raft's log beside the command.
  private static final int ENTRY_OVERHEAD = 4 << 10;

  // How often to look whether leaders are silent.
  private static final long LOOK_MILLIS = 20;

  // Ratis would close a server that was paused for longer than this, a minute by default.
  private static final TimeDuration PAUSE_MAX = TimeDuration.valueOf(365, TimeUnit.DAYS);

  // The file with this node's knowledge of the members of a group, in the group's directory.
  private static final String ACKNOWLEDGED = "acknowledged";

  // The time for which a node asks others for its own earlier progress, before it takes part in a
  // group.
  private static final long HAD_MILLIS = 2_000;

  // After a gap of this length between two looks, the process may itself have been paused.
  private static final long PAUSE_MILLIS = 200;

  private static final String UNSAFE_OPTION = "sun.misc.unsafe.memory.access";
  private static final String UNSAFE_REFUSED = "deny";

  private final NodeConfig config;
  private final RaftServer server;
  private final ConcurrentHashMap<RaftGroupId, GroupMachine> machines = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<RaftGroupId, Standing> standings = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<GroupId, RatisGroup> groups = new ConcurrentHashMap<>();
  private final ExecutorService background = Executors.newVirtualThreadPerTaskExecutor();
  private final Set<String> met = ConcurrentHashMap.newKeySet();
  private final ClientId client = ClientId.randomId();
  private final ScheduledExecutorService looking;
  private final Sockets sockets;
  private final SupplyPort supplies;

  // The time of the last look for silent leaders; only the looking thread uses it.
  private long lookedNanos = System.nanoTime();

  private static GrpcTlsConfig grpc(NodeConfig.Tls tls) throws IOException {
    var certificates = new Certificates(tls);
    return new GrpcTlsConfig(certificates.keys(), certificates.trusted(), true);
  }

  private RatisNode(NodeConfig config, Questions questions, Reach reach) throws IOException {
    this.config = config;
    Secret secret = config.secret();
    var credentials = secret == null ? null : new Credentials(secret, config.id());
    sockets =
        credentials == null ? Sockets.of(config.tls(), reach) : Sockets.with(credentials, reach);
    // During its construction, Ratis would begin the groups of its directory, without their first
    // members.
    var properties = properties(config, config.directory().resolve("none"));
    var parameters = new Parameters();
    var tls = config.tls();
    if (credentials != null) {
      GrpcConfigKeys.TLS.setConf(
          parameters, new GrpcTlsConfig(credentials.keys(), credentials.trusted(), true));
    } else if (tls != null) {
      GrpcConfigKeys.TLS.setConf(parameters, grpc(tls));
    }
    GrpcConfigKeys.Server.setServicesCustomizer(
        parameters,
        (builder, _) -> builder.intercept(new Votes(this::refusal)).intercept(new Cutting(reach)));
    server =
        RaftServer.newBuilder()
            .setServerId(RaftPeerId.valueOf(config.id()))
            .setProperties(properties)
            .setParameters(parameters)
            .setStateMachineRegistry(this::machine)
            .build();
    RaftServerConfigKeys.setStorageDir(properties, List.of(config.directory().toFile()));
    supplies =
        new SupplyPort(
            sockets,
            config.host(),
            config.supplyPort(),
            this::replica,
            this::acknowledged,
            questions);
    looking =
        Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().name("stoa-leaders").daemon().unstarted(task));
    var _ =
        looking.scheduleWithFixedDelay(this::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void look() {
    long now = System.nanoTime();
    boolean wasPaused = now - lookedNanos > TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS);
    lookedNanos = now;
    if (wasPaused) return;
    try {
      supplies.look();
      for (RatisGroup group : groups.values()) {
        group.look();
        group.members().forEach(this::meet);
      }
    } catch (RuntimeException failed) {
      LOG.debug("it was not seen whether leaders are silent", failed);
    }
  }

  /// Talks to another node once, so that its vote is not the first request to it: then the
  /// connection is there, and its classes are loaded.
  private void meet(Member other) {
    if (other.id().equals(config.id()) || !met.add(other.id())) return;
    var nothing =
        RaftRpcRequestProto.newBuilder()
            .setRequestorId(server.getId().toByteString())
            .setReplyId(RaftPeerId.valueOf(other.id()).toByteString())
            .setRaftGroupId(
                RaftGroupIdProto.newBuilder().setId(RaftGroupId.randomId().toByteString()));
    var question =
        RequestVoteRequestProto.newBuilder().setServerRequest(nothing).setPreVote(true).build();
    background.execute(() -> {
      try {
        var _ = server.getServerRpc().requestVote(question);
      } catch (IOException | RuntimeException answered) {
        // It does not have this group, which does not exist; or it is not there.
        LOG.trace("{} has answered", other, answered);
      }
    });
  }

  private @Nullable Replica replica(GroupId group) {
    RatisGroup hosted = groups.get(group);
    return hosted == null ? null : hosted.replica();
  }

  /// Returns this node's knowledge of the members of a group, hosted or not.
  private Acknowledged acknowledged(GroupId group) {
    RatisGroup hosted = groups.get(group);
    return hosted == null ? new Acknowledged(acknowledgedFile(group)) : hosted.acknowledged();
  }

  private Path acknowledgedFile(GroupId group) {
    return config.directory().resolve(id(group).getUuid().toString()).resolve(ACKNOWLEDGED);
  }

  /// Returns why this node does not vote for a candidate; null when Ratis must decide.
  private @Nullable String refusal(RaftGroupId group, String candidate, long last) {
    Standing standing = standings.get(group);
    return standing == null ? null : standing.refusal(candidate, last);
  }

  private Standing standing(GroupId name, List<Member> initial) {
    var known = new Acknowledged(acknowledgedFile(name));
    Path directory = config.directory().toAbsolutePath();
    return new Standing(config.id(), directory, known, had(name, initial, known));
  }

  /// Returns the index up to which others know this node to have had the log of a group; -1 for
  /// none. It leaves out a node that does not answer in time.
  private long had(GroupId name, List<Member> initial, Acknowledged known) {
    var others = new TreeMap<String, Member>();
    for (Member member : initial) others.put(member.id(), member);
    for (Member member : known.members()) others.put(member.id(), member);
    others.remove(config.id());
    var had = new AtomicLong(-1);
    var asking = new ArrayList<CompletableFuture<Void>>();
    for (Member other : others.values()) {
      asking.add(
          CompletableFuture.runAsync(
              () -> {
                try {
                  long index = SupplyPort.had(sockets, other, name, config.id());
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

  private GroupMachine machine(RaftGroupId id) {
    GroupMachine machine = machines.get(id);
    if (machine == null) throw new IllegalStateException("this node does not host the group " + id);
    return machine;
  }

  /// Starts a node without groups.
  ///
  /// @param questions answers the questions of other nodes
  /// @throws Unavailable when it cannot listen, or its directory cannot be used
  /// @throws IllegalArgumentException when the JVM refuses `Unsafe`, which Ratis uses
  public static RatisNode start(NodeConfig config, Questions questions) {
    return start(config, questions, Reach.ALL);
  }

  /// Starts a node like [#start(NodeConfig, Questions)] that cannot talk to all others.
  ///
  /// @param reach the nodes that it can talk to; asked at each message, and quick
  /// @throws Unavailable as there
  /// @throws IllegalArgumentException as there
  public static RatisNode start(NodeConfig config, Questions questions, Reach reach) {
    if (UNSAFE_REFUSED.equals(System.getProperty(UNSAFE_OPTION))) {
      throw new IllegalArgumentException(
          "the JVM was started with --sun-misc-unsafe-memory-access=deny, and Apache Ratis, by"
              + " which several servers keep a store, reads memory by sun.misc.Unsafe; start it"
              + " with allow");
    }
    try {
      Permissions.createDirectories(config.directory());
      var node = new RatisNode(bound(config), questions, reach);
      try {
        node.server.start();
        return node;
      } catch (IOException | RuntimeException e) {
        node.close();
        throw e;
      }
    } catch (IOException e) {
      throw new Unavailable(
          "node %s cannot be started at %s:%d, in %s: %s; does it run already?"
              .formatted(config.id(), config.host(), config.port(), config.directory(), e),
          e);
    }
  }

  /// Fills in free ports.
  private static NodeConfig bound(NodeConfig config) throws IOException {
    var address = InetAddress.getByName(config.host());
    // Both at once, so that they differ. Ratis cannot say which port it got.
    try (var one = new ServerSocket(0, 1, address);
        var two = new ServerSocket(0, 1, address)) {
      return config.withAddress(
          config.host(),
          config.port() == 0 ? one.getLocalPort() : config.port(),
          config.supplyPort() == 0 ? two.getLocalPort() : config.supplyPort());
    }
  }

  /// Returns the settings; `docs/decisions/ratis.md` explains the differences from the defaults.
  static RaftProperties properties(NodeConfig config, Path directory) {
    var properties = new RaftProperties();
    RaftServerConfigKeys.setStorageDir(properties, List.of(directory.toFile()));
    RaftConfigKeys.Rpc.setType(properties, new Grpc());
    GrpcConfigKeys.Server.setHost(properties, config.host());
    GrpcConfigKeys.Server.setPort(properties, config.port());

    var min = millis(config.electionMin().toMillis());
    var max = millis(config.electionMax().toMillis());
    RaftServerConfigKeys.Rpc.setTimeoutMin(properties, min);
    RaftServerConfigKeys.Rpc.setTimeoutMax(properties, max);
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, min.multiply(0.5));
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, max.multiply(0.5));
    RaftServerConfigKeys.LeaderElection.setLeaderStepDownWaitTime(properties, max.multiply(2));
    // A suspended machine goes on; all of them may have been suspended.
    RaftServerConfigKeys.setCloseThreshold(properties, PAUSE_MAX);

    RaftServerConfigKeys.Read.setLeaderLeaseEnabled(properties, true);
    RaftServerConfigKeys.Read.setLeaderLeaseTimeoutRatio(properties, NodeConfig.LEASE_PART);

    int entry = config.commandBytesMax() + ENTRY_OVERHEAD;
    RaftServerConfigKeys.Log.Appender.setBufferByteLimit(properties, SizeInBytes.valueOf(entry));
    RaftServerConfigKeys.Log.setWriteBufferSize(
        properties, SizeInBytes.valueOf(entry + ENTRY_OVERHEAD));
    GrpcConfigKeys.setMessageSizeMax(properties, SizeInBytes.valueOf(2L * entry + (1 << 20)));
    RaftServerConfigKeys.Log.setPreallocatedSize(properties, SizeInBytes.valueOf(64 << 10));
    RaftServerConfigKeys.Log.setSegmentSizeMax(properties, SizeInBytes.valueOf(32 << 20));
    properties.set(RaftServerConfigKeys.Log.Appender.RETRY_POLICY_KEY, "10ms,20, 100ms,100000");
    RaftServerConfigKeys.RetryCache.setExpiryTime(
        properties, TimeDuration.valueOf(10, TimeUnit.SECONDS));

    RaftServerConfigKeys.Log.Appender.setInstallSnapshotEnabled(properties, false);
    RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(properties, true);
    RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(properties, config.snapshotCommands());
    RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(properties, true);
    RaftServerConfigKeys.Log.setLogMetadataEnabled(properties, false);
    // With it, one failed append, such as a repeated one that was purged meanwhile, makes all later
    // ones fail, too.
    RaftServerConfigKeys.Log.setAppendEntriesComposeEnabled(properties, false);
    return properties;
  }

  private static TimeDuration millis(long millis) {
    return TimeDuration.valueOf(millis, TimeUnit.MILLISECONDS);
  }

  @Override
  public Member self() {
    return new Member(config.id(), config.host(), config.port(), config.supplyPort());
  }

  @Override
  public Line line(Member to) throws IOException {
    return new Line(sockets, to);
  }

  // ---- groups

  @Override
  public RatisGroup host(GroupId name, Replica replica, List<Member> initial, Roles roles) {
    RaftGroupId id = id(name);
    var events =
        Executors.newSingleThreadExecutor(task ->
            Thread.ofPlatform().name("stoa-group-" + name.number()).daemon().unstarted(task));
    var machine =
        new GroupMachine(
            replica, guarded(name, roles), events, background, new FromOthers(name, replica));
    if (machines.putIfAbsent(id, machine) != null) {
      throw new IllegalStateException(name + " is hosted here already");
    }
    try {
      var standing = standing(name, initial);
      standings.put(id, standing);
      var peers = initial.stream().map(RatisNode::peer).toList();
      begin(RaftGroup.valueOf(id, peers));
      var group =
          new RatisGroup(
              config,
              server,
              name,
              id,
              replica,
              machine,
              standing,
              events,
              background,
              other -> source(other, name));
      group.begin();
      groups.put(name, group);
      return group;
    } catch (IOException | RuntimeException e) {
      machines.remove(id);
      standings.remove(id);
      events.shutdown();
      throw new Unavailable(name + " cannot be begun: " + e, e);
    }
  }

  private SupplyPort.Client source(Member other, GroupId group) throws IOException {
    return new SupplyPort.Client(sockets, other, group, _ -> {});
  }

  /// Lets a replica here catch up.
  private final class FromOthers implements GroupMachine.CatchUp {
    private final GroupId group;
    private final Replica replica;

    // Guarded by this.
    private @Nullable String asked;
    private @Nullable Socket asking;
    private boolean left;

    FromOthers(GroupId group, Replica replica) {
      this.group = group;
      this.replica = replica;
    }

    @Override
    public void from(Member leader, BooleanSupplier still) throws IOException {
      synchronized (this) {
        asked = leader.id();
        left = false;
      }
      if (!still.getAsBoolean()) throw new IOException(leader.id() + " leads no more");
      try (var source = new SupplyPort.Client(sockets, leader, group, this::opened)) {
        CatchUp.run(replica, source);
      } catch (IOException e) {
        throw new IOException(
            "replica %s of %s is not brought level by %s: %s"
                .formatted(config.id(), group, leader, e.getMessage()),
            e);
      } finally {
        synchronized (this) {
          asked = null;
          asking = null;
        }
      }
    }

    /// Records that a socket is about to connect.
    private synchronized void opened(Socket socket) {
      asking = socket;
      if (left) Sockets.end(socket);
    }

    @Override
    public synchronized void leave(@Nullable String leader) {
      if (asked == null || asked.equals(leader)) return;
      left = true;
      if (asking != null) Sockets.end(asking);
    }
  }

  private void begin(RaftGroup group) throws IOException {
    // Not "format": existing data stays in use.
    var request = GroupManagementRequest.newAdd(client, server.getId(), 1, group, false);
    try {
      RaftClientReply reply = server.groupManagementAsync(request).join();
      if (reply.getException() != null) throw reply.getException();
    } catch (CompletionException e) {
      throw new IOException(e.getCause() == null ? e : e.getCause());
    }
  }

  @Override
  public void release(GroupId name) {
    RatisGroup group = groups.remove(name);
    if (group == null) return;
    RaftGroupId id = id(name);
    group.closing();
    try {
      var request = GroupManagementRequest.newRemove(client, server.getId(), 1, id, true, false);
      RaftClientReply reply = server.groupManagementAsync(request).join();
      if (reply.getException() != null) throw reply.getException();
    } catch (CompletionException | IOException e) {
      throw new Unavailable(name + " cannot be released: " + e, e);
    } finally {
      machines.remove(id);
      standings.remove(id);
      group.close();
    }
  }

  @Override
  public void forget(GroupId name) {
    RaftGroupId id = id(name);
    Check.that(!machines.containsKey(id), "%s is hosted", name);
    Path left = config.directory().resolve(id.getUuid().toString());
    if (!Files.exists(left)) return;
    try (var files = Files.walk(left)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    } catch (IOException e) {
      throw new Unavailable(left + " cannot be deleted: " + e, e);
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

  static RaftGroupId id(GroupId name) {
    return RaftGroupId.valueOf(new UUID(name.store(), name.number()));
  }

  static RaftPeer peer(Member member) {
    return RaftPeer.newBuilder()
        .setId(member.id())
        .setAddress(member.address())
        // Ratis itself streams nothing; it tells all members this address.
        .setDataStreamAddress(member.host() + ":" + member.supplyPort())
        // Nor does it use this one, which it tells all members, too.
        .setClientAddress(member.clients())
        .build();
  }

  static Member member(RaftPeer peer) {
    return member(
        peer.getId().toString(),
        peer.getAddress(),
        peer.getDataStreamAddress(),
        peer.getClientAddress());
  }

  static Member member(RaftPeerProto peer) {
    return member(
        peer.getId().toStringUtf8(),
        peer.getAddress(),
        peer.getDataStreamAddress(),
        peer.getClientAddress());
  }

  private static Member member(String id, String address, String supply, @Nullable String clients) {
    String place = id + "@" + address + supply.substring(supply.lastIndexOf(':'));
    return Member.of(place).withClients(clients == null ? "" : clients);
  }

  /// Leaves all groups, and closes their replicas. Others go on when they are enough.
  @Override
  public void close() {
    looking.shutdownNow();
    groups.values().forEach(RatisGroup::closing);
    supplies.close();
    // Each by itself: the server does not wait until they have ended and released everything.
    for (RatisGroup group : groups.values()) background.execute(group::stop);
    background.close();
    try {
      server.close();
    } catch (IOException e) {
      LOG.warn("the Raft server of {} was not closed cleanly", config.id(), e);
    }
    groups.values().forEach(RatisGroup::close);
    groups.clear();
  }
}
