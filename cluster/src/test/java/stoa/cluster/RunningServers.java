package stoa.cluster;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.ConnectionSecurity;
import stoa.Limits;
import stoa.LogOrder;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.base.Secret;
import stoa.log.Replica;
import stoa.node.ServerConfig;
import stoa.raft.Reach;
import stoa.storage.Device;
import stoa.store.threads.Threads;
import stoa.transport.Address;
import stoa.wire.Channels;
import stoa.wire.Proofs;
import stoa.wire.SingleRequests;
import stoa.wire.proto.CallStatus;
import stoa.wire.proto.ChallengeRequest;
import stoa.wire.proto.DrainRequest;
import stoa.wire.proto.JoinRequest;
import stoa.wire.proto.ReplicateRequest;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.WhereRequest;

/// Servers in this process that keep one store and talk over the loopback device. One test has
/// them, and closes them.
final class RunningServers implements AutoCloseable {
  private static final long ANSWER_MILLIS_MAX = 60_000;

  // A machine with much else to do is no fault, and a lost answer is one after any time.
  private static final Limits PATIENT =
      Limits.standard().withCallTimeMax(Duration.ofMillis(ANSWER_MILLIS_MAX));

  private static final long BETWEEN_LOOKS_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  @Shared(name = "cluster.Counter")
  static class Counter {
    private long value;

    long increment() {
      return ++value;
    }

    @Accessor
    long value() {
      return value;
    }
  }

  /// Its objects are spread over all groups.
  @Shared(name = "cluster.Tally", order = LogOrder.STREAM)
  static class Tally {
    private long value;

    long increment() {
      return ++value;
    }

    @Accessor
    long value() {
      return value;
    }
  }

  private final Path directory;
  private final int groups;
  private int replicas;
  private final List<ClusterServer> servers = new ArrayList<>();
  private Duration lease = ServerConfig.of("127.0.0.1", 0).lease();
  private Duration replaceAfter = ClusterOptions.REPLACE_AFTER;
  private Limits limits = PATIENT;
  private Replica.LogPlace logs = Machine.real().logs();

  // The secret that the first server has made.
  private @Nullable Secret secret;

  // The ports at which clients found the servers first. The other servers know them.
  private final Map<String, Integer> ports = new HashMap<>();

  private final Set<String> cutOff = ConcurrentHashMap.newKeySet();

  /// @param directory where each server has a directory of its name
  /// @param replicas how many members of a group execute what it is asked
  RunningServers(Path directory, int groups, int replicas) {
    this.directory = directory;
    this.groups = groups;
    this.replicas = replicas;
  }

  /// Sets how long sessions live without a connection, and how long calls may take, at servers that
  /// are started from now on.
  void within(Duration time) {
    lease = time;
    limits = limits.withCallTimeMax(time);
  }

  /// Sets how long a server may be silent before others get its replicas, at servers that are
  /// started from now on.
  void replaceAfter(Duration time) {
    replaceAfter = time;
  }

  /// Sets where servers that are started from now on have the logs of their replicas.
  void logs(Replica.LogPlace place) {
    logs = place;
  }

  /// Starts servers, and waits until all is where it should be.
  void start(String... names) throws IOException {
    for (String name : names) begin(name);
    settle();
  }

  /// Starts a server, and waits for nothing.
  void begin(String name) throws IOException {
    start(directory.resolve(name), name, ports.getOrDefault(name, 0));
    ports.put(name, last().port());
  }

  /// Starts a server in a directory of any name.
  void begin(Path own, String name) throws IOException {
    start(own, name, 0);
  }

  /// Starts a server on whose class path some classes are not, and waits for nothing.
  void beginWithout(Set<Class<?>> types, String name) throws IOException {
    start(directory.resolve(name), name, 0, new Without(types));
    ports.put(name, last().port());
  }

  /// Starts a server that is named after its port.
  void startWithoutName() throws IOException {
    start(directory.resolve("some"), null, 0);
  }

  /// Has all classes but some.
  private static final class Without extends ClassLoader {
    private final Set<String> names;

    Without(Set<Class<?>> types) {
      super(RunningServers.class.getClassLoader());
      names = types.stream().map(Class::getName).collect(Collectors.toUnmodifiableSet());
    }

    @Override
    protected Class<?> loadClass(String wanted, boolean resolve) throws ClassNotFoundException {
      if (names.contains(wanted)) throw new ClassNotFoundException(wanted);
      return super.loadClass(wanted, resolve);
    }
  }

  private void start(Path own, @Nullable String name, int port) throws IOException {
    start(own, name, port, RunningServers.class.getClassLoader());
  }

