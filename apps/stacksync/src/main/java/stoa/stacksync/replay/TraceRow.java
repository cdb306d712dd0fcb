package stoa.stacksync.replay;

import java.util.List;
import stoa.stacksync.Status;

/// One change in the trace. Immutable.
///
/// @param time the time of the change, in seconds since 1970
/// @param request the request to which it belongs; those of one request are consecutive
/// @param user its author
/// @param device the author's device
/// @param workspace where the item is after the change: the first folders of its path
/// @param item the item's number, kept over renames and moves
/// @param status the effect of the change
/// @param version the version that it got
/// @param base the version on which the author worked; less than `version - 1` when others had been
///   faster; [#BASE_UNKNOWN] when it is not known
/// @param size of the file in bytes; 0 when it was deleted
/// @param checksum of the file; 0 when it was deleted
/// @param path of the file, with the workspace
/// @param chunks fingerprints of its blocks
public record TraceRow(
    long time,
    int request,
    int user,
    int device,
    String workspace,
    long item,
    Status status,
    int version,
    int base,
    long size,
    long checksum,
    String path,
    List<String> chunks) {
  /// The value of [#base()] when it is not known.
  public static final int BASE_UNKNOWN = -1;

  public TraceRow {
    chunks = List.copyOf(chunks);
  }

  /// The version that the author's device asks for: one more than the version it knew.
  int versionAskedFor() {
    return base == BASE_UNKNOWN ? version : base + 1;
  }
}
