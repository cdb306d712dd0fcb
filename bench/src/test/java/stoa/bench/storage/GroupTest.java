package stoa.bench.storage;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import stoa.bench.load.Load;

class GroupTest {
  @Test
  void doesEveryItemOnceInBatchesWithinTheLimit() throws Exception {
    var done = new ArrayList<Integer>(); // touched by one leader after the other
    var widest = new AtomicInteger();
    var group =
        new Group<Integer>(
            5,
            batch -> {
              done.addAll(batch);
              widest.accumulateAndGet(batch.size(), Math::max);
            });
    new Sweep(16, Load.Threads.PLATFORM).run(2_000, (_, turn) -> group.join(turn));
    done.sort(null);
    assertEquals(IntStream.range(0, 2_000).boxed().toList(), done);
    assertTrue(widest.get() <= 5, widest::toString);
  }

  @Test
  void doesTheActOnlyAfterTheItemCame() throws Exception {
    var written = new AtomicInteger();
    var durable = new AtomicInteger();
    var group = new Group<Integer>(Integer.MAX_VALUE, _ -> durable.set(written.get()));
    new Sweep(16, Load.Threads.VIRTUAL)
        .run(
            2_000,
            (_, _) -> {
              int mine = written.incrementAndGet();
              group.join(mine);
              if (durable.get() < mine) throw new IllegalStateException(mine + " is not durable");
            });
  }

  @Test
  void tellsEveryCallerOfABatchThatItFailed() {
    var group =
        new Group<String>(
            1,
            batch -> {
              if (batch.equals(List.of("bad"))) throw new IOException("no disk");
            });
    var thrown = assertThrows(IllegalStateException.class, () -> group.join("bad"));
    assertTrue(String.valueOf(thrown.getCause()).contains("no disk"), thrown::toString);
    assertDoesNotThrow(() -> group.join("good"));
  }
}
