package stoa.storage.object;

import java.util.Arrays;
import stoa.storage.index.IndexEntry;

/// A growing list of index entries, in columns of numbers. One owner uses it.
public final class Pieces {
  /// The most pieces of one transaction.
  static final int COUNT_MAX = 1 << 20;

  private static final int COLUMNS = 5;
  private static final long HOLE = -1;

  private long[] cells = new long[COLUMNS * 4];
  private int count;

  /// Creates an empty list.
  public Pieces() {}

  /// Returns the number of pieces.
  public int count() {
    return count;
  }

  /// Returns the number of holes among the pieces.
  int holes() {
    int holes = 0;
    for (int at = 3; at < COLUMNS * count; at += COLUMNS) if (cells[at] == HOLE) holes++;
    return holes;
  }

  /// Removes all.
  public void clear() {
    count = 0;
  }

  /// Adds a copy of an entry.
  public void add(IndexEntry piece) {
    if (COLUMNS * count == cells.length) cells = Arrays.copyOf(cells, 2 * cells.length);
    int at = COLUMNS * count++;
    cells[at] = piece.offset;
    cells[at + 1] = piece.length;
    cells[at + 2] = piece.position;
    cells[at + 3] = piece.isHole() ? HOLE : piece.skip;
    cells[at + 4] = piece.version;
  }

  /// Assigns log positions to the pieces that are in the record of their note.
  public void resolve(long record) {
    for (int at = 2; at < COLUMNS * count; at += COLUMNS) {
      if ((cells[at] & ObjectNote.IN_RECORD) != 0 && cells[at] >= 0) {
        cells[at] = record + (cells[at] ^ ObjectNote.IN_RECORD);
      }
    }
  }

  /// Makes the last piece longer.
  public void lengthen(long more) {
    cells[COLUMNS * (count - 1) + 1] += more;
  }

  /// Gives all pieces a position.
  public void position(long position) {
    for (int at = 2; at < COLUMNS * count; at += COLUMNS) cells[at] = position;
  }

  /// Gives all pieces a version.
  void version(long version) {
    for (int at = 4; at < COLUMNS * count; at += COLUMNS) cells[at] = version;
  }

  /// Copies a piece into an entry.
  public void get(int i, IndexEntry into) {
    int at = COLUMNS * i;
    boolean hole = cells[at + 3] == HOLE;
    into.set(
        cells[at],
        cells[at + 2],
        hole ? 0 : (int) cells[at + 3],
        cells[at + 1],
        cells[at + 4],
        hole ? IndexEntry.HOLE : IndexEntry.DATA);
  }
}
