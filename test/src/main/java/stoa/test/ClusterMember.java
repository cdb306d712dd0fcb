package stoa.test;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.ConnectionSecurity;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.base.Secret;
import stoa.cluster.ClusterOptions;
import stoa.cluster.ClusterServer;
import stoa.cluster.Contact;
import stoa.cluster.ServerDirectory;
import stoa.node.ServerConfig;
import stoa.transport.Address;
import stoa.transport.StatusException;
import stoa.wire.Proofs;
import stoa.wire.SingleRequests;
import stoa.wire.proto.ChallengeRequest;
import stoa.wire.proto.JoinRequest;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.WhereRequest;

/// One of several servers that keep a store, as a program. One thread at a time starts and ends it.
final class ClusterMember implements Program {
  private static final String HOST = "127.0.0.1";
  private static final long ANSWER_MILLIS_MAX = 20_000;
  private static final int BEHIND_MAX = 100;

  private final Path directory;
  private final String name;
  private final int groups;
  private final int replicas;
  private final StoaConfig config;
  private final TestMachine machine;
  private final @Nullable ClusterMember first;
  private final Supplier<Secret> secret;
  private final ClassLoader loader = Loaders.ofTest();
  private volatile @Nullable ClusterServer server;

  /// @param first the member that the others join; null for the first one
  /// @param secret returns the secret of the servers, once the first one has made it
  ClusterMember(
      Path directory,
      String name,
      int groups,
      int replicas,
      StoaConfig config,
      TestMachine machine,
      @Nullable ClusterMember first,
      Supplier<Secret> secret) {
    this.directory = directory;
    this.name = name;
    this.groups = groups;
    this.replicas = replicas;
    this.config = config;
    this.machine = machine;
    this.first = first;
    this.secret = secret;
  }

  @Override
  public int start() throws IOException {
    LibraryLogs.silence();
    ClusterMember joined = ServerDirectory.was(directory) ? null : first;
    var started =
        ClusterServer.start(
            new ClusterOptions(
                directory,
                ServerConfig.of(HOST, 0),
                name,
                HOST,
                0,
                joined == null ? null : secret.get(),
                null,
                groups,
                replicas,
                ClusterOptions.REPLACE_AFTER,
                joined == null ? null : HOST + ":" + joined.port(),
                joining(),
                config,
                loader,
                _ -> true,
                machine));
    server = started;
    return started.port();
  }

  private Contact joining() {
    return (server, member, secretOfServers) -> {
      ClusterMember joined = Objects.requireNonNull(first);
      var request = JoinRequest.newBuilder().setServer(server).setMember(member).build();
      String refusal =
          ask(
              joined.leader(0),
              to -> {
                var challenge = to.challenge(ChallengeRequest.getDefaultInstance()).getChallenge();
                Secret known = Objects.requireNonNull(secretOfServers);
                return to.join(Proofs.prove(request, known, challenge)).getRefusal();
              });
      if (!refusal.isEmpty()) throw new Unavailable(refusal);
    };
  }

  @Override
  public void halt() {
    LibraryLogs.silence();
    ClusterServer ended = server;
    server = null;
    if (ended == null) return;
    ended.halt();
    awaitEnd(ended);
  }

  /// Waits until a server has ended that may be closing by itself, since its disk has failed: its
  /// ports are free then.
  private static void awaitEnd(ClusterServer ended) {
    try {
      var _ = ended.awaitClosed();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void stop() {
    LibraryLogs.silence();
    ClusterServer ended = server;
    server = null;
    if (ended == null) return;
    ended.close();
    awaitEnd(ended);
  }

  private int port() {
    ClusterServer running = server;
    if (running == null) throw new IllegalStateException(name + " does not run");
    return running.port();
  }

  private <T> T ask(Function<SingleRequests, T> question) {
    return ask(HOST + ":" + port(), question);
  }

  private static <T> T ask(String address, Function<SingleRequests, T> question) {
    var to = Objects.requireNonNull(Address.parse(address), address);
    return SingleRequests.ask(ConnectionSecurity.none(), to, ANSWER_MILLIS_MAX, question);
  }

  /// Returns where clients find the leader of a group; empty when this server does not know.
  String leader(int group) {
    try {
      return ask(to -> to.where(WhereRequest.newBuilder().setGroup(group).build()).getLeader());
    } catch (StatusException | IllegalStateException unknown) {
      return "";
    }
  }

  /// Returns whether all groups have their members and a leader, and nothing moves, as this server
  /// sees it.
  ///
  /// @param count the number of servers
  boolean isSettled(int count) {
    StatusReply status;
    try {
      status = ask(to -> to.status(StatusRequest.getDefaultInstance()));
    } catch (StatusException | IllegalStateException busy) {
      return false;
    }
    if (status.getServersCount() != count) return false;
    var members = new int[groups];
    var leads = new int[groups];
    for (var each : status.getServersList()) {
      if (!each.getState().isEmpty()) return false;
      for (var group : each.getGroupsList()) {
        boolean moves = !group.getMove().isEmpty() || group.getBehind() > BEHIND_MAX;
        if (moves || group.getFailed()) return false;
        members[group.getGroup()]++;
        if (group.getLeads()) leads[group.getGroup()]++;
      }
    }
    for (int group = 0; group < groups; group++) {
      if (members[group] != Math.min(Math.max(3, replicas), count) || leads[group] != 1) {
        return false;
      }
    }
    return true;
  }
}
