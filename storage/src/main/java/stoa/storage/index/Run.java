package stoa.storage.index;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.UnknownFormat;
import stoa.storage.segment.EncodedNumbers;
import stoa.storage.segment.EntryOrder;
import stoa.storage.segment.SegmentLog;

/// An immutable sorted file of index entries, over one range of the log.
///
/// Thread-safe. Every [IndexState] that lists it holds a use of it; the end of the last use closes
/// the file, and deletes it when the run was replaced.
public final class Run {
  private final Disk disk;
  private final DiskFile file;
  private final int number;
  private final int blocks;
  private final int root;
  private final int rootLevel;
  private final long entries;
  private final long from;
  private final long to;
  private final AtomicInteger uses = new AtomicInteger();
  private volatile boolean replaced;

  private final long moment;

  private Run(Disk disk, DiskFile file, int number, int blocks, long moment, byte[] footer) {
    this.disk = disk;
    this.file = file;
    this.number = number;
    this.blocks = blocks;
    int p = RunFormat.BLOCK_HEADER;
    this.root = EncodedNumbers.getInt(footer, p + 12);
    this.rootLevel = EncodedNumbers.getInt(footer, p + 16);
    this.entries = EncodedNumbers.getLong(footer, p + 20);
    this.from = EncodedNumbers.getLong(footer, p + 28);
    this.to = EncodedNumbers.getLong(footer, p + 36);
    this.moment = Math.max(to, moment);
  }

