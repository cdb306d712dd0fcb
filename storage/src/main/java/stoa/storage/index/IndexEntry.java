package stoa.storage.index;

/// A holder of the index's entry for one key: the place in the log of the bytes at an offset, a
/// hole, or the removal of an older entry. One owner uses it, again and again.
public final class IndexEntry {
  /// The mark of an entry that points to bytes.
  public static final int DATA = 0;

  /// The mark of an entry whose bytes were cut off; it hides older ones.
  public static final int HOLE = 1;

  /// The mark that removes older entries of its key.
  static final int REMOVED = 2;

  public long offset = -1;

  /// The log position of the item with the bytes; of a hole or a removal, of the record that made
  /// it.
  public long position = -1;

  /// The number of bytes of the item before those of the entry.
  public int skip;

  public long length;
  public long version;
  public int mark;

  /// Creates an empty holder.
  public IndexEntry() {}

  /// Sets an entry of a record space.
  public void set(long newOffset, long newPosition, long newLength) {
    set(newOffset, newPosition, 0, newLength, 0, DATA);
  }

  /// Sets all fields, and returns this.
  public IndexEntry set(
      long newOffset, long newPosition, int newSkip, long newLength, long newVersion, int newMark) {
    offset = newOffset;
    position = newPosition;
    skip = newSkip;
    length = newLength;
    version = newVersion;
    mark = newMark;
    return this;
  }

  /// Copies another one, and returns this.
  public IndexEntry set(IndexEntry other) {
    return set(other.offset, other.position, other.skip, other.length, other.version, other.mark);
  }

  /// Returns the first offset after it.
  public long end() {
    return offset + length;
  }

  /// Reduces it to its part between two offsets within it.
  public IndexEntry clip(long from, long to) {
    if (!isHole()) skip += (int) (from - offset);
    offset = from;
    length = to - from;
    return this;
  }

  /// Empties it.
  public void clear() {
    set(-1, -1, 0, 0, 0, DATA);
  }

  /// Returns whether it has an entry.
  public boolean exists() {
    return position >= 0;
  }

  /// Returns whether it is a hole.
  public boolean isHole() {
    return mark == HOLE;
  }

  boolean isRemoved() {
    return mark == REMOVED;
  }
}
