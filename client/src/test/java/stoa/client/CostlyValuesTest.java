package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import stoa.LimitExceeded;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.ObjectService;

/// Values that take long to decode stop no server.
class CostlyValuesTest {
  /// Keeps values.
  @Shared(name = "test.CostlyKeeper")
  public static class Keeper {
    private int count;

    public int keep(Object value) {
      return ++count;
    }
  }

  /// A record whose constructor waits for the test the first time.
  public record Slow(int number) {
    static final CountDownLatch BEGUN = new CountDownLatch(1);
    static final CountDownLatch FREE = new CountDownLatch(1);

    /// Waits in the first instance that is decoded.
    public Slow {
      if (number < 0 && Thread.currentThread().getName().startsWith("stoa-")) {
        BEGUN.countDown();
        try {
          FREE.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  /// Keeps such records.
  @Shared(name = "test.SlowKeeper")
  public static class SlowKeeper {
    private int count;

    public int keep(Slow value) {
      return ++count;
    }
  }

  /// Sets of lists of sets, whose hash takes two to the power of the levels.
  private static Object sharing(int levels) {
    Object inner = "a";
    for (int i = 0; i < levels; i++) {
      var a = new ArrayList<Object>(List.of("a"));
      var b = new ArrayList<Object>(List.of("b"));
      Object next = new LinkedHashSet<Object>(List.of(a, b));
      a.set(0, inner);
      b.set(0, inner);
      b.add("b");
      inner = next;
    }
    return inner;
  }

  private static Server start() throws Exception {
    return Server.start(
        ServerConfig.of("127.0.0.1", 0), ObjectService.open(StoaConfig.of("memory:"), _ -> true));
  }

  @Test
  void setsThatShareSetsAreRefusedBeforeTheyAreLoggedAndOthersAreServed() throws Exception {
    try (Server server = start();
        Stoa bad = Stoa.open("stoa://127.0.0.1:" + server.port());
        Stoa good = Stoa.open("stoa://127.0.0.1:" + server.port());
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      Object costly = sharing(60);
      Keeper keeper = bad.get(Keeper.class, "k");
      assertEquals(1, keeper.keep("small"));
      long before = bad.history(keeper).version();
      List<Runnable> attacks =
          List.of(
              () -> keeper.keep(costly),
              () -> keeper.keep(List.of(costly)),
              () -> bad.get(Keeper.class, "new").keep(costly),
              () -> bad.store().put("key", costly),
              () -> {
                int _ = bad.transact(() -> keeper.keep(costly));
              });
      var refused = new ArrayList<Future<?>>();
      for (int i = 0; i < 4; i++) {
        for (var attack : attacks) refused.add(callers.submit(attack));
      }
      Keeper other = good.get(Keeper.class, "good");
      for (int i = 1; i < 100; i++) assertEquals(i, other.keep(List.of(i)));
      for (var attack : refused) {
        var failed = assertThrows(ExecutionException.class, attack::get);
        assertTrue(failed.getCause() instanceof LimitExceeded, failed::toString);
      }
      assertEquals(before, bad.history(keeper).version());
    }
  }

  @Test
  void codeOfTheProgramThatADecodingRunsKeepsNoReader() throws Exception {
    try (Server server = start();
        Stoa bad = Stoa.open("stoa://127.0.0.1:" + server.port());
        Stoa good = Stoa.open("stoa://127.0.0.1:" + server.port());
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      try {
        var kept = new ArrayList<Future<Integer>>();
        for (int i = 1; i <= 8; i++) {
          SlowKeeper keeper = bad.get(SlowKeeper.class, "slow " + i);
          assertEquals(1, keeper.keep(new Slow(i)));
          Slow slow = new Slow(-i);
          kept.add(callers.submit(() -> keeper.keep(slow)));
        }
        Slow.BEGUN.await();
        Keeper other = good.get(Keeper.class, "good");
        for (int i = 1; i < 100; i++) assertEquals(i, other.keep(List.of(i)));
        Slow.FREE.countDown();
        for (var answer : kept) assertEquals(2, answer.get());
      } finally {
        Slow.FREE.countDown();
      }
    }
  }
}
