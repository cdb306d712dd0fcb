package stoa.storage;

/// The spaces in which the index keeps a versioned object.
final class Spaces {
  /// Offset → the bytes from there on. Entries never overlap.
  static final int BYTES = 128;

  /// Hash of an attribute's name → its item. A removed attribute is a hole.
  static final int ATTRIBUTES = 129;

  /// First version of a range → how many versions it has. Ranges never overlap or touch.
  static final int VERSIONS = 130;

  /// At offset 0, with the birth as its version: below that log position nothing of the object
  /// lives, for it was deleted there.
  static final int BIRTH = 131;

  /// Number of a snapshot → the note that made it.
  static final int SNAPSHOTS = 132;

  /// Number of a record space → the note that trimmed it, with the least offset that stays as its
  /// version.
  static final int TRIMS = 133;

  private Spaces() {}
}
