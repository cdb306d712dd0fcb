package stoa.stacksync.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ScheduleTest {
  private static final Trace TRACE = Trace.builtIn().firstRequests(1_500);

  /// Batches finish in a random order, of those that are under way at the same time.
  @Test
  void changesOfAnItemAreHandedOutInTheirOrder() throws InterruptedException {
    for (long seed = 1; seed <= 3; seed++) {
      var random = new Random(seed);
      var schedule = new Schedule(TRACE, Map.of());
      var underWay = new ArrayList<Batch>();
      var committed = new HashMap<Long, Integer>();
      var places = new HashMap<Long, String>();
      int rows = 0;
      for (var next = schedule.poll(); next.isPresent() || !underWay.isEmpty(); ) {
        next.ifPresent(underWay::add);
        if (next.isEmpty() || random.nextInt(10) == 0) {
          var done = underWay.remove(random.nextInt(underWay.size()));
          rows += finish(done, committed, places);
          schedule.done(done);
        }
        next = schedule.poll();
      }
      assertEquals(TRACE.rows().size(), rows);
    }
  }

  @Test
  void whatTheStoreHasIsLeftOut() throws InterruptedException {
    var newest = new HashMap<Long, Integer>();
    for (var row : TRACE.rows()) newest.put(row.item(), row.version());
    assertTrue(new Schedule(TRACE, newest).take().isEmpty());
    var item = TRACE.rows().getLast().item();
    newest.merge(item, -1, Integer::sum);
    var schedule = new Schedule(TRACE, newest);
    assertEquals(1, schedule.rowCount());
    var batch = schedule.take().orElseThrow();
    assertEquals(List.of(TRACE.rows().getLast()), batch.rows);
    schedule.done(batch);
    assertTrue(schedule.take().isEmpty());
  }

  @Test
  void nothingIsHandedOutAfterAStop() throws InterruptedException {
    var schedule = new Schedule(TRACE, Map.of());
    assertTrue(schedule.take().isPresent());
    schedule.stop();
    assertTrue(schedule.take().isEmpty());
  }

  private static int finish(Batch batch, Map<Long, Integer> committed, Map<Long, String> places) {
    for (var row : batch.rows) {
      assertEquals(row.version() - 1, committed.getOrDefault(row.item(), 0));
      assertEquals(batch.from, places.getOrDefault(row.item(), row.workspace()));
      committed.put(row.item(), row.version());
      places.put(row.item(), batch.to);
    }
    return batch.rows.size();
  }
}
