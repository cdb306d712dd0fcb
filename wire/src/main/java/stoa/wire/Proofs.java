package stoa.wire;

import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import stoa.base.Secret;
import stoa.wire.proto.DrainRequest;
import stoa.wire.proto.JoinRequest;

/// Proofs, for requests that concern the servers of a store, that the sender knows the servers'
/// secret.
public final class Proofs {
  private static final String JOIN = "stoa join 1";
  private static final String DRAIN = "stoa drain 1";

  private Proofs() {}

  /// Returns a request with its proof.
  ///
  /// @param challenge the challenge of the server
  public static JoinRequest prove(JoinRequest request, Secret secret, ByteString challenge) {
    var challenged = request.toBuilder().setChallenge(challenge);
    byte[] proof = secret.proof(JOIN, parts(challenged.build()));
    return challenged.setProof(ByteString.copyFrom(proof)).build();
  }

  /// Returns a request with its proof, as [#prove(JoinRequest, Secret, ByteString)].
  public static DrainRequest prove(DrainRequest request, Secret secret, ByteString challenge) {
    var challenged = request.toBuilder().setChallenge(challenge);
    byte[] proof = secret.proof(DRAIN, parts(challenged.build()));
    return challenged.setProof(ByteString.copyFrom(proof)).build();
  }

  /// Returns whether the sender of a request knows the secret. The caller must check the challenge,
  /// too.
  public static boolean isProved(JoinRequest request, Secret secret) {
    return secret.accepts(request.getProof().toByteArray(), JOIN, parts(request));
  }

  /// Returns whether the sender knows the secret, as [#isProved(JoinRequest, Secret)].
  public static boolean isProved(DrainRequest request, Secret secret) {
    return secret.accepts(request.getProof().toByteArray(), DRAIN, parts(request));
  }

  private static byte[][] parts(JoinRequest request) {
    return new byte[][] {
      request.getChallenge().toByteArray(), bytes(request.getServer()), bytes(request.getMember())
    };
  }

  private static byte[][] parts(DrainRequest request) {
    return new byte[][] {request.getChallenge().toByteArray(), bytes(request.getServer())};
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
