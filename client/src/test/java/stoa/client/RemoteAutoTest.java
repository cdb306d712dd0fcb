package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Gone;
import stoa.Placement;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.View;
import stoa.front.PlacedObject;
import stoa.front.types.Keys;
import stoa.migration.Domain;
import stoa.migration.core.CostModel.Updates;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;

/// Objects whose calls are made at the server or at its clients, wherever they cost less, over
/// sockets.
class RemoteAutoTest {
  private static final String TYPE = "test.RemoteScore";

  /// A number of which it is not said where its calls are made.
  @Shared(name = TYPE, placement = Placement.AUTO)
  public static class Score {
    private long value;

    protected Score(long value) {
      this.value = value;
    }

    public long add(long more) {
      if (more < 0) throw new IllegalArgumentException("less than nothing");
      value += more;
      return value;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  private static Score score(Stoa stoa, String name) {
    return stoa.get(Score.class, name, 100L);
  }

  private static final int MANY = 5_000;
  private static final int SIZES = 20;

  /* A served store whose objects are moved from one side to the other. */
  private static final class Served implements AutoCloseable {
    private final Server server;
    private final ObjectService service;
    private final Domain domain;
    private int moves;

    private Served() throws IOException {
      var store = new EmbeddedEngine().open(StoaConfig.of("memory:"));
      assertEquals(0, store.get(Score.class, "known", 0L).value());
      service = ObjectService.of(store, _ -> true);
      var config = ServerConfig.of("127.0.0.1", 0).withTreeLease(Duration.ofSeconds(5));
      server = Server.start(config, service);
      domain = Domain.of(store);
    }

    private Stoa client(TreeMembership membership) {
      String url = "stoa://127.0.0.1:" + server.port();
      return Stoa.open(StoaConfig.of(url).withMembership(membership));
    }

    private PlacedObject object(String name) {
      return service.placed(TYPE, Keys.encode(name));
    }

    /* Brings an object to the clients, or tells of many slow updates there, which compute little, until it
     * goes from there. Each time its state is of another size, so that nothing is known of those like it. */
    private void move(String name, boolean toServer) throws InterruptedException {
      var object = object(name);
      BlockingQueue<Boolean> sides = new LinkedBlockingQueue<>();
      Domain.Watcher watcher = (_, side) -> sides.add(side);
      domain.watch(object, watcher);
      if (!toServer) domain.moveToClients(object.stream());
      Boolean known = sides.poll();
      long bytes = 1_000L << (2 * (moves++ % SIZES));
      var slow = new Updates(false, MANY, MANY * 1_000_000_000L, MANY, MANY * 1_000L, bytes, 0);
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (toServer && (known == null || !known)) {
        assertTrue(System.nanoTime() < end, name + " does not move");
        domain.ran(object.stream(), slow);
        known = sides.poll(10, TimeUnit.MILLISECONDS);
      }
      domain.unwatch(watcher);
    }

    @Override
    public void close() {
      server.close();
    }
  }

  @Test
  void callsFollowTheObjectAndSeeEachOther() throws Exception {
    try (var served = new Served();
        var one = served.client(TreeMembership.leaf());
        var two = served.client(TreeMembership.inner());
        var outside = served.client(new TreeMembership.Outside())) {
      assertEquals(101, score(one, "a").add(1));
      assertEquals(103, score(two, "a").add(2));
      served.move("a", true);
      assertEquals(106, score(one, "a").add(3));
      assertEquals(110, score(two, "a").add(4));
      assertEquals(110, score(one, "a").value());
      assertEquals(115, score(outside, "a").add(5));
      assertThrows(IllegalArgumentException.class, () -> score(one, "a").add(-1));
      served.move("a", false);
      assertEquals(121, score(one, "a").add(6));
      var near = two.view(Score.class, two.ref(score(two, "a")), new View.Cached());
      assertEquals(121, near.value());
      one.flush();
      served.move("a", true);
      assertEquals(128, score(two, "a").add(7));
      try (var late = served.client(TreeMembership.leaf())) {
        assertEquals(128, score(late, "a").value());
        assertEquals(136, score(late, "a").add(8));
      }
    }
  }

  @Test
  void whoeverDeletesAnObjectAtTheServerIsToldThatItIsDone() throws Exception {
    try (var served = new Served();
        var one = served.client(TreeMembership.leaf());
        var never = served.client(TreeMembership.leaf())) {
      for (var deleting : List.of(one, never)) {
        var old = score(one, "a");
        assertEquals(101, old.add(1));
        served.move("a", true);
        assertEquals(103, old.add(2));
        assertTrue(deleting.delete(score(deleting, "a")));
        assertThrows(Gone.class, old::value);
        assertEquals(100, score(one, "a").value());
        served.move("a", false);
      }
    }
  }

  @Test
  void whoNeedsItWithOthersHasItComeFromTheServerAndWhoLeavesIsNotKept() throws Exception {
    try (var served = new Served();
        var one = served.client(TreeMembership.leaf());
        var two = served.client(TreeMembership.leaf())) {
      assertEquals(101, score(one, "a").add(1));
      assertEquals(101, score(two, "b").add(1));
      served.move("a", true);
      assertEquals(103, score(one, "a").add(2));
      var both = List.of(score(two, "a"), score(two, "b"));
      long sum =
          two.<Long, RuntimeException>together(both, () -> both.get(0).add(1) + both.get(1).add(1));
      assertEquals(104 + 102, sum);
      assertEquals(104, score(one, "a").value());
    }
  }

  @Test
  void nothingIsLostOrDoneTwiceWhileSidesChangeUnderManyCalls() throws Exception {
    try (var served = new Served();
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        var membership = i % 2 == 0 ? TreeMembership.leaf() : TreeMembership.inner();
        Callable<Boolean> work =
            () -> {
              work(served, membership);
              return true;
            };
        all.add(threads.submit(work));
      }
      for (int i = 0; all.stream().anyMatch(each -> !each.isDone()); i++) {
        served.move("a", i % 2 == 0);
        served.move("b", i % 3 == 0);
      }
      for (var each : all) each.get();
      try (var last = served.client(TreeMembership.leaf())) {
        assertEquals(200 + 4 * 2 * 150, score(last, "a").value() + score(last, "b").value());
      }
    }
  }

  /* What it saw of an object does not become less. */
  private static void work(Served served, TreeMembership membership) {
    long seen = 0;
    for (int life = 0; life < 3; life++) {
      try (var stoa = served.client(membership)) {
        var a = score(stoa, "a");
        var b = score(stoa, "b");
        for (int i = 0; i < 50; i++) {
          long now = a.add(1);
          assertTrue(now > seen, now + " after " + seen);
          seen = now;
          if (i % 7 == 0) {
            long read = a.value();
            assertTrue(read >= seen, read + " after " + seen);
          }
          if (i % 5 == 0) {
            long _ = stoa.<Long, RuntimeException>together(List.of(a, b), () -> b.add(1));
          } else {
            long _ = b.add(1);
          }
        }
      }
    }
  }
}
