package stoa.bench.storage;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/// The bytes that the storage benchmark writes: every offset has its own byte, the same in any
/// order and in pieces of any size, so that a reader can verify it. No byte is zero, and the bytes
/// do not compress.
///
/// Immutable. Each copy is memory of its own, as it would be for independent callers.
public final class Content {
  /// The alignment of memory and files for direct input and output.
  static final int ALIGNMENT = 4096;

  /*
   * The bytes repeat every PERIOD, a multiple of the alignment: so bytes of an aligned offset begin
   * aligned in memory too. 257 pages are not a power of two, so a block from a wrong place shows.
   */
  private static final int PERIOD = 257 * ALIGNMENT;

  private final ByteBuffer[] copies;
  private final int sizeMax;

  /// Creates content in pieces of at most a number of bytes.
  Content(int copies, int sizeMax) {
    this.sizeMax = sizeMax;
    this.copies = new ByteBuffer[copies];
    var random = new SplittableRandom(4711);
    var period = new byte[PERIOD];
    for (int at = 0; at < PERIOD; at++) period[at] = (byte) (1 + random.nextInt(255));
    for (int i = 0; i < copies; i++) {
      var bytes = aligned(PERIOD + sizeMax);
      while (bytes.hasRemaining()) bytes.put(period, 0, Math.min(PERIOD, bytes.remaining()));
      this.copies[i] = bytes.clear();
    }
  }

  /// Returns the bytes of an offset, from a caller's copy.
  ByteBuffer at(int caller, long offset, int size) {
    return copies[caller % copies.length].slice((int) (offset % PERIOD), size);
  }

  /// Returns the first wrong byte of a read at an offset, among those before the buffer's position;
  /// -1 when all are right.
  long mismatch(long offset, ByteBuffer read) {
    int size = read.position();
    for (int at = 0; at < size; at += sizeMax) {
      int piece = Math.min(sizeMax, size - at);
      long wrong =
          MemorySegment.ofBuffer(at(0, offset + at, piece))
              .mismatch(MemorySegment.ofBuffer(read.slice(at, piece)));
      if (wrong >= 0) return offset + at + wrong;
    }
    return -1;
  }

  /// Returns an empty direct buffer that begins in memory at a multiple of [#ALIGNMENT].
  static ByteBuffer aligned(int bytes) {
    return ByteBuffer.allocateDirect((int) rounded(bytes) + ALIGNMENT)
        .alignedSlice(ALIGNMENT)
        .limit(bytes)
        .slice();
  }

  /// Returns the least multiple of [#ALIGNMENT] that is not less.
  static long rounded(long bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }
}