  private void start(Path own, @Nullable String name, int port, ClassLoader loader)
      throws IOException {
    ClusterServer contact = servers.isEmpty() ? null : first();
    servers.add(
        ClusterServer.start(
            new ClusterOptions(
                own,
                ServerConfig.of("127.0.0.1", port).withLease(lease),
                name,
                "127.0.0.1",
                0,
                contact == null || ServerDirectory.was(own) ? null : secret,
                null,
                groups,
                replicas,
                replaceAfter,
                contact == null ? null : "127.0.0.1:" + contact.port(),
                contact(contact),
                StoaConfig.of("file:" + own).withLimits(limits),
                loader,
                _ -> true,
                machine(name))));
    if (secret == null) secret = SecretFile.in(own);
  }

  /// Cuts a server off from all others, which reach it no more; or ends that.
  void cutOff(String name, boolean isCut) {
    if (isCut) cutOff.add(name);
    else cutOff.remove(name);
  }

  private Machine machine(@Nullable String name) {
    Machine real = Machine.real();
    Replica.LogPlace place = logs;
    return new Machine() {
      @Override
      public Replica.LogPlace logs() {
        return place;
      }

      @Override
      public Device device(Path own) {
        return real.device(own);
      }

      @Override
      public void delete(Path own) {
        real.delete(own);
      }

      @Override
      public Clock clock() {
        return real.clock();
      }

      @Override
      public Threads threads() {
        return real.threads();
      }

      @Override
      public String advertised(String address) {
        return real.advertised(address);
      }

      @Override
      public Reach reach() {
        return other -> !cutOff.contains(other) && (name == null || !cutOff.contains(name));
      }
    };
  }

  private static Contact contact(@Nullable ClusterServer joined) {
    return new Contact() {
      @Override
      public void join(String name, String member, @Nullable Secret secret) {
        var request = JoinRequest.newBuilder().setServer(name).setMember(member).build();
        String refusal =
            asLeader(
                Objects.requireNonNull(joined),
                to ->
                    to.join(Proofs.prove(request, Objects.requireNonNull(secret), challenge(to)))
                        .getRefusal());
        if (!refusal.isEmpty()) throw new Unavailable(refusal);
      }
    };
  }

  ClusterServer first() {
    return servers.getFirst();
  }

  ClusterServer last() {
    return servers.getLast();
  }

  ClusterServer get(int index) {
    return servers.get(index);
  }

  /// The server that clients find at a port; it may have ended.
  ClusterServer withPort(int port) {
    return servers.stream().filter(server -> isAt(server, port)).findAny().orElseThrow();
  }

  /// A server that clients do not find at a port.
  ClusterServer otherThan(int port) {
    return servers.stream().filter(server -> !isAt(server, port)).findAny().orElseThrow();
  }

  private boolean isAt(ClusterServer server, int port) {
    return Objects.equals(ports.get(server.name()), port);
  }

  // ---- what they say

  /// Waits until all groups have their members and leaders, and nothing moves.
  void settle() {
    try (var channels = new Channels(ConnectionSecurity.none())) {
      var server = channels.to(new Address("127.0.0.1", last().port()));
      var questions = new SingleRequests(server, ANSWER_MILLIS_MAX);
      while (!isSettled(questions.status(StatusRequest.getDefaultInstance()))) awaitNext();
    }
  }

  /// Waits until servers may have something else to tell.
  ///
  /// @throws IllegalStateException when the time of the test is over
  void awaitNext() {
    LockSupport.parkNanos(BETWEEN_LOOKS_NANOS); // the servers are in this process
    if (Thread.interrupted()) throw new IllegalStateException("the test takes too long");
  }

  /// Waits for the same as [#settle], and until a server has nothing of a group.
  void settleWithout(String name, int group) {
    do settle();
    while (has(name, group));
  }

  /// Returns whether a server is a member of a group.
  boolean has(String name, int group) {
    return status().getServersList().stream()
        .filter(server -> server.getServer().equals(name))
        .flatMap(server -> server.getGroupsList().stream())
        .anyMatch(member -> member.getGroup() == group);
  }

  private boolean isSettled(StatusReply status) {
    int count = status.getServersCount();
    if (count != servers.size()) return false;
    var members = new int[groups];
    var leads = new int[groups];
    for (var server : status.getServersList()) {
      int leadsHere = 0;
      for (var member : server.getGroupsList()) {
        if (!member.getMove().isEmpty() || member.getBehind() > 100) return false;
        if (member.getFailed()) return false;
        members[member.getGroup()]++;
        if (!member.getLeads()) continue;
        leads[member.getGroup()]++;
        leadsHere++;
      }
      if (!server.getState().isEmpty() || leadsHere > (groups + count - 1) / count) return false;
    }
    for (int group = 0; group < groups; group++) {
      if (members[group] != Math.min(Math.max(3, replicas), count) || leads[group] != 1)
        return false;
    }
    return true;
  }