  /// Opens a run with this number of blocks. Throws [CorruptData] when its ends are not whole.
  ///
  /// @param moment the log position of the last deletions that it takes into account; 0 when all
  ///   readers know of them
  public static Run open(Disk disk, int number, int blocks, long moment) throws IOException {
    var file = disk.open(RunFormat.name(number));
    try {
      long size = file.size();
      if (size != (long) blocks * RunFormat.BLOCK) {
        throw corrupt(number, size, "the file ends here, but had " + blocks + " blocks");
      }
      var header = load(file, number, 0);
      var footer = load(file, number, blocks - 1);
      if (RunFormat.type(header, 0) != RunFormat.HEADER
          || RunFormat.type(footer, 0) != RunFormat.FOOTER
          || EncodedNumbers.getLong(header, RunFormat.BLOCK_HEADER) != RunFormat.MAGIC) {
        throw corrupt(number, 0, "the file is not a run");
      }
      int version = EncodedNumbers.getInt(header, RunFormat.BLOCK_HEADER + 8);
      if (version != RunFormat.VERSION) {
        throw new UnknownFormat(
            "%s in %s has format version %d; this program reads version %d: use the program that wrote it"
                .formatted(RunFormat.name(number), disk.place(), version, RunFormat.VERSION));
      }
      return new Run(disk, file, number, blocks, moment, footer);
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /// Returns its number.
  public int number() {
    return number;
  }

  /// Returns the number of its blocks.
  public int blocks() {
    return blocks;
  }

  long entries() {
    return entries;
  }

  long from() {
    return from;
  }

  long to() {
    return to;
  }

  /// Returns the first moment that this run can show: it has entries from before, and lacks some
  /// that were deleted before.
  long moment() {
    return moment;
  }

  /// Returns its file.
  public DiskFile file() {
    return file;
  }

  void use() {
    uses.incrementAndGet();
  }

  /// Marks the file for deletion after the last use.
  void markReplaced() {
    replaced = true;
  }

  void release() {
    if (uses.decrementAndGet() > 0) return;
    file.close();
    if (!replaced) return;
    try {
      disk.delete(RunFormat.name(number));
    } catch (IOException e) {
      // No manifest names the file, so opening the device removes it.
    }
  }

  /// Reads and verifies one block.
  public byte[] load(int block) throws IOException {
    return load(file, number, block);
  }

  private static byte[] load(DiskFile file, int number, int block) throws IOException {
    var bytes = new byte[RunFormat.BLOCK];
    long at = (long) block * RunFormat.BLOCK;
    if (!SegmentLog.readFully(file, at, bytes, 0, bytes.length)) {
      throw corrupt(number, at, "the file ends within the block that stands here");
    }
    if (!RunFormat.isBlock(new CRC32C(), bytes, 0, number, block)) {
      throw corrupt(number, at, "the block's checksum does not match");
    }
    return bytes;
  }

  static CorruptData corrupt(int number, long at, String what) {
    return CorruptData.ofIndex(
        "%s at %d: %s. The data itself is in the segments: close the device and open it again to rebuild the index"
            .formatted(RunFormat.name(number), at, what));
  }

  /// Puts the entry at the greatest offset at or below `offset` into `found`, unless `found` has
  /// that offset or a greater one.
  void floor(BlockCache cache, long high, long low, int space, long offset, IndexEntry found)
      throws IOException {
    int block = floorLeaf(cache, high, low, space, offset);
    if (block < 0) return;
    var leaf = new LeafCursor();
    leaf.seek(cache.get(this, block), high, low, space, offset);
    long bestOffset = -1;
    long bestPosition = -1;
    int bestSkip = 0;
    long bestLength = 0;
    long bestVersion = 0;
    int bestMark = 0;
    while (leaf.next()) {
      int order = leaf.compareSeries(high, low, space);
      if (order < 0) continue;
      if (order > 0 || leaf.offset > offset) break;
      bestOffset = leaf.offset;
      bestPosition = leaf.position;
      bestSkip = leaf.skip;
      bestLength = leaf.length;
      bestVersion = leaf.version;
      bestMark = leaf.mark;
    }
    if (bestOffset <= found.offset) return;
    if (space < EntryOrder.VERSIONED) found.set(bestOffset, bestPosition, bestLength);
    else found.set(bestOffset, bestPosition, bestSkip, bestLength, bestVersion, bestMark);
  }

  private boolean mayHold(BlockCache cache, byte[] fences, long high, long low, int space)
      throws IOException {
    int first = EncodedNumbers.getInt(fences, RunFormat.BLOCK_HEADER);
    int count = EncodedNumbers.getInt(fences, RunFormat.BLOCK_HEADER + 4);
    long hash = Memtable.hash(high, low, space);
    return RunFormat.mayHold(cache.get(this, first + RunFormat.filterBlock(hash, count)), hash);
  }

  /// Returns the leaf that may have the first entry of a series at or above an offset, or -1 when
  /// the series has none.
  int ceilingLeaf(BlockCache cache, long high, long low, int space, long offset)
      throws IOException {
    int block = root;
    for (int level = rootLevel; level > 0; level--) {
      var fences = cache.get(this, block);
      int i = Math.max(0, FenceKey.lastAtOrBelow(fences, high, low, space, offset));
      // With another leaf after it in the group, the entry would be in this group, filter included.
      boolean within = i < RunFormat.count(fences, 0) - 1;
      if (level == 1 && within && !mayHold(cache, fences, high, low, space)) return -1;
      block = FenceKey.child(fences, i);
    }
    return block;
  }

  /// Returns the leaf that may have the first entry of all at or above a key.
  int leafAt(BlockCache cache, long high, long low, int space, long offset) throws IOException {
    int block = root;
    for (int level = rootLevel; level > 0; level--) {
      var fences = cache.get(this, block);
      int i = Math.max(0, FenceKey.lastAtOrBelow(fences, high, low, space, offset));
      block = FenceKey.child(fences, i);
    }
    return block;
  }

  /// Returns the leaf with the last entry of a series at or below an offset, or -1 when the series
  /// has none.
  int floorLeaf(BlockCache cache, long high, long low, int space, long offset) throws IOException {
    int block = root;
    for (int level = rootLevel; level > 0; level--) {
      var fences = cache.get(this, block);
      int i = FenceKey.lastAtOrBelow(fences, high, low, space, offset);
      if (i < 0) return -1;
      if (level == 1 && !mayHold(cache, fences, high, low, space)) return -1;
      block = FenceKey.child(fences, i);
    }
    return block;
  }
}
