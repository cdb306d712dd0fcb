package stoa.stacksync.replay;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;
import stoa.stacksync.Chunk;
import stoa.stacksync.Metadata;

/// How the numbers and names of the trace become ids and values of the service.
public final class TraceIds {
  private TraceIds() {}

  /// The id of a user of the trace.
  public static UUID user(int number) {
    return id("user " + number);
  }

  /// The id of a device of the trace.
  public static UUID device(int number) {
    return id("device " + number);
  }

  /// The id of a workspace of the trace.
  public static UUID workspace(String name) {
    return id("workspace " + name);
  }

  /// Returns the description of the change by the author's device. The trace has no folders of its
  /// own: a file lies at the root, and its name is its path in the workspace.
  public static Metadata metadata(TraceRow row) {
    var name = pathInWorkspace(row.workspace(), row.path());
    return new Metadata(
        row.status(),
        Metadata.ROOT,
        name,
        false,
        name.endsWith(".md") ? "text/markdown" : "text/plain",
        row.size(),
        row.checksum(),
        row.chunks().stream().map(Chunk::new).toList(),
        Instant.ofEpochSecond(row.time()));
  }

  private static String pathInWorkspace(String workspace, String path) {
    return path.startsWith(workspace + "/") ? path.substring(workspace.length() + 1) : path;
  }

  private static UUID id(String name) {
    return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
  }
}
