package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.History;
import stoa.Keep;
import stoa.LogOrder;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.storage.disk.MemoryDisk;

/// The memory and disk space that a server uses for objects that its clients trim and delete.
class ReleasedObjectsTest {
  private static final int OBJECTS = 60;
  private static final int CALLS = 7;
  private static final int BYTES = 8_000;
  private static final long WHILE_MICROS = 60_000_000;

  @Shared(name = "released.Page")
  static class Page {
    private byte[] bytes = {};

    public void write(byte[] newBytes) {
      bytes = newBytes;
    }

    @Accessor
    public byte[] bytes() {
      return bytes;
    }
  }

  /// As [Page], in the order of its own stream.
  @Shared(name = "released.OwnPage", order = LogOrder.STREAM)
  static class OwnPage extends Page {}

  @Test
  void aServerOfOneGroupIsLeftNothing() {
    leavesNothing(1);
  }

  @Test
  void aServerOfSeveralGroupsIsLeftNothing() {
    leavesNothing(3);
  }

  private static void leavesNothing(int count) {
    var disks = IntStream.range(0, count).mapToObj(_ -> new MemoryDisk(64 << 20)).toList();
    var config = StoaConfig.of("memory:").withKeep(Keep.all());
    var skipped = new AtomicLong();
    Clock clock = () -> Clock.system().nowMicros() + skipped.get();
    try (var groups =
            new Groups(
                count,
                1,
                clock,
                (group, part) -> Groups.part(config, disks.get(group), part, clock));
        Stoa stoa = Stoa.open(groups.url())) {
      var released = new ArrayList<History<? extends Page>>();
      for (int i = 0; i < OBJECTS; i++) {
        if (i % 2 == 0) released.add(release(stoa, stoa.get(Page.class, i), i));
        else released.add(release(stoa, stoa.get(OwnPage.class, i), i));
      }
      // Of several groups, none releases anything by itself before clients had time to say what
      // they hold.
      skipped.set(WHILE_MICROS);
      for (int i = 0; i < OBJECTS; i++) {
        var history = released.get(i);
        while (history.oldest() < history.version()) Thread.onSpinWait();
        // A trim that comes before the deletion logs a checkpoint.
        assertEquals(CALLS + (i % 4 < 2 ? 2 : 1), history.version());
      }
    }
  }

  /// Writes an object, which is less than a checkpoint, and trims and deletes it in either order.
  private static <T extends Page> History<T> release(Stoa stoa, T page, int number) {
    for (int call = 0; call < CALLS; call++) page.write(new byte[BYTES]);
    History<T> history = stoa.history(page);
    if (number % 4 < 2) {
      assertEquals(history.version(), history.trim(history.version()));
      assertEquals(BYTES, history.at(history.version()).bytes().length);
      assertTrue(stoa.delete(page));
    } else {
      assertTrue(stoa.delete(page));
      assertEquals(history.version(), history.trim(history.version()));
    }
    return history;
  }
}
