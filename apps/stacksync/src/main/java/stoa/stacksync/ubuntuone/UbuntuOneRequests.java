package stoa.stacksync.ubuntuone;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import stoa.stacksync.Chunk;
import stoa.stacksync.ItemChange;
import stoa.stacksync.Metadata;
import stoa.stacksync.Status;

/// How the rows of a trace become requests of the service: each user has one device and one
/// workspace, all three with the same id, and each row is a commit of one change.
public final class UbuntuOneRequests {
  /// Bytes in a chunk, as StackSync cuts files.
  public static final long CHUNK_BYTES = 512 * 1024;

  private UbuntuOneRequests() {}

  /// One request.
  ///
  /// @param seconds when it is due, since the begin of the trace
  /// @param user the id of the user, the device and the workspace
  public record Request(double seconds, UUID user, ItemChange change) {}

  /// Returns the requests that create the files that exist before the trace begins.
  public static List<Request> before(UbuntuOneTrace trace) {
    var requests = new ArrayList<Request>();
    for (var file : trace.earlierFiles()) {
      var metadata = metadata(Status.NEW, file.user(), file.file(), 1, false, "", 0, 0);
      var change = new ItemChange(item(file.user(), file.file()), 1, metadata);
      requests.add(new Request(0, user(file.user()), change));
    }
    return requests;
  }

  /// Returns the requests of a trace, in its order. A row that makes a file again gives none.
  public static List<Request> of(UbuntuOneTrace trace) {
    var requests = new ArrayList<Request>();
    var seen = new HashSet<UbuntuOneTrace.UserFile>();
    for (var row : trace.rows()) {
      boolean first = seen.add(new UbuntuOneTrace.UserFile(row.user(), row.file()));
      if (!first && row.op() == UbuntuOneRow.Op.NEW) continue;
      requests.add(request(row));
    }
    return requests;
  }

  private static Request request(UbuntuOneRow row) {
    var status =
        switch (row.op()) {
          case NEW -> Status.NEW;
          case MODIFIED -> Status.CHANGED;
          case DELETED -> Status.DELETED;
          case MOVED -> Status.RENAMED;
        };
    // A directory is committed as an empty file: a trace does not say what lies in it.
    boolean directory = row.type().equals("Directory");
    var metadata =
        metadata(
            status,
            row.user(),
            row.file(),
            row.version(),
            directory,
            row.mime(),
            status == Status.DELETED ? 0 : row.size(),
            row.seconds());
    var change = new ItemChange(item(row.user(), row.file()), row.version(), metadata);
    return new Request(row.seconds(), user(row.user()), change);
  }

  private static Metadata metadata(
      Status status,
      String user,
      long file,
      int version,
      boolean directory,
      String mime,
      long size,
      double seconds) {
    long bytes = directory ? 0 : size;
    long chunks = (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
    return new Metadata(
        status,
        Metadata.ROOT,
        (directory ? "folder " : "file ") + file,
        false,
        mime,
        bytes,
        version,
        LongStream.range(0, chunks)
            .mapToObj(i -> new Chunk(id(user + ' ' + file + ' ' + version + ' ' + i).toString()))
            .toList(),
        Instant.EPOCH.plusMillis(Math.round(seconds * 1000)));
  }

  /// The id of a user: the UUID that the trace has, or one made from its number.
  public static UUID user(String user) {
    try {
      return UUID.fromString(user);
    } catch (IllegalArgumentException aNumber) {
      return id("user " + user);
    }
  }

  /// The id of a file: its number, with that of its user, because traces count files by user.
  private static long item(String user, long file) {
    return user(user).getLeastSignificantBits() * 31 + file;
  }

  private static UUID id(String name) {
    return UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
  }
}
