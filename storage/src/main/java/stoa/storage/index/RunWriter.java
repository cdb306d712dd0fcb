package stoa.storage.index;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.zip.CRC32C;
import stoa.storage.disk.DiskFile;
import stoa.storage.segment.EncodedNumbers;
import stoa.storage.segment.EntryOrder;

/// Writes one run from entries in ascending order. One owner uses it, once.
final class RunWriter {
  /*
   * The writer writes the tree of a run in one pass, children before parents. A *group* is the
   * leaves under one fence block of level 1; its filter, over the series that occur in it, follows
   * its leaves, and that fence block names it. So the heap holds one group's hashes and one block
   * per level, however large the run.
   */
  // At least a group's filter: 140 leaves of at most 194 series are 9 blocks.
  private static final int BUFFER_BLOCKS = 32;

  private final DiskFile file;
  private final int number;
  private final CRC32C crc = new CRC32C();
  private final byte[] buffer = new byte[BUFFER_BLOCKS * RunFormat.BLOCK];
  private int buffered; // blocks
  // The number of the next block.
  private int next;

  private final byte[] leaf = new byte[RunFormat.BLOCK];
  private int leafEnd = RunFormat.BLOCK_HEADER;
  private int leafCount;
  private final byte[] leafKey = new byte[FenceKey.BYTES];

  private long high;
  private long low;
  private int space;
  private long offset;
  private long position;
  // The version of the last entry that has one.
  private long version;
  private long entries;

  private long[] groupHashes = new long[256];
  private int groupSeries;

  private final ArrayList<FenceBlock> levels = new ArrayList<>();

  RunWriter(DiskFile file, int number) throws IOException {
    this.file = file;
    this.number = number;
    int at = blank();
    EncodedNumbers.putLong(buffer, at + RunFormat.BLOCK_HEADER, RunFormat.MAGIC);
    EncodedNumbers.putInt(buffer, at + RunFormat.BLOCK_HEADER + 8, RunFormat.VERSION);
    write(at, RunFormat.HEADER, 0, 0);
  }

  /// Adds an entry after the previous one. In a record space it has no skip, version or mark.
  void add(
      long entryHigh,
      long entryLow,
      int entrySpace,
      long entryOffset,
      long entryAt,
      int skip,
      long length,
      long entryVersion,
      int mark)
      throws IOException {
    boolean versioned = entrySpace >= EntryOrder.VERSIONED;
    int entryMax = versioned ? RunFormat.VERSIONED_ENTRY_MAX : RunFormat.ENTRY_MAX;
    int restarts = (leafCount + RunFormat.RESTART_ENTRIES) / RunFormat.RESTART_ENTRIES;
    if (leafEnd + entryMax > RunFormat.RESTARTS_END - 2 * restarts) finishLeaf();
    boolean same = high == entryHigh && low == entryLow && space == entrySpace;
    if (groupSeries == 0 || !same) addHash(Memtable.hash(entryHigh, entryLow, entrySpace));
    int p = leafEnd;
    boolean full = !same || leafCount % RunFormat.RESTART_ENTRIES == 0;
    if (full) p = putSeries(entryHigh, entryLow, entrySpace, entryOffset);
    else p = EncodedNumbers.putVarint(leaf, p, entryOffset - offset);
    if (versioned) {
      if (full) {
        position = 0;
        version = 0;
      }
      leafEnd = putVersioned(p, entryAt, skip, length, entryVersion, mark);
    } else {
      p =
          EncodedNumbers.putVarint(
              leaf, p, full ? entryAt : EncodedNumbers.zigzag(entryAt - position));
      leafEnd = EncodedNumbers.putVarint(leaf, p, length);
    }
    leafCount++;
    entries++;
    high = entryHigh;
    low = entryLow;
    space = entrySpace;
    offset = entryOffset;
    position = entryAt;
  }

  /// Begins a full entry and returns the position after it.
  private int putSeries(long entryHigh, long entryLow, int entrySpace, long entryOffset) {
    int p = leafEnd;
    if (leafCount == 0) FenceKey.put(leafKey, 0, entryHigh, entryLow, entrySpace, entryOffset);
    if (leafCount % RunFormat.RESTART_ENTRIES == 0) addRestart(p);
    leaf[p] = 0;
    EncodedNumbers.putLong(leaf, p + 1, entryHigh);
    EncodedNumbers.putLong(leaf, p + 9, entryLow);
    leaf[p + 17] = (byte) entrySpace;
    return EncodedNumbers.putVarint(leaf, p + 18, entryOffset);
  }

  private int putVersioned(
      int at, long entryAt, int skip, long length, long entryVersion, int mark) {
    int flags = mark;
    if (skip != 0) flags |= RunFormat.FLAG_SKIP;
    if (entryVersion == version) flags |= RunFormat.FLAG_SAME_VERSION;
    leaf[at] = (byte) flags;
    int p = EncodedNumbers.putVarint(leaf, at + 1, EncodedNumbers.zigzag(entryAt - position));
    if (mark == IndexEntry.REMOVED) return p;
    p = EncodedNumbers.putVarint(leaf, p, length);
    if (skip != 0) p = EncodedNumbers.putVarint(leaf, p, skip);
    if (entryVersion != version)
      p = EncodedNumbers.putVarint(leaf, p, EncodedNumbers.zigzag(entryVersion - version));
    version = entryVersion;
    return p;
  }

