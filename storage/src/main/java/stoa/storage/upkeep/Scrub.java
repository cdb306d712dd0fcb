package stoa.storage.upkeep;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import stoa.storage.disk.CorruptData;
import stoa.storage.index.Index;
import stoa.storage.segment.Item;
import stoa.storage.segment.ItemVisitor;
import stoa.storage.segment.Retired;
import stoa.storage.segment.SegmentLog;

/// Reads all data of a device and verifies it. One owner uses it once.
public final class Scrub implements ItemVisitor {
  private static final int DAMAGES_MAX = 100;

  private final SegmentLog log;
  private final Index index;
  private final List<String> damages = new ArrayList<>();
  private long records;
  private long entries;

  public Scrub(SegmentLog log, Index index) {
    this.log = log;
    this.index = index;
  }

  /// Reads everything once.
  public ScrubReport run() throws IOException {
    int segments = 0;
    long bytes = 0;
    for (var segment : log.segments()) {
      try {
        log.visit(segment, 0, this, this::damaged);
      } catch (Retired reclaimed) {
        continue;
      } catch (CorruptData e) {
        damaged(e);
      }
      segments++;
      bytes += Math.min(segment.end(), log.end()) - segment.base();
    }
    index();
    return new ScrubReport(segments, bytes, records, entries, List.copyOf(damages));
  }

  private void index() throws IOException {
    try (var view = index.view(log.durable())) {
      var walk = view.walk();
      while (walk.next()) entries++;
    } catch (CorruptData e) {
      damaged(e);
    }
  }

  private void damaged(CorruptData damage) {
    if (damages.size() < DAMAGES_MAX) damages.add(String.valueOf(damage.getMessage()));
  }

  @Override
  public void item(Item item) {
    // The log has verified it.
  }

  @Override
  public void recordEnd(long position, long next) {
    records++;
  }
}
