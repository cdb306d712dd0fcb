package stoa.trials;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.ConnectionSecurity;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.base.Secret;
import stoa.cluster.ClusterOptions;
import stoa.cluster.ClusterServer;
import stoa.cluster.Contact;
import stoa.cluster.Machine;
import stoa.cluster.SecretFile;
import stoa.cluster.ServerDirectory;
import stoa.node.ServerConfig;
import stoa.transport.Address;
import stoa.wire.Proofs;
import stoa.wire.SingleRequests;
import stoa.wire.proto.ChallengeRequest;
import stoa.wire.proto.JoinRequest;
import stoa.wire.proto.WhereRequest;

/// Servers in this process that keep one store together, each with a class path of its own. One
/// owner uses them.
final class LocalServers implements AutoCloseable {
  private static final String HOST = "127.0.0.1";
  private static final long ANSWER_MILLIS_MAX = 60_000;

  private final Path directory;
  private final List<ClusterServer> servers = new ArrayList<>();
  private final List<Integer> ports = new ArrayList<>();

  /// Starts them.
  ///
  /// @param directory where each has a directory of its own
  /// @param classes finds the shared classes
  LocalServers(Path directory, int count, ClassLoader classes) throws IOException {
    this.directory = directory;
    try {
      for (int i = 0; i < count; i++) {
        servers.add(start(i, 0, classes));
        ports.add(servers.getLast().port());
      }
    } catch (IOException | RuntimeException failed) {
      close();
      throw failed;
    }
  }

  /// Ends a server, and starts it again where it was.
  ///
  /// @param classes finds the shared classes from now on
  void restart(int which, ClassLoader classes) throws IOException {
    servers.get(which).close();
    servers.set(which, start(which, ports.get(which), classes));
  }

  /// The address of a server.
  String address(int which) {
    return HOST + ":" + ports.get(which);
  }

  /// The URL of the store.
  String url() {
    var addresses = ports.stream().map(port -> HOST + ":" + port).toList();
    return "stoa://" + String.join(",", addresses);
  }

  private ClusterServer start(int which, int port, ClassLoader classes) throws IOException {
    Path own = directory.resolve("server-" + which);
    boolean was = ServerDirectory.was(own);
    boolean joins = which > 0 && !was;
    Secret secret = joins ? SecretFile.in(directory.resolve("server-0")) : null;
    return ClusterServer.start(
        new ClusterOptions(
            own,
            ServerConfig.of(HOST, port),
            "server-" + which,
            HOST,
            0,
            secret,
            null,
            1,
            3,
            ClusterOptions.REPLACE_AFTER,
            joins ? address(0) : null,
            new Joining(),
            StoaConfig.of("file:" + own),
            classes,
            _ -> true,
            Machine.real()));
  }

  private final class Joining implements Contact {
    @Override
    public void join(String server, String member, @Nullable Secret secret) {
      var request = JoinRequest.newBuilder().setServer(server).setMember(member).build();
      String refusal =
          SingleRequests.ask(
              ConnectionSecurity.none(),
              new Address(HOST, ports.getFirst()),
              ANSWER_MILLIS_MAX,
              first -> {
                var _ = first.where(WhereRequest.getDefaultInstance()); // waits until it leads
                var challenge = first.challenge(ChallengeRequest.getDefaultInstance());
                return first
                    .join(
                        Proofs.prove(
                            request, Objects.requireNonNull(secret), challenge.getChallenge()))
                    .getRefusal();
              });
      if (!refusal.isEmpty()) throw new Unavailable(refusal);
    }
  }

  @Override
  public void close() {
    servers.forEach(ClusterServer::close);
  }
}
