package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.Reads;
import stoa.Shared;
import stoa.SharedList;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.View;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.storage.disk.MemoryDisk;

/// Objects that live in a server are lent to its clients, over sockets.
class RemoteLendingTest {
  /// A number.
  @Shared(name = "test.RemoteLent")
  public static class Count {
    private long value;
    private byte[] ballast = {};

    public long add(long more) {
      if (more < -100) throw new IllegalArgumentException("too little");
      value += more;
      return value;
    }

    @Accessor
    public long value() {
      return value;
    }

    public void load(int bytes) {
      ballast = new byte[bytes];
    }

    @Accessor
    public int loaded() {
      return ballast.length;
    }

    /// Asks another one.
    @Accessor
    public long both(Count other) {
      return value + other.value();
    }
  }

  /// Adds to another object.
  @Shared(name = "test.RemoteLent.Friend")
  public static class Friend {
    private long told;

    public long have(Count other, long more) {
      told = other.add(more);
      return told;
    }
  }

  /// In whichever group its key is.
  @Shared(name = "test.RemoteLent.Sharded")
  public static class Sharded {
    private long value;

    public long add(long more) {
      value += more;
      return value;
    }
  }

  static Count count(Stoa stoa, String name) {
    return stoa.get(Count.class, name);
  }

  static Count lent(Stoa stoa, String name, Reads reads) {
    return stoa.view(Count.class, stoa.ref(count(stoa, name)), new View.Client(reads));
  }

  private static Server serve(String url, int port) throws IOException {
    return serve(StoaConfig.of(url), port);
  }

  private static Server serve(StoaConfig opened, int port) throws IOException {
    var store = new EmbeddedEngine().open(opened);
    var config = ServerConfig.of("127.0.0.1", port).withTreeLease(Duration.ofSeconds(3));
    return Server.start(config, ObjectService.of(store, _ -> true));
  }

  private static Stoa client(int port, TreeMembership membership) {
    return Stoa.open(StoaConfig.of("stoa://127.0.0.1:" + port).withMembership(membership));
  }

