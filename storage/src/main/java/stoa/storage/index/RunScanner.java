package stoa.storage.index;

import java.io.IOException;
import java.util.zip.CRC32C;
import stoa.storage.segment.SegmentLog;

/// Reads the entries of a run in order, past the cache, in growing numbers of blocks. One owner
/// uses it.
final class RunScanner {
  private static final int BUFFER_BLOCKS_MAX = 16;

  private final Run run;
  private final LeafCursor entry = new LeafCursor();
  private final CRC32C crc = new CRC32C();
  private byte[] buffer = new byte[0];
  // The number of the block at the start of the buffer.
  private int first;
  private int buffered; // blocks
  // The number of the next block.
  private int next;

  /// Creates a scanner that begins with the first entry of the run.
  RunScanner(Run run) {
    this.run = run;
    this.next = 1;
    this.first = 1;
  }

  /// Creates a scanner in a leaf, with its verified bytes, before the first entry at or above a
  /// key, or somewhat further before.
  RunScanner(Run run, int leaf, byte[] bytes, long high, long low, int space, long offset) {
    this.run = run;
    this.next = leaf + 1;
    this.first = leaf + 1;
    entry.seek(bytes, high, low, space, offset);
  }

  /// Returns the present entry.
  LeafCursor entry() {
    return entry;
  }

  /// Goes to the next entry. Returns false after the last one.
  boolean next() throws IOException {
    while (!entry.next()) {
      if (!nextLeaf()) return false;
    }
    return true;
  }

  private boolean nextLeaf() throws IOException {
    while (next < run.blocks()) {
      if (next >= first + buffered) fill();
      int at = (next - first) * RunFormat.BLOCK;
      if (!RunFormat.isBlock(crc, buffer, at, run.number(), next)) {
        throw Run.corrupt(
            run.number(), (long) next * RunFormat.BLOCK, "the block's checksum does not match");
      }
      next++;
      if (RunFormat.type(buffer, at) != RunFormat.LEAF) continue;
      entry.start(buffer, at);
      return true;
    }
    return false;
  }

  private void fill() throws IOException {
    first = next;
    int wanted = Math.min(Math.max(2, 4 * buffered), BUFFER_BLOCKS_MAX);
    buffered = Math.min(wanted, run.blocks() - next);
    if (buffer.length < buffered * RunFormat.BLOCK) buffer = new byte[wanted * RunFormat.BLOCK];
    long at = (long) next * RunFormat.BLOCK;
    if (!SegmentLog.readFully(run.file(), at, buffer, 0, buffered * RunFormat.BLOCK)) {
      throw Run.corrupt(run.number(), at, "the file ends within the blocks that stand here");
    }
  }
}
