package stoa.storage;

import stoa.base.StreamId;

/// Extents that become visible and durable together. Built by one thread and reused.
public final class Commit {
  /// An empty commit.
  public Commit() {}

  /// Empties this commit.
  public Commit clear() {
    throw new UnsupportedOperationException();
  }

  /// Adds `length` bytes of `data` from `from` as the extent of an object at an offset.
  public Commit write(StreamId object, int space, long offset, byte[] data, int from, int length) {
    throw new UnsupportedOperationException();
  }

  /// The encoded size so far.
  public int bytes() {
    throw new UnsupportedOperationException();
  }
}
