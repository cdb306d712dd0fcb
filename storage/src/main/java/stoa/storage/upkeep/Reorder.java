package stoa.storage.upkeep;

import java.io.IOException;
import java.nio.ByteBuffer;
import stoa.base.StreamId;
import stoa.storage.index.Index;
import stoa.storage.index.IndexEntry;
import stoa.storage.object.ObjectChanges;
import stoa.storage.object.ObjectMoment;
import stoa.storage.object.Pieces;
import stoa.storage.segment.SegmentLog;

/// Writes an object's bytes again in the order of their offsets, so that reading it forward reads
/// the log forward (VOSD paper, section III: the canonical order). One owner uses it for one
/// object.
final class Reorder {
  /*
   * Adjacent bytes become one item, whatever their versions; the index keeps the version of each
   * part.
   */
  private static final int RUN_BYTES_MAX = 1 << 20;
  private static final int RUN_PARTS_MAX = 4096;

  // The number of runs to write together.
  private static final int RUNS_MAX = 512;

  private final SegmentLog log;
  private final Index index;
  private final ObjectChanges changes;
  private final Reclaim.Mover mover;
  private final StreamId id;
  private final ByteBuffer run = ByteBuffer.allocate(RUN_BYTES_MAX);
  private Pieces parts = new Pieces();
  private long from;
  private MoveWrite moves;

  private Reorder(
      SegmentLog log, Index index, ObjectChanges changes, Reclaim.Mover mover, StreamId id) {
    this.log = log;
    this.index = index;
    this.changes = changes;
    this.mover = mover;
    this.id = id;
    this.moves = new MoveWrite(index, changes);
  }

  /// Reorders an object, from an offset on, until a number of bytes is written. Returns the offset
  /// to continue from, or -1 when all is done.
  static long run(
      StreamId id,
      long from,
      long bytesMax,
      SegmentLog log,
      Index index,
      ObjectChanges changes,
      Reclaim.Mover mover)
      throws IOException {
    return new Reorder(log, index, changes, mover, id).run(from, bytesMax);
  }

  private long run(long start, long bytesMax) throws IOException {
    long end = -1;
    try (var moment = ObjectMoment.own(index.view(log.durable()), id);
        var sweep = moment.extents(start, Long.MAX_VALUE)) {
      long bytes = 0;
      while (sweep.next()) {
        var extent = sweep.extent();
        if (extent.isHole()) continue;
        if (bytes >= bytesMax) {
          end = extent.offset;
          break;
        }
        take(new IndexEntry().set(extent));
        bytes += extent.length;
      }
    }
    endRun();
    flush();
    return end;
  }

  private void take(IndexEntry extent) {
    while (extent.length > 0) {
      boolean goesOn = parts.count() > 0 && from + run.position() == extent.offset;
      if (!goesOn || !run.hasRemaining() || parts.count() >= RUN_PARTS_MAX) endRun();
      if (parts.count() == 0) from = extent.offset;
      int length = (int) Math.min(extent.length, run.remaining());
      var part = new IndexEntry().set(extent).clip(extent.offset, extent.offset + length);
      run.limit(run.position() + length);
      log.readData(part.position, part.skip, run);
      run.limit(run.capacity());
      parts.add(part);
      extent.clip(extent.offset + length, extent.end());
    }
  }

  private void endRun() {
    if (parts.count() > 0) {
      var data = ByteBuffer.allocate(run.position()).put(run.flip()).flip();
      moves.bytes(id, MoveWrite.Maps.OWN, from, data, parts);
    }
    run.clear();
    parts = new Pieces();
    if (moves.bytes() >= RUN_BYTES_MAX || moves.count() >= RUNS_MAX) flush();
  }

  private void flush() {
    if (moves.count() > 0) mover.move(moves);
    moves = new MoveWrite(index, changes);
  }
}
