package stoa.bench.load;

import java.util.HashMap;
import java.util.Map;
import stoa.Accessor;
import stoa.Shared;

/// A shared object that is larger than its changes: numbered rows of bytes.
///
/// A state machine; the engine calls it, one call at a time.
@Shared(name = "stoa.bench.load.Board")
public class Board {
  private final Map<Integer, byte[]> rows = new HashMap<>();

  public Board() {}

  /// Fills it with rows.
  public void fill(int count, int bytes) {
    for (int i = 0; i < count; i++) rows.put(i, new byte[bytes]);
  }

  /// Replaces a row.
  public void write(int row, byte[] bytes) {
    rows.put(row, bytes);
  }

  /// Returns the first byte of a row.
  @Accessor
  public int read(int row) {
    byte[] found = rows.get(row);
    return found == null ? -1 : found[0];
  }
}
