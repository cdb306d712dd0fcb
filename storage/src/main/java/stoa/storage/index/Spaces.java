package stoa.storage.index;

/// The spaces in which the index keeps a versioned object.
public final class Spaces {
  /// Offset → the bytes from there on. Entries never overlap.
  public static final int BYTES = 128;

  /// Hash of an attribute's name → its item. A removed attribute is a hole.
  public static final int ATTRIBUTES = 129;

  /// First version of a range → the number of its versions. Ranges never overlap or touch.
  public static final int VERSIONS = 130;

  /// At offset 0, with the birth as its version: entries of the object below that log position are
  /// dead, since it was deleted there. At offset 1, of a fork: the note that made it, with the
  /// number of the snapshot as its version.
  public static final int BIRTH = 131;

  /// Number of a snapshot → the note that made it.
  public static final int SNAPSHOTS = 132;

  /// Number of a record space → the note that trimmed it, with the least offset that stays as its
  /// version.
  public static final int TRIMS = 133;

  /// Slot of a fork → the note that made it, with the number of this object's snapshot as its
  /// version.
  public static final int FORKS = 134;

  private Spaces() {}
}
