package stoa.storage.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import stoa.storage.disk.BufferPool;
import stoa.storage.disk.CorruptData;

/// Reads and verifies parts of DATA items, whole blocks only where it must.
///
/// Thread-safe. At most [#PIECES_MAX] readers use direct memory at a time; one more waits.
final class DataReader {
  /*
   * Only the item's header has the length of its last block. A read from the first block on has the
   * header before it and takes both at once. Any other read guesses that its last block is a whole
   * one, and reads the header only when that does not verify.
   */
  static final int PIECES_MAX = 16;
  private static final int PIECE_BLOCKS = 64;
  private static final int PIECE_BYTES =
      RecordFormat.ITEM_HEADER + PIECE_BLOCKS * RecordFormat.STORED_BLOCK;

  private final SegmentFiles files;
  private final BufferPool pieces = new BufferPool(PIECES_MAX, PIECE_BYTES);

  DataReader(SegmentFiles files) {
    this.files = files;
  }

  /// Fills `target` with an item's data from its byte `skip` on.
  ///
  /// @param at the file position of the item
  void read(Segment segment, long at, long skip, ByteBuffer target) throws IOException {
    if (skip < 0) throw new IllegalArgumentException("skip is " + skip);
    if (!target.hasRemaining()) return;
    try (var loan = pieces.borrow()) {
      new Part(segment, at, skip, target).read(loan.buffer());
    }
  }

  /// One read.
  private final class Part {
    private final Segment segment;
    private final long at;
    private final long skip;
    private final long end;
    private final ByteBuffer target;
    private final CRC32C crc = new CRC32C();
    // Of the item's data; -1 while unknown.
    private long length = -1;

    Part(Segment segment, long at, long skip, ByteBuffer target) {
      this.segment = segment;
      this.at = at;
      this.skip = skip;
      this.end = skip + target.remaining();
      this.target = target;
    }

    void read(ByteBuffer buffer) throws IOException {
      int last = (int) ((end - 1) / RecordFormat.BLOCK);
      int block = (int) (skip / RecordFormat.BLOCK);
      while (block <= last) {
        int blocks = Math.min(PIECE_BLOCKS, last - block + 1);
        int front = block == 0 ? RecordFormat.ITEM_HEADER : 0;
        fill(buffer, placeOf(block) - front, front + blocks * RecordFormat.STORED_BLOCK);
        if (front > 0) takeHeader(buffer);
        for (int i = 0; i < blocks; i++) {
          take(buffer, front + i * RecordFormat.STORED_BLOCK, block + i);
        }
        block += blocks;
      }
    }

    private long placeOf(int block) {
      return at + RecordFormat.ITEM_HEADER + (long) block * RecordFormat.STORED_BLOCK;
    }

    /// Reads as many of the bytes as the file has.
    private void fill(ByteBuffer buffer, long from, int bytes) throws IOException {
      files.readFully(segment, from, buffer.clear().limit(bytes));
      buffer.flip();
    }

    private void takeHeader(ByteBuffer buffer) {
      if (buffer.limit() < RecordFormat.ITEM_HEADER) {
        throw corrupt(at, "the file ends within the item that stands here");
      }
      if (buffer.getInt(0) != checksum(buffer, 4, RecordFormat.ITEM_HEADER - 4)
          || buffer.get(33) != RecordFormat.ITEM_DATA) {
        throw corrupt(at, "no data item stands here");
      }
      length = buffer.getInt(4);
      if (end > length) {
        throw corrupt(at, "the item has " + length + " bytes, and the index names " + end);
      }
    }

    private void take(ByteBuffer buffer, int index, int block) throws IOException {
      long start = (long) block * RecordFormat.BLOCK;
      if (length < 0 && !isWhole(buffer, index, block, RecordFormat.BLOCK)) {
        // The rest of the buffer belongs to the last block, which is verified once more below.
        var header = ByteBuffer.allocate(RecordFormat.ITEM_HEADER);
        files.readFully(segment, at, header);
        takeHeader(header.flip());
      }
      if (length >= 0) {
        int bytes = (int) Math.min(RecordFormat.BLOCK, length - start);
        if (!isWhole(buffer, index, block, bytes)) {
          throw corrupt(placeOf(block), "the block's checksum does not match");
        }
      }
      int from = (int) Math.max(0, skip - start);
      int to = (int) Math.min(RecordFormat.BLOCK, end - start);
      target.put(target.position(), buffer, index + from, to - from);
      target.position(target.position() + to - from);
    }

    private boolean isWhole(ByteBuffer buffer, int index, int block, int bytes) {
      if (index + bytes + 4 > buffer.limit()) return false;
      int sum = checksum(buffer, index, bytes) ^ RecordFormat.mix(segment.base() + at, block);
      return buffer.getInt(index + bytes) == sum;
    }

    private int checksum(ByteBuffer buffer, int from, int bytes) {
      int limit = buffer.limit();
      crc.reset();
      crc.update(buffer.limit(from + bytes).position(from));
      buffer.limit(limit);
      return (int) crc.getValue();
    }

    private CorruptData corrupt(long place, String what) {
      return SegmentLog.corrupt(segment.name(), place, what);
    }
  }
}
