package stoa.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Reads everything a device has and verifies it. One owner uses it once.
final class Scrub implements ItemVisitor {
  private static final int DAMAGES_MAX = 100;

  private final SegmentLog log;
  private final Index index;
  private final List<String> damages = new ArrayList<>();
  private long records;
  private long entries;

  Scrub(SegmentLog log, Index index) {
    this.log = log;
    this.index = index;
  }

  ScrubReport run() throws IOException {
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