  private static void await(BooleanSupplier condition) {
    long end = System.nanoTime() + 30_000_000_000L;
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - end < 0, "it never came to be");
      Thread.onSpinWait();
    }
  }

  private static boolean isLent(Stoa stoa, String name) {
    try {
      var _ = stoa.<Long, RuntimeException>transact(() -> count(stoa, name).value());
      return false;
    } catch (UnsupportedOperationException lent) {
      assertTrue(String.valueOf(lent.getMessage()).contains("test.RemoteLent[" + name + "]"));
      return true;
    }
  }

  @Test
  void callsThroughAViewAreNotLoggedAndEverybodySeesThem() throws Exception {
    try (var server = serve("memory:", 0);
        var one = client(server.port(), TreeMembership.leaf());
        var two = client(server.port(), TreeMembership.inner());
        var outside = client(server.port(), new TreeMembership.Outside())) {
      assertEquals(1, count(one, "a").add(1));
      var here = lent(one, "a", Reads.STRICT);
      long version = one.history(here).version();
      for (int i = 0; i < 50; i++) assertEquals(2 + i, here.add(1));
      var there = lent(two, "a", Reads.LOCAL);
      assertEquals(51, there.value());
      assertEquals(52, there.add(1));
      assertEquals(52, here.value());
      assertThrows(IllegalArgumentException.class, () -> here.add(-1_000));
      one.flush();
      two.flush();
      long flushed = one.history(here).version();
      assertTrue(flushed - version < 20, version + " to " + flushed);
      assertEquals(52, one.history(here).at(flushed).value());
      assertTrue(one.history(here).entries(1, flushed).size() > 1);

      // Ordinary proxies of all see one object.
      assertEquals(54, count(outside, "a").add(2));
      assertEquals(54, count(two, "a").value());
      assertEquals(57, count(one, "a").add(3));
      assertThrows(IllegalArgumentException.class, () -> count(two, "a").add(-1_000));
      assertEquals(57, here.value());
      assertEquals(61, count(one, "a").add(4));
      assertEquals(66, outside.async(count(outside, "a"), each -> each.add(5)).join());
      assertEquals(66, outside.async(count(outside, "a"), Count::value).join());
      assertEquals(66, here.value());

      // And what is durable is read as ever.
      assertEquals(67, here.add(1));
      assertEquals(66, two.view(Count.class, two.ref(there), new View.Local()).value());
      one.flush();
      assertEquals(67, two.view(Count.class, two.ref(there), new View.Local()).value());
    }
  }

  @Test
  void whatNeedsItAtTheServerIsRefusedUntilItIsBack() throws Exception {
    try (var server = serve("memory:", 0);
        var other = client(server.port(), TreeMembership.leaf())) {
      assertEquals(1, count(other, "a").add(1));
      var friend = other.get(Friend.class, "f");
      assertEquals(0, count(other, "b").add(0));
      try (var one = client(server.port(), TreeMembership.leaf())) {
        var here = lent(one, "a", Reads.STRICT);
        assertEquals(3, here.add(2));
        assertThrows(UnsupportedOperationException.class, () -> friend.have(count(other, "a"), 1));
        assertThrows(
            UnsupportedOperationException.class, () -> count(other, "b").both(count(other, "a")));
        assertTrue(isLent(other, "a"));
        assertThrows(
            UnsupportedOperationException.class,
            () -> other.transact(() -> other.delete(count(other, "a"))));
        assertThrows(UnsupportedOperationException.class, () -> one.transact(() -> here.add(1)));
        assertEquals(3, one.async(here, each -> each.add(0)).join());
        // One that asks others is made where these are.
        assertEquals(3, count(other, "a").both(count(other, "b")));
        assertEquals(3, here.value());
      }
      await(() -> !isLent(other, "a"));
      assertEquals(4, friend.have(count(other, "a"), 1));
      assertEquals(4, count(other, "b").both(count(other, "a")));
    }
  }

  @Test
  void whatCannotBeLentIsRefusedWhenTheViewIsAsked() throws Exception {
    var small = StoaConfig.of("memory:").withLimits(Limits.standard().withCallBytesMax(50_000));
    try (var server = serve(small, 0);
        var one = client(server.port(), TreeMembership.leaf());
        var outside = client(server.port(), new TreeMembership.Outside())) {
      var absent =
          assertThrows(IllegalArgumentException.class, () -> lent(one, "absent", Reads.STRICT));
      assertTrue(String.valueOf(absent.getMessage()).contains("test.RemoteLent[absent]"));
      count(one, "large").load(100_000);
      assertThrows(LimitExceeded.class, () -> lent(one, "large", Reads.STRICT));
      assertFalse(isLent(one, "large"));
      assertEquals(1, count(outside, "a").add(1));
      assertThrows(UnsupportedOperationException.class, () -> lent(outside, "a", Reads.STRICT));
    }
  }

  @Test
  void comesBackWhenTheLastViewCannotBeReached() throws Exception {
    try (var server = serve("memory:", 0);
        var one = client(server.port(), TreeMembership.leaf())) {
      assertEquals(1, count(one, "a").add(1));
      assertEquals(3, lent(one, "a", Reads.STRICT).add(2));
      await(() -> {
        System.gc();
        return !isLent(one, "a");
      });
      assertEquals(4, count(one, "a").add(1));
      var again = lent(one, "a", Reads.LOCAL);
      assertEquals(4, again.value());
      assertEquals(5, again.add(1));
    }
  }

  @Test
  void isDeletedWhileItIsLent() throws Exception {
    try (var server = serve("memory:", 0);
        var one = client(server.port(), TreeMembership.leaf());
        var two = client(server.port(), TreeMembership.leaf())) {
      assertEquals(1, count(one, "a").add(1));
      var here = lent(one, "a", Reads.STRICT);
      assertEquals(3, here.add(2));
      assertTrue(two.delete(count(two, "a")));
      assertThrows(Gone.class, () -> here.add(1));
      one.flush();
      assertEquals(5, count(two, "a").add(5));
      assertEquals(5, count(one, "a").value());
    }
  }

  @Test
  void aServerThatStartsAgainKnowsWhatIsLent(@TempDir Path directory) throws Exception {
    String url = "file:" + directory;
    var server = serve(url, 0);
    int port = server.port();
    try (var other = client(port, TreeMembership.leaf())) {
      try (var one = client(port, TreeMembership.leaf())) {
        assertEquals(1, count(one, "a").add(1));
        var here = lent(one, "a", Reads.STRICT);
        assertEquals(3, here.add(2));
        one.flush();
        server.close();
        server = serve(url, port);
        assertEquals(6, count(other, "a").add(3));
        assertEquals(10, here.add(4));
        assertEquals(10, count(other, "a").value());
        one.flush();
        assertTrue(isLent(other, "a"));
        server.close();
        server = serve(url, port);
        assertEquals(15, here.add(5));
      }
      server.close();
      server = serve(url, port);
      assertEquals(15, count(other, "a").value());
      await(() -> !isLent(other, "a"));
      assertEquals(16, count(other, "a").add(1));
    } finally {
      server.close();
    }
  }

  @Test
  void whoIsKilledLosesWhatNobodySawAndTheObjectGoesOn() throws Exception {
    try (var server = serve("memory:", 0);
        var other = client(server.port(), TreeMembership.leaf());
        var killed = new PurseProcess(server.port(), "leaf")) {
      assertEquals(1, count(other, "a").add(1));
      assertEquals("3", killed.does("lent a 2"));
      assertEquals("flushed", killed.does("flush a"));
      assertEquals("103", killed.does("lent a 100"));
      killed.kill();
      assertEquals(4, count(other, "a").add(1));
      await(() -> !isLent(other, "a"));
      assertEquals(5, count(other, "a").add(1));
    }
  }

  @Test
  void ofSeveralGroupsTheFirstLends() {
    var config = StoaConfig.of("memory:");
    var disks = IntStream.range(0, 2).mapToObj(_ -> new MemoryDisk(64 << 20)).toList();
    try (var groups = new Groups(config, disks, 1);
        var stoa = Stoa.open(groups.url())) {
      for (int group = 0; group < 2; group++) {
        int wanted = group;
        String name =
            IntStream.range(0, 1_000)
                .mapToObj(i -> "sharded " + i)
                .filter(each -> groups.group(Sharded.class, each) == wanted)
                .findFirst()
                .orElseThrow();
        var sharded = stoa.get(Sharded.class, name);
        assertEquals(1, sharded.add(1));
        if (group == 0) {
          var view = stoa.view(Sharded.class, stoa.ref(sharded), new View.Client(Reads.STRICT));
          assertEquals(3, view.add(2));
          assertEquals(6, sharded.add(3));
        } else {
          var refused =
              assertThrows(
                  UnsupportedOperationException.class,
                  () -> stoa.view(Sharded.class, stoa.ref(sharded), new View.Client(Reads.STRICT)));
          for (var words : List.of("group 1", name)) {
            assertTrue(String.valueOf(refused.getMessage()).contains(words));
          }
        }
      }
    }
  }

  @Test
  void aCollectionThatIsLentIsIteratedThroughEveryProxy() throws Exception {
    try (var server = serve("memory:", 0);
        Stoa one = client(server.port(), TreeMembership.leaf());
        Stoa other = client(server.port(), TreeMembership.leaf())) {
      var expected = IntStream.range(0, 300).boxed().toList();
      SharedList<Integer> ordinary = other.list("lent", Integer.class);
      ordinary.addAll(expected.subList(0, 200));
      @SuppressWarnings("unchecked") // Justification: the list holds numbers
      SharedList<Integer> lent =
          one.view(SharedList.class, one.ref(ordinary), new View.Client(Reads.STRICT));
      for (int i = 200; i < 300; i++) lent.add(i);
      assertEquals(expected, new ArrayList<>(lent));
      assertEquals(expected, new ArrayList<>(ordinary));
      var iterator = ordinary.iterator();
      assertEquals(0, iterator.next());
      assertEquals(expected, new ArrayList<>(lent));
    }
  }
}
