package stoa.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import stoa.base.Secret;
import stoa.cluster.SecretFile;
import stoa.wire.Proofs;
import stoa.wire.SingleRequests;
import stoa.wire.proto.ChallengeRequest;
import stoa.wire.proto.DrainReply;
import stoa.wire.proto.DrainRequest;
import stoa.wire.proto.JoinReply;
import stoa.wire.proto.JoinRequest;

/// The option that names the file with the secret of the servers, and the requests that need the
/// secret.
public final class ServersSecret {
  // The environment variable that names the file where no option does.
  static final String VARIABLE = "STOA_SECRET_FILE";

  @Option(
      names = "--secret",
      paramLabel = "FILE",
      description =
          "The secret of the servers that keep the store: a copy of cluster.secret, which is in the"
              + " data directory of each. Default: the file that STOA_SECRET_FILE names.")
  private @Nullable Path file;

  /// Returns the secret; null when there is none.
  ///
  /// @throws IllegalArgumentException when the file cannot be used
  @Nullable Secret value() {
    Path given = file;
    String named = System.getenv(VARIABLE);
    if (given == null && named != null && !named.isEmpty()) given = Path.of(named);
    return given == null ? null : SecretFile.read(given);
  }

  /// Returns the options with which another server joins the one in a directory; none when that has
  /// no secret, as with earlier versions.
  public static List<String> options(Path directory) {
    Path secret = directory.resolve(SecretFile.NAME);
    return Files.exists(secret) ? List.of("--secret", secret.toString()) : List.of();
  }

  public static JoinReply join(
      SingleRequests server, JoinRequest request, @Nullable Secret secret) {
    if (secret == null) return server.join(request);
    var challenge = server.challenge(ChallengeRequest.getDefaultInstance()).getChallenge();
    return server.join(Proofs.prove(request, secret, challenge));
  }

  public static DrainReply drain(
      SingleRequests server, DrainRequest request, @Nullable Secret secret) {
    if (secret == null) return server.drain(request);
    var challenge = server.challenge(ChallengeRequest.getDefaultInstance()).getChallenge();
    return server.drain(Proofs.prove(request, secret, challenge));
  }
}