  private void addRestart(int at) {
    int index = leafCount / RunFormat.RESTART_ENTRIES;
    EncodedNumbers.putShort(leaf, RunFormat.RESTARTS_END - 2 * index - 2, at);
    EncodedNumbers.putShort(leaf, RunFormat.RESTARTS_END, index + 1);
  }

  private void addHash(long hash) {
    if (groupSeries == groupHashes.length)
      groupHashes = Arrays.copyOf(groupHashes, 2 * groupSeries);
    groupHashes[groupSeries++] = hash;
  }

  private void finishLeaf() throws IOException {
    int at = blank();
    System.arraycopy(leaf, 0, buffer, at, RunFormat.BLOCK);
    int block = write(at, RunFormat.LEAF, 0, leafCount);
    Arrays.fill(leaf, (byte) 0);
    leafEnd = RunFormat.BLOCK_HEADER;
    leafCount = 0;
    addFence(1, leafKey, 0, block);
  }

  private void addFence(int level, byte[] key, int keyAt, int child) throws IOException {
    if (levels.size() < level) levels.add(new FenceBlock());
    var fences = levels.get(level - 1);
    fences.add(key, keyAt, child);
    // At once, so that the next leaf's series go to the next group.
    if (fences.count == RunFormat.FANOUT) finishFences(level);
  }

  private void finishFences(int level) throws IOException {
    var fences = levels.get(level - 1);
    if (level == 1) {
      int keys = Math.max(1, groupSeries); // an empty run has an empty filter
      int blocks = (keys + RunFormat.FILTER_KEYS - 1) / RunFormat.FILTER_KEYS;
      EncodedNumbers.putInt(fences.bytes, RunFormat.BLOCK_HEADER, next);
      EncodedNumbers.putInt(fences.bytes, RunFormat.BLOCK_HEADER + 4, blocks);
      writeFilter(blocks);
    }
    int at = blank();
    System.arraycopy(fences.bytes, 0, buffer, at, RunFormat.BLOCK);
    int block = write(at, RunFormat.FENCE, level, fences.count);
    fences.count = 0;
    addFence(level + 1, fences.bytes, RunFormat.FENCES, block);
    Arrays.fill(fences.bytes, (byte) 0);
  }

  private void writeFilter(int blocks) throws IOException {
    if (buffered + blocks > BUFFER_BLOCKS) flush();
    int first = buffered * RunFormat.BLOCK;
    Arrays.fill(buffer, first, first + blocks * RunFormat.BLOCK, (byte) 0);
    for (int i = 0; i < groupSeries; i++) {
      long hash = groupHashes[i];
      int at = first + RunFormat.filterBlock(hash, blocks) * RunFormat.BLOCK;
      RunFormat.addToFilter(buffer, at, hash);
    }
    for (int i = 0; i < blocks; i++) write(first + i * RunFormat.BLOCK, RunFormat.FILTER, 0, 0);
    groupSeries = 0;
  }

  /// Writes the rest and makes the run's bytes durable. Returns the number of blocks.
  ///
  /// @param from the log position at which the range of the run begins
  /// @param to the log position at which it ends
  int finish(long from, long to) throws IOException {
    if (leafCount > 0 || entries == 0) finishLeaf();
    int root = -1;
    int rootLevel = 0;
    for (int level = 1; root < 0; level++) {
      var fences = levels.get(level - 1);
      boolean top = level == levels.size();
      if (top && level > 1 && fences.count == 1) {
        root = FenceKey.child(fences.bytes, 0);
        rootLevel = level - 1;
      } else if (fences.count > 0) {
        finishFences(level);
      }
    }
    int at = blank();
    int p = at + RunFormat.BLOCK_HEADER;
    EncodedNumbers.putLong(buffer, p, RunFormat.MAGIC);
    EncodedNumbers.putInt(buffer, p + 8, RunFormat.VERSION);
    EncodedNumbers.putInt(buffer, p + 12, root);
    EncodedNumbers.putInt(buffer, p + 16, rootLevel);
    EncodedNumbers.putLong(buffer, p + 20, entries);
    EncodedNumbers.putLong(buffer, p + 28, from);
    EncodedNumbers.putLong(buffer, p + 36, to);
    write(at, RunFormat.FOOTER, 0, 0);
    flush();
    file.sync();
    return next;
  }

  /// Makes room in the buffer for one block of zeros.
  private int blank() throws IOException {
    if (buffered == BUFFER_BLOCKS) flush();
    int at = buffered * RunFormat.BLOCK;
    Arrays.fill(buffer, at, at + RunFormat.BLOCK, (byte) 0);
    return at;
  }

  private int write(int at, int type, int level, int count) {
    RunFormat.seal(crc, buffer, at, type, level, count, number, next);
    buffered++;
    return next++;
  }

  private void flush() throws IOException {
    long start = (long) (next - buffered) * RunFormat.BLOCK;
    file.write(start, ByteBuffer.wrap(buffer, 0, buffered * RunFormat.BLOCK));
    buffered = 0;
  }

  /// The fences of a level that are not yet written.
  private static final class FenceBlock {
    private final byte[] bytes = new byte[RunFormat.BLOCK];
    private int count;

    void add(byte[] key, int keyAt, int child) {
      int at = RunFormat.FENCES + count * RunFormat.FENCE_ENTRY;
      System.arraycopy(key, keyAt, bytes, at, FenceKey.BYTES);
      EncodedNumbers.putInt(bytes, at + FenceKey.BYTES, child);
      count++;
    }
  }
}
