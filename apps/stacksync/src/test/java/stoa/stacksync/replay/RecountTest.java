package stoa.stacksync.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import stoa.stacksync.Status;

class RecountTest {
  @Test
  void theLastRowOfAnItemCountsAndTheFirstUserOfAWorkspacePays() {
    var a1 = row(1, "home", 10, Status.NEW, 1, 100);
    var b1 = row(2, "home", 20, Status.NEW, 1, 30);
    var a2 = row(2, "home", 10, Status.CHANGED, 2, 70);
    var a3 = row(3, "archive", 10, Status.MOVED, 3, 70);
    var b2 = row(1, "home", 20, Status.DELETED, 2, 0);
    var c1 = row(2, "home", 30, Status.NEW, 1, 5);
    var recount = Recount.of(new Trace(List.of(a1, b1, a2, a3, b2, c1)));
    assertEquals(Map.of(10L, a3, 20L, b2, 30L, c1), recount.newest());
    assertEquals(Map.of("home", 1, "archive", 3), recount.owners());
    assertEquals(Map.of(1, 5L, 3, 70L), recount.usedBytes());
  }

  private static TraceRow row(
      int user, String workspace, long item, Status status, int version, long size) {
    return new TraceRow(
        version,
        0,
        user,
        user,
        workspace,
        item,
        status,
        version,
        version - 1,
        size,
        size,
        workspace + "/" + item,
        List.of());
  }
}