  /// Returns the status that the last server reports.
  StatusReply status() {
    return ask(last().port(), to -> to.status(StatusRequest.getDefaultInstance()));
  }

  /// Returns how many calls wait for conditions of objects of group 0.
  long awaiting() {
    StatusReply leads = ask(leader(last(), 0), to -> to.status(StatusRequest.getDefaultInstance()));
    return leads.getCallsList().stream().filter(CallStatus::getAwaiting).count();
  }

  /// The port of the server that has a group's part of the store, which one of them tells as soon
  /// as it knows.
  static int leader(ClusterServer asked, int group) {
    var request = WhereRequest.newBuilder().setGroup(group).build();
    String leader = ask(asked.port(), to -> to.where(request)).getLeader();
    return Integer.parseInt(leader.substring(leader.lastIndexOf(':') + 1));
  }

  /// Asks who leads group 0, again when another server leads meanwhile; returns why it refuses, or
  /// nothing.
  private static String asLeader(ClusterServer asked, Function<SingleRequests, String> question) {
    while (true) {
      String refusal = ask(leader(asked, 0), question);
      if (!refusal.contains("does not lead group 0")) return refusal;
    }
  }

  private static <T> T ask(int port, Function<SingleRequests, T> question) {
    return SingleRequests.ask(
        ConnectionSecurity.none(), new Address("127.0.0.1", port), ANSWER_MILLIS_MAX, question);
  }

  /// A client that knows one of them.
  static Stoa open(ClusterServer server) {
    return open("127.0.0.1:" + server.port());
  }

  /// A client that knows all of them.
  Stoa open() {
    var addresses = servers.stream().map(server -> "127.0.0.1:" + server.port()).toList();
    return open(String.join(",", addresses));
  }

  private static Stoa open(String addresses) {
    return Stoa.open(StoaConfig.of("stoa://" + addresses).withLimits(PATIENT));
  }

  /// Changes how many members of each group execute what it is asked; returns the refusal, or
  /// nothing when all is where it should be then.
  String replicate(int number) {
    var request = ReplicateRequest.newBuilder().setReplicas(number).build();
    String refusal = asLeader(last(), to -> to.replicate(request).getRefusal());
    if (!refusal.isEmpty()) return refusal;
    replicas = number;
    int executing = groups * Math.min(number, servers.size());
    do settle();
    while (status().getServersList().stream()
            .flatMap(server -> server.getGroupsList().stream())
            .filter(member -> !member.getLogUnit())
            .count()
        != executing);
    return "";
  }

  // ---- who leaves

  /// Asks who leads group 0 to drain a server; why it does not, or nothing.
  ///
  /// @param asked tells who leads
  String drain(ClusterServer asked, String name) {
    var request = DrainRequest.newBuilder().setServer(name).build();
    Secret known = Objects.requireNonNull(secret);
    return asLeader(
        asked, to -> to.drain(Proofs.prove(request, known, challenge(to))).getRefusal());
  }

  /// As who does not know the secret.
  String drainWithout(String name) {
    var request = DrainRequest.newBuilder().setServer(name).build();
    return asLeader(last(), to -> to.drain(request).getRefusal());
  }

  /// As who does not know the secret.
  String joinWithout(String member) {
    String name = member.substring(0, member.indexOf('@'));
    var request = JoinRequest.newBuilder().setServer(name).setMember(member).build();
    return ask(leader(last(), 0), to -> to.join(request)).getRefusal();
  }

  private static ByteString challenge(SingleRequests of) {
    return of.challenge(ChallengeRequest.getDefaultInstance()).getChallenge();
  }

  /// The first one is none of them any more; it is not closed.
  ClusterServer removeFirst() {
    return servers.removeFirst();
  }

  /// The server that leads a group stops at once.
  ///
  /// @return its port
  int stopLeader(int group) {
    ClusterServer leads = removeLeader(group);
    leads.close();
    return leads.port();
  }

  /// Stops the server that leads a group as when its process ends, and returns its name.
  String haltLeader(int group) {
    ClusterServer leads = removeLeader(group);
    leads.halt();
    return leads.name();
  }

  private ClusterServer removeLeader(int group) {
    int port = leader(last(), group);
    ClusterServer leads =
        servers.stream().filter(server -> server.port() == port).findAny().orElseThrow();
    servers.remove(leads);
    return leads;
  }

  /// Stops a server.
  void stop(String name) {
    ClusterServer server =
        servers.stream().filter(each -> each.name().equals(name)).findAny().orElseThrow();
    servers.remove(server);
    server.close();
  }

  /// Stops all, one after the other; they can be started again.
  void stop() {
    servers.forEach(ClusterServer::close);
    servers.clear();
  }

  @Override
  public void close() {
    stop();
  }
}
