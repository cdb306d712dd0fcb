package stoa.node;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import stoa.base.Secret;

/// The challenges that a server gives to senders that must prove something. Thread-safe.
///
/// A challenge contains its time, and a proof by a key of this process. So the server keeps nothing
/// of it, and there may be any number. It is valid for a minute; a proof for it may come twice in
/// that time.
final class Challenges {
  private static final String PURPOSE = "stoa challenge 1";
  private static final long NANOS_MAX = Duration.ofMinutes(1).toNanos();

  private final Secret own;

  Challenges() {
    byte[] key = new byte[Secret.BYTES];
    new SecureRandom().nextBytes(key);
    own = Secret.of(key);
  }

  /// Returns a new challenge.
  ByteString give(long nowNanos) {
    byte[] given = ByteBuffer.allocate(Long.BYTES).putLong(nowNanos).array();
    return ByteString.copyFrom(given).concat(ByteString.copyFrom(own.proof(PURPOSE, given)));
  }

  /// Returns whether this server gave it a short time ago.
  boolean wasGiven(ByteString challenge, long nowNanos) {
    if (challenge.size() != Long.BYTES + Secret.BYTES) return false;
    byte[] given = challenge.substring(0, Long.BYTES).toByteArray();
    byte[] proof = challenge.substring(Long.BYTES).toByteArray();
    if (!own.accepts(proof, PURPOSE, given)) return false;
    return nowNanos - ByteBuffer.wrap(given).getLong() <= NANOS_MAX;
  }
}
