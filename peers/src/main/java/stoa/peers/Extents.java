package stoa.peers;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// The long object as extents in an ordered map: how a write is divided into them, and how a range
/// is put together from them.
final class Extents {
  /// The greatest length of an extent, in bytes. None crosses a multiple of it, so a read needs no
  /// extent that begins before the multiple at or before its range.
  static final int PIECE = 64 << 10;

  private Extents() {}

  /// Takes a piece of a write.
  @FunctionalInterface
  interface Pieces<E extends Exception> {
    void take(long offset, ByteBuffer data) throws E;
  }

  /// The extents of an engine.
  @FunctionalInterface
  interface Scan {
    /// Shows the extents that begin in a range, in the order of their offsets, until the visitor
    /// has enough.
    void show(long from, long to, Visitor visitor) throws Exception;
  }

  /// Looks at extents.
  @FunctionalInterface
  interface Visitor {
    /// Takes one; returns whether it wants more.
    ///
    /// @param offset where its data begins in the object
    /// @param sequence grows with each write; where extents overlap, the later one counts
    /// @param data its bytes, which may change when this returns
    boolean take(long offset, long sequence, ByteBuffer data);
  }

  /// Divides a write; the pieces are slices of its buffer.
  static <E extends Exception> void divide(long offset, ByteBuffer data, Pieces<E> pieces)
      throws E {
    long at = offset;
    while (data.hasRemaining()) {
      int length = (int) Math.min(data.remaining(), PIECE - at % PIECE);
      pieces.take(at, data.slice(data.position(), length));
      data.position(data.position() + length);
      at += length;
    }
  }

  /// Fills the remaining room of a buffer from an offset. Extents are copied as they come; only
  /// when some overlap are they gathered and laid over each other in the order of their sequence.
  static void read(Scan scan, long offset, ByteBuffer target) throws Exception {
    long from = offset - offset % PIECE;
    long to = offset + target.remaining();
    var range = new Range(offset, target.slice());
    scan.show(from, to, range);
    if (range.overlap) {
      List<Extent> extents = new ArrayList<>();
      scan.show(
          from,
          to,
          (at, sequence, data) ->
              extents.add(
                  new Extent(
                      at, sequence, ByteBuffer.allocate(data.remaining()).put(data).flip())));
      extents.sort(Comparator.comparingLong(Extent::sequence));
      range.zero(0, target.remaining());
      for (Extent extent : extents) range.copy(extent.offset, extent.data);
    } else {
      range.zero(range.filled, target.remaining());
    }
    target.position(target.limit());
  }

  private record Extent(long offset, long sequence, ByteBuffer data) {}

  /// A range of the object that is being filled.
  private static final class Range implements Visitor {
    private final long offset;
    private final ByteBuffer target;
    // Where the extents seen so far end.
    private long end;
    // Target bytes before this are final.
    private int filled;
    private boolean overlap;

    Range(long offset, ByteBuffer target) {
      this.offset = offset;
      this.target = target;
    }

    @Override
    public boolean take(long at, long sequence, ByteBuffer data) {
      overlap = at < end;
      if (overlap) return false;
      end = at + data.remaining();
      if (at > offset) zero(filled, (int) (at - offset));
      copy(at, data);
      filled = Math.clamp(end - offset, filled, target.limit());
      return true;
    }

    void copy(long at, ByteBuffer data) {
      long from = Math.max(offset, at);
      long to = Math.min(offset + target.limit(), at + data.remaining());
      if (from < to) {
        target.put(
            (int) (from - offset), data, data.position() + (int) (from - at), (int) (to - from));
      }
    }

    void zero(int from, int to) {
      for (int i = from; i < to; i++) target.put(i, (byte) 0);
    }
  }
}
