package stoa.storage;

/// A place for what an index lookup found: the extent at `offset` stands at a log position. One
/// owner uses it and uses it again.
final class Entry {
  long offset = -1;
  long position = -1;
  int length;

  void set(long newOffset, long newPosition, int newLength) {
    offset = newOffset;
    position = newPosition;
    length = newLength;
  }

  boolean exists() {
    return position >= 0;
  }
}
