package stoa.cluster;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.StoaConfig;
import stoa.base.Secret;
import stoa.node.ServerConfig;
import stoa.raft.NodeConfig;

/// How to start one of several servers.
///
/// @param directory where it keeps everything
/// @param server how it listens to clients
/// @param name its name among the others; null for `s` and its port for clients. Ignored when it
///   was one of them before
/// @param host where the others reach it; ignored as the name
/// @param port its port, 0 for any; ignored as the name
/// @param secret the secret by which the servers prove themselves; null for the directory's, or for
///   a new one when a store begins
/// @param security by which servers without a secret prove themselves; null for nothing
/// @param groups how many groups keep a new store
/// @param replicas how many servers should keep each group of a new store
/// @param replaceAfter after this time without an answer from a server, others get its replicas;
///   more than [#AWAY_AFTER]. The leader of the first group goes by its own
/// @param join a server whose store this one joins, `HOST:PORT`; null for a new store
/// @param contact sends messages to other servers
/// @param store the configuration of the store; its URL is used in messages only
/// @param loader of the shared classes
/// @param admissible which classes clients may make elements of collections, besides those that the
///   configuration lists and those that shared classes name
/// @param machine what the server uses of its machine
public record ClusterOptions(
    Path directory,
    ServerConfig server,
    @Nullable String name,
    String host,
    int port,
    @Nullable Secret secret,
    NodeConfig.@Nullable Tls security,
    int groups,
    int replicas,
    Duration replaceAfter,
    @Nullable String join,
    Contact contact,
    StoaConfig store,
    ClassLoader loader,
    Predicate<Class<?>> admissible,
    Machine machine) {
  /// How long a server may be silent before it counts as away.
  public static final Duration AWAY_AFTER = Duration.ofSeconds(3);

  /// How long a server may be silent before others get its replicas, unless told otherwise.
  public static final Duration REPLACE_AFTER = Duration.ofMinutes(10);
}
