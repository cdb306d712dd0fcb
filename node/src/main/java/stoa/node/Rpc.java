package stoa.node;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The methods that clients call over gRPC. The door refuses every other one.
enum Rpc {
  /// The connection of a client.
  CONVERSE("stoa.Store/Converse"),
  /// The state of the server.
  STATUS("stoa.Store/Status"),
  /// Takes back a call.
  CANCEL("stoa.Store/Cancel"),
  /// Names the server that has a group.
  WHERE("stoa.Store/Where"),
  /// Begins a proof of the servers' secret.
  CHALLENGE("stoa.Store/Challenge"),
  /// Adds a server.
  JOIN("stoa.Store/Join"),
  /// Removes a server.
  DRAIN("stoa.Store/Drain"),
  /// Changes the number of replicas.
  REPLICATE("stoa.Store/Replicate"),
  /// Ends a quarantine.
  ACCEPT("stoa.Store/Accept"),
  /// Lists the versions of code.
  VERSIONS("stoa.Store/Versions"),
  /// Reads a version of code.
  CLASS_FILES("stoa.Store/ClassFiles"),
  /// Tries or deploys code.
  DEPLOY("stoa.Store/Deploy"),
  /// Looks into the store.
  LOOK("stoa.Store/Look"),
  /// Reads or changes how much of the past stays.
  RETAIN("stoa.Store/Retain"),
  /// Begins a backup.
  BACK_UP("stoa.Store/BackUp"),
  /// Copies a segment for a backup.
  READ_SEGMENT("stoa.Store/ReadSegment"),
  /// A stream of the tree of client-placed objects.
  TREE("stoa.Tree/Migrate");

  private static final Map<String, Rpc> BY_NAME =
      Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(Rpc::path, Function.identity()));

  private final String path;

  Rpc(String path) {
    this.path = path;
  }

  /// Returns its full name in gRPC.
  String path() {
    return path;
  }

  /// Returns the method of a full name; null when there is none.
  static @Nullable Rpc of(String path) {
    return BY_NAME.get(path);
  }
}
