package stoa.storage.object;

/// The encoding of updates for a peer or an export. The table is in the package's text.
final class UpdateFormat {
  static final long MAGIC = 0x53544f4155504454L; // STOAUPDT
  static final int VERSION = 1;

  static final int VERSIONS = 1;
  static final int DATA = 2;
  static final int HOLE = 3;
  static final int ATTRIBUTE = 4;
  static final int REMOVED_ATTRIBUTE = 5;
  static final int END = 6;

  /// The most bytes of data in one frame.
  static final int DATA_BYTES_MAX = 1 << 20;

  /// The most bytes in one frame.
  static final int FRAME_BYTES_MAX = 64 << 20;

  private UpdateFormat() {}
}
