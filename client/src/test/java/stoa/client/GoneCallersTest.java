package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.coordination.SharedBarrier;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.ObjectService;

/// Those who wait for a client that is gone go on.
class GoneCallersTest {
  private static final Duration LONG = Duration.ofDays(1);

  private static Server start() throws Exception {
    return Server.start(
        ServerConfig.of("127.0.0.1", 0), ObjectService.open(StoaConfig.of("memory:"), _ -> true));
  }

  @Shared(name = "gone.Counter")
  static class Counter {
    private long value;

    public long add(long more) {
      return value += more;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  private static CompletableFuture<Boolean> opens(SharedBarrier barrier, long round) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            barrier.awaitOpening(round);
            return true;
          } catch (BrokenBarrierException broken) {
            return false;
          }
        },
        Thread::startVirtualThread);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aPartyWhoseSessionEndsBreaksItsBarrier() throws Exception {
    try (Server server = start();
        Stoa stays = Stoa.open("stoa://127.0.0.1:" + server.port())) {
      SharedBarrier barrier = stays.create(SharedBarrier.class, "a", 3);
      CompletableFuture<Boolean> waiting;
      try (Stoa leaves = Stoa.open("stoa://127.0.0.1:" + server.port())) {
        SharedBarrier same = leaves.get(SharedBarrier.class, "a");
        long round = same.arrive(LONG).round();
        var left = opens(same, round);
        long mine = barrier.arrive(LONG).round();
        waiting = opens(barrier, mine);
        while (stays.history(barrier).version() < 4) Thread.onSpinWait(); // both wait
        assertFalse(left.isDone() || waiting.isDone());
      }
      assertFalse(waiting.join());
      assertTrue(barrier.isBroken());
      assertThrows(BrokenBarrierException.class, () -> barrier.arrive(LONG));
      barrier.reset();
      assertEquals(2, barrier.arrive(LONG).missing());
    }
  }

  @Test
  void whatTheIntentOfATransactionHoldsBackGoesOnWithoutItsClient() throws Exception {
    try (Server server = start();
        Stoa stays = Stoa.open("stoa://127.0.0.1:" + server.port())) {
      Counter counter = stays.create(Counter.class, "a");
      var attempts = new AtomicInteger();
      var intends = new CountDownLatch(1);
      Stoa leaves = Stoa.open("stoa://127.0.0.1:" + server.port());
      Counter same = leaves.get(Counter.class, "a");
      var closed = new CountDownLatch(1);
      var transaction =
          CompletableFuture.runAsync(() ->
              leaves.transact(() -> {
                long seen = same.value();
                if (attempts.incrementAndGet() <= 8) {
                  counter.add(1);
                } else {
                  intends.countDown();
                  await(closed);
                }
                same.add(seen);
              }));
      intends.await();
      CompletableFuture<Long> heldBack = stays.async(counter, c -> c.add(100));
      leaves.close();
      closed.countDown();
      assertEquals(108, heldBack.join());
      assertThrows(CompletionException.class, transaction::join);
    }
  }
}
