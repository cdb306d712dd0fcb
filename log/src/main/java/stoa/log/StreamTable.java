package stoa.log;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Check;
import stoa.base.StreamId;

/// What a [Sequencer] remembers of streams: a bounded number of those that have nothing unsettled,
/// and all that have. Its owner is the sequencer.
final class StreamTable {
  /*
   * Rows that may be forgotten are in a ring around `idle`, the one used longest ago first. A row
   * with something unsettled is in the map alone.
   */

  /// What is known of a stream.
  static final class Row {
    final StreamId stream;

    /* The last stream address issued, and its log address. */
    long last;
    @Nullable LogAddress lastLog;

    @Nullable LogAddress settledChange;

    /* Unsettled changes, oldest first. */
    final List<LogAddress> changes = new ArrayList<>(1);

    private int unsettled;
    private Row before = this;
    private Row after = this;

    Row(StreamId stream) {
      this.stream = stream;
    }

    private void unlink() {
      before.after = after;
      after.before = before;
      before = this;
      after = this;
    }
  }

  private final int idleMax;
  private final Map<StreamId, Row> rows = new HashMap<>();
  private final Row idle = new Row(new StreamId(0, 0));
  private int idleCount;

  StreamTable(int idleMax) {
    this.idleMax = idleMax;
  }

  /// The row of a stream, or null.
  @Nullable Row find(StreamId stream) {
    return rows.get(stream);
  }

  /// Puts off that a row is forgotten.
  void use(Row row) {
    if (row.unsettled > 0) return;
    row.unlink();
    link(row);
  }

  /// Adds a row of a stream that has none.
  void add(Row row) {
    Check.that(rows.putIfAbsent(row.stream, row) == null, "%s is not known better", row.stream);
    remember(row);
  }

  /// Keeps a row until it is let go as often as it was held.
  void hold(Row row) {
    if (row.unsettled++ > 0) return;
    row.unlink();
    idleCount--;
  }

  /// Lets go of a row that was held.
  void release(Row row) {
    if (--row.unsettled == 0) remember(row);
  }

  private void remember(Row row) {
    link(row);
    if (++idleCount <= idleMax) return;
    Row oldest = idle.after;
    oldest.unlink();
    idleCount--;
    rows.remove(oldest.stream);
  }

  private void link(Row row) {
    row.before = idle.before;
    row.after = idle;
    idle.before.after = row;
    idle.before = row;
  }
}
