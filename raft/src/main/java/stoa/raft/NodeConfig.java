package stoa.raft;

import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.base.Secret;

/// The configuration of a [Node].
///
/// @param id its permanent name among the members of its groups
/// @param host the address that it listens on, and at which the others find it
/// @param port of its Raft server; 0 takes a free one, which must stay the same after a restart
/// @param supplyPort the port at which others get missing data; 0 takes a free one, likewise
/// @param directory for the logs of its groups
/// @param election the silence of the leader after which members look for another one; a leader is
///   sure of its leadership for [#LEASE_PART] of it
/// @param commandBytesMax the size of the largest command
/// @param snapshotCommands after how many commands a replica makes its device durable, and drops
///   them from its log
/// @param patience how long a proposer waits for an outcome
/// @param secret authenticates the members; null for a store of an earlier version, which has none
/// @param tls authenticates members without a secret; null for none
public record NodeConfig(
    String id,
    String host,
    int port,
    int supplyPort,
    Path directory,
    Duration election,
    int commandBytesMax,
    long snapshotCommands,
    Duration patience,
    @Nullable Secret secret,
    @Nullable Tls tls) {

  /// The part of [#election()] for which a leader is sure of its leadership, once others have heard
  /// it. During the rest it may not look, or hear, without losing that certainty.
  public static final double LEASE_PART = 0.4;

  /// The part of [#election()] after which members look for another leader, when nothing listens
  /// any more where the leader was, and it has told that its lease is over then. It is longer than
  /// [#LEASE_PART] by more than clocks differ in speed.
  public static final double ENDED_PART = 0.45;

  /// How many times the wait between elections doubles, while they fail. It is two fifths of
  /// [#election()] at first.
  public static final int DOUBLINGS_MAX = 5;

  /// Files in PEM.
  ///
  /// @param certificate the chain of this node
  /// @param key its private key, in PKCS 8
  /// @param authorities the signers of the members' certificates
  /// @param members returns whether the owner of such a certificate is a member
  public record Tls(
      Path certificate, Path key, Path authorities, Predicate<X509Certificate> members) {
    /// Creates one for which every certificate of the signers is a member's.
    public Tls(Path certificate, Path key, Path authorities) {
      this(certificate, key, authorities, _ -> true);
    }
  }

  /// Returns a configuration on loopback and free ports, without a secret.
  public static NodeConfig of(String id, Path directory) {
    return new NodeConfig(
        id,
        "127.0.0.1",
        0,
        0,
        directory,
        Duration.ofMillis(500),
        16 << 20,
        4_096,
        Duration.ofSeconds(30),
        null,
        null);
  }

  /// Returns this configuration with another address.
  public NodeConfig withAddress(String value, int raft, int supply) {
    return new NodeConfig(
        id,
        value,
        raft,
        supply,
        directory,
        election,
        commandBytesMax,
        snapshotCommands,
        patience,
        secret,
        tls);
  }

  /// Returns this configuration with another [#commandBytesMax()].
  public NodeConfig withCommandBytesMax(int value) {
    return new NodeConfig(
        id,
        host,
        port,
        supplyPort,
        directory,
        election,
        value,
        snapshotCommands,
        patience,
        secret,
        tls);
  }

  /// Returns this configuration with another [#snapshotCommands()].
  public NodeConfig withSnapshotCommands(long value) {
    return new NodeConfig(
        id,
        host,
        port,
        supplyPort,
        directory,
        election,
        commandBytesMax,
        value,
        patience,
        secret,
        tls);
  }

  /// Returns this configuration with other [#tls()].
  public NodeConfig withTls(Tls value) {
    return new NodeConfig(
        id,
        host,
        port,
        supplyPort,
        directory,
        election,
        commandBytesMax,
        snapshotCommands,
        patience,
        secret,
        value);
  }

  /// Returns this configuration with another [#secret()].
  public NodeConfig withSecret(Secret value) {
    return new NodeConfig(
        id,
        host,
        port,
        supplyPort,
        directory,
        election,
        commandBytesMax,
        snapshotCommands,
        patience,
        value,
        tls);
  }
}
