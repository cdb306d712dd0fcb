package stoa.ratis;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import stoa.base.Secret;

/// How a [RatisNode] runs.
///
/// @param id what it is called among the members of its groups, for ever
/// @param host the address that it listens on, and at which the others find it
/// @param port of its Raft server; 0 takes a free one, which must stay the same when it comes again
/// @param supplyPort where others get from it what they lack; 0 as above
/// @param directory for the logs of its groups
/// @param electionMin after how long without a word from the leader another one is looked for, at
///   least; a leader is sure of being the leader for [#LEASE_PART] of it
/// @param electionMax at most
/// @param commandBytesMax the size of the largest command. Each group has a buffer of this size
/// @param snapshotCommands after how many commands a replica makes its device durable, and drops
///   them from its log
/// @param patience how long a proposer waits for an outcome
/// @param secret what the members prove themselves to each other with; null for a store of an
///   earlier version, which has none
/// @param tls with what members without a secret prove themselves; null for none
public record RatisConfig(
    String id,
    String host,
    int port,
    int supplyPort,
    Path directory,
    Duration electionMin,
    Duration electionMax,
    int commandBytesMax,
    long snapshotCommands,
    Duration patience,
    @Nullable Secret secret,
    @Nullable Tls tls) {

  /// For which part of [#electionMin()] a leader is sure of being the leader, once others have
  /// heard it. The rest is for how long it may not look, or hear, without losing that certainty.
  static final double LEASE_PART = 0.75;

  /// @throws IllegalArgumentException when the directory's path has a comma: Ratis would take it
  ///   for several
  public RatisConfig {
    if (directory.toAbsolutePath().toString().contains(",")) {
      throw new IllegalArgumentException(
          "\""
              + directory
              + "\" has a comma in its path, which would be cut there; choose another");
    }
  }

  /// Files in PEM.
  ///
  /// @param certificate the chain of this node
  /// @param key its private key, in PKCS 8
  /// @param authorities who signs the members' certificates
  public record Tls(Path certificate, Path key, Path authorities) {}

  /// On loopback and free ports, without a secret.
  public static RatisConfig of(String id, Path directory) {
    return new RatisConfig(
        id,
        "127.0.0.1",
        0,
        0,
        directory,
        Duration.ofMillis(500),
        Duration.ofSeconds(2),
        16 << 20,
        4_096,
        Duration.ofSeconds(30),
        null,
        null);
  }

  /// This one at another address.
  public RatisConfig withAddress(String value, int raft, int supply) {
    return new RatisConfig(
        id,
        value,
        raft,
        supply,
        directory,
        electionMin,
        electionMax,
        commandBytesMax,
        snapshotCommands,
        patience,
        secret,
        tls);
  }

  /// This one with other times until another leader is looked for.
  public RatisConfig withElection(Duration min, Duration max) {
    return new RatisConfig(
        id,
        host,
        port,
        supplyPort,
        directory,
        min,
        max,
        commandBytesMax,
        snapshotCommands,
        patience,
        secret,
        tls);
  }

  /// This one with another [#commandBytesMax()].
  public RatisConfig withCommandBytesMax(int value) {
    return new RatisConfig(
        id,
        host,
        port,
        supplyPort,
        directory,
        electionMin,
        electionMax,
        value,
        snapshotCommands,
        patience,
        secret,
        tls);
  }

  /// This one with another [#snapshotCommands()].
  public RatisConfig withSnapshotCommands(long value) {
    return new RatisConfig(
        id,
        host,
        port,
        supplyPort,
        directory,
        electionMin,
        electionMax,
        commandBytesMax,
        value,
        patience,
        secret,
        tls);
  }

  /// This one with other [#tls()].
  public RatisConfig withTls(Tls value) {
    return new RatisConfig(
        id,
        host,
        port,
        supplyPort,
        directory,
        electionMin,
        electionMax,
        commandBytesMax,
        snapshotCommands,
        patience,
        secret,
        value);
  }

  /// This one with another [#secret()].
  public RatisConfig withSecret(Secret value) {
    return new RatisConfig(
        id,
        host,
        port,
        supplyPort,
        directory,
        electionMin,
        electionMax,
        commandBytesMax,
        snapshotCommands,
        patience,
        value,
        tls);
  }
}
