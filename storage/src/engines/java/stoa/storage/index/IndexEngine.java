package stoa.storage.index;

import java.io.IOException;

/// The operations of an index that the device uses. One owner uses it.
interface IndexEngine extends AutoCloseable {
  /// Adds an entry, or replaces the one at its key.
  void put(long high, long low, int space, IndexEntry entry) throws IOException;

  void remove(long high, long low, int space, long offset) throws IOException;

  /// Makes what was put and removed visible to readers, together. Durable it need not be: the log
  /// is.
  void show() throws IOException;

  /// The entry at the greatest offset up to `offset`, in `found`; answers whether there is one.
  /// Sees what was put before [#show] too.
  boolean floor(long high, long low, int space, long offset, IndexEntry found) throws IOException;

  /// Visits the entries from an offset on until the visitor answers false. The visitor changes
  /// nothing.
  void scan(long high, long low, int space, long from, Visitor visitor) throws IOException;

  /// Returns when nothing is being written or merged in the background.
  void settle() throws IOException;

  /// How many of so many entries are on the disk, about; the others wait in the heap.
  long onDisk(long entries) throws IOException;

  @Override
  void close();

  @FunctionalInterface
  interface Visitor {
    boolean visit(IndexEntry entry);
  }
}
