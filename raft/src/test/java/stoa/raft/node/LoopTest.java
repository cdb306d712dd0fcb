package stoa.raft.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LoopTest {
  @Test
  void aTaskRunsIfAndOnlyIfItsPosterIsToldSo() throws Exception {
    try (var posters = Executors.newFixedThreadPool(2)) {
      for (int round = 0; round < 1_000; round++) {
        var loop = new Loop("loop " + round);
        var ran = new AtomicInteger();
        var told = new AtomicInteger();
        var posted = new CountDownLatch(2);
        Runnable poster =
            () -> {
              while (loop.post(ran::incrementAndGet)) told.incrementAndGet();
              posted.countDown();
            };
        for (int i = 0; i < 2; i++) posters.execute(poster);
        loop.close();
        posted.await();
        assertEquals(told.get(), ran.get());
      }
    }
  }
}
