package stoa.storage.index;

/// A place for what the index says of one key: where the bytes at an offset stand in the log, that
/// they are a hole, or that an older entry was removed. One owner uses it and uses it again.
public final class Entry {
  /// The mark of an entry that points to bytes.
  public static final int DATA = 0;

  /// The mark of an entry whose bytes were cut off; it stands against what is older.
  public static final int HOLE = 1;

  /// The mark that hides older entries of its key.
  static final int REMOVED = 2;

  public long offset = -1;

  /// The log position of the item with the bytes; of a hole or a removal, of the record that made
  /// it.
  public long position = -1;

  /// How many bytes of the item come before those of the entry.
  public int skip;

  public long length;
  public long version;
  public int mark;

  /// None.
  public Entry() {}

  /// Makes it an entry of a record space.
  public void set(long newOffset, long newPosition, long newLength) {
    set(newOffset, newPosition, 0, newLength, 0, DATA);
  }

  /// Sets all fields, and answers this.
  public Entry set(
      long newOffset, long newPosition, int newSkip, long newLength, long newVersion, int newMark) {
    offset = newOffset;
    position = newPosition;
    skip = newSkip;
    length = newLength;
    version = newVersion;
    mark = newMark;
    return this;
  }

  /// Makes it the same as another one, and answers this.
  public Entry set(Entry other) {
    return set(other.offset, other.position, other.skip, other.length, other.version, other.mark);
  }

  /// The first offset behind it.
  public long end() {
    return offset + length;
  }

  /// Makes this the part of itself between two offsets within it.
  public Entry clip(long from, long to) {
    if (!isHole()) skip += (int) (from - offset);
    offset = from;
    length = to - from;
    return this;
  }

  /// Makes it none.
  public void clear() {
    set(-1, -1, 0, 0, 0, DATA);
  }

  /// Whether it is one.
  public boolean exists() {
    return position >= 0;
  }

  /// Whether it is a hole.
  public boolean isHole() {
    return mark == HOLE;
  }

  boolean isRemoved() {
    return mark == REMOVED;
  }
}
