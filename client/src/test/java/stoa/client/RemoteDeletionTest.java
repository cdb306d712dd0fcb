package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.AlreadyExists;
import stoa.Gone;
import stoa.Placement;
import stoa.Reads;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TreeMembership;
import stoa.View;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;

/// Objects that migrate between clients of a server are created, deleted, begun anew, and called
/// without waiting.
class RemoteDeletionTest {
  /// A number of notes.
  @Shared(name = "test.RemoteNotes", placement = Placement.CLIENT)
  public static class Notes {
    private final List<String> all = new ArrayList<>();

    protected Notes(String first) {
      all.add(first);
    }

    public int add(String note) {
      if (note.isEmpty()) throw new IllegalArgumentException("nothing");
      all.add(note);
      return all.size();
    }

    @Accessor
    public String all() {
      return String.join(",", all);
    }
  }

  /// The same where it costs less.
  @Shared(name = "test.RemoteAutoNotes", placement = Placement.AUTO)
  public static class AutoNotes {
    private int count;

    public int add() {
      return ++count;
    }

    @Accessor
    public int count() {
      return count;
    }
  }

  private static Notes notes(Stoa stoa, String name) {
    return stoa.get(Notes.class, name, "first");
  }

  private static Server serve(String url, int port) throws IOException {
    var store = new EmbeddedEngine().open(StoaConfig.of(url));
    var config = ServerConfig.of("127.0.0.1", port).withTreeLease(Duration.ofSeconds(3));
    return Server.start(config, ObjectService.of(store, _ -> true));
  }

  private static Stoa client(Server server, TreeMembership membership) {
    return Stoa.open(StoaConfig.of("stoa://127.0.0.1:" + server.port()).withMembership(membership));
  }

  @Test
  void whoeverCallsADeletedObjectIsToldAndANewOneBegins() throws Exception {
    try (var server = serve("memory:", 0);
        var leaf = client(server, TreeMembership.leaf());
        var inner = client(server, TreeMembership.inner());
        var outside = client(server, new TreeMembership.Outside())) {
      var all = List.of(leaf, inner, outside);
      for (var deleting : all) {
        var olds = all.stream().map(each -> notes(each, "a")).toList();
        for (var old : olds) old.add("old");
        assertEquals("first,old,old,old", olds.getFirst().all());
        assertTrue(deleting.delete(notes(deleting, "a")));
        assertFalse(deleting.delete(notes(deleting, "a")));
        if (!deleting.equals(outside)) {
          var near = new View.Client(Reads.LOCAL);
          var here = deleting.view(Notes.class, deleting.ref(olds.getFirst()), near);
          assertThrows(Gone.class, here::all, "who has deleted it sees that");
        }
        for (var old : olds) {
          assertThrows(Gone.class, old::all);
          var gone = assertThrows(Gone.class, () -> old.add("later"));
          assertTrue(String.valueOf(gone.getMessage()).contains("test.RemoteNotes[a]"));
        }
        assertEquals(2, notes(outside, "a").add("new"));
        assertEquals(3, notes(leaf, "a").add("new"));
        assertEquals("first,new,new", notes(inner, "a").all());
        assertThrows(Gone.class, () -> olds.get(1).all());
        inner.flush();
        assertTrue(deleting.delete(deleting.find(Notes.class, "a").orElseThrow()));
      }
    }
  }

  @Test
  void anObjectThatMayBeAtTheServerIsDeletedLikewise() throws Exception {
    try (var server = serve("memory:", 0);
        var leaf = client(server, TreeMembership.leaf());
        var outside = client(server, new TreeMembership.Outside())) {
      for (var deleting : List.of(leaf, outside)) {
        var atLeaf = leaf.get(AutoNotes.class, "a");
        var atServer = outside.get(AutoNotes.class, "a");
        assertEquals(1, atLeaf.add());
        assertEquals(2, atServer.add());
        assertTrue(deleting.delete(deleting.get(AutoNotes.class, "a")));
        assertThrows(Gone.class, atLeaf::add);
        assertThrows(Gone.class, atServer::add);
        assertEquals(0, leaf.get(AutoNotes.class, "a").count());
      }
    }
  }

  @Test
  void nothingThatWasDoneBeforeADeletionComesBackAfterItOrAfterAnotherStart(@TempDir Path directory)
      throws Exception {
    String url = "file:" + directory;
    var server = serve(url, 0);
    int port = server.port();
    try (var deleting = client(server, TreeMembership.leaf());
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var begun = new CountDownLatch(4);
      List<Future<Notes>> all = new ArrayList<>();
      List<Stoa> others = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        var other = client(server, i % 2 == 0 ? TreeMembership.leaf() : TreeMembership.inner());
        others.add(other);
        String mine = "old" + i;
        all.add(threads.submit(() -> untilGone(other, mine, begun)));
      }
      begun.await();
      assertTrue(deleting.delete(notes(deleting, "a")));
      assertEquals(2, notes(deleting, "a").add("new"));
      for (var each : all) each.get();
      for (var other : others) assertEquals("first,new", notes(other, "a").all());
      deleting.flush();
      server.close();
      server = serve(url, port);
      for (var other : others) assertEquals("first,new", notes(other, "a").all());
      for (var each : all) assertThrows(Gone.class, each.get()::all);
      assertTrue(others.getLast().delete(notes(others.getLast(), "a")));
      server.close();
      server = serve(url, port);
      assertEquals("first", notes(deleting, "a").all());
      for (var each : all) assertThrows(Gone.class, each.get()::all);
      for (var other : others) other.close();
      assertEquals("first", notes(deleting, "a").all());
    } finally {
      server.close();
    }
  }

  /* Calls an object until it is no more. */
  private static Notes untilGone(Stoa stoa, String note, CountDownLatch begun) {
    var mine = notes(stoa, "a");
    mine.add(note);
    stoa.flush();
    begun.countDown();
    for (int i = 1; ; i++) {
      try {
        mine.add(note);
        if (i % 10 == 0) stoa.flush();
      } catch (Gone deleted) {
        stoa.flush();
        return mine;
      }
    }
  }

  @Test
  void anObjectIsCreatedOnce() throws Exception {
    try (var server = serve("memory:", 0);
        var leaf = client(server, TreeMembership.leaf());
        var outside = client(server, new TreeMembership.Outside())) {
      assertEquals("a leaf's", leaf.create(Notes.class, "a", "a leaf's").all());
      assertThrows(AlreadyExists.class, () -> outside.create(Notes.class, "a", "again"));
      var old = outside.create(Notes.class, "b", "outside");
      assertThrows(AlreadyExists.class, () -> leaf.create(Notes.class, "b", "again"));
      assertTrue(leaf.delete(notes(leaf, "b")));
      assertEquals("anew", leaf.create(Notes.class, "b", "anew").all());
      assertThrows(Gone.class, old::all);
      assertEquals("anew", notes(outside, "b").all());
    }
  }

  @Test
  void whatIsCalledWithoutWaitingIsDoneInTurn() throws Exception {
    try (var server = serve("memory:", 0);
        var leaf = client(server, TreeMembership.leaf());
        var inner = client(server, TreeMembership.inner());
        var outside = client(server, new TreeMembership.Outside())) {
      int size = 1;
      for (var stoa : List.of(leaf, inner, outside)) {
        var notes = notes(stoa, "a");
        if (!stoa.equals(outside)) {
          assertThrows(
              IllegalStateException.class,
              () -> stoa.together(List.of(notes), () -> stoa.async(notes, each -> each.add("y"))));
        }
        List<CompletableFuture<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 20; i++) all.add(stoa.async(notes, each -> each.add("x")));
        for (var each : all) assertEquals(++size, each.join());
        assertInstanceOf(
            IllegalArgumentException.class, failure(stoa.async(notes, each -> each.add(""))));
      }
      assertTrue(leaf.delete(notes(leaf, "a")));
      assertTrue(inner.find(Notes.class, "a").isEmpty());
      var anew = notes(outside, "a");
      assertEquals(2, outside.async(anew, each -> each.add("new")).join());
      assertTrue(inner.delete(notes(inner, "a")));
      assertInstanceOf(Gone.class, failure(outside.async(anew, each -> each.add("later"))));
    }
  }

  private static @Nullable Throwable failure(CompletableFuture<?> future) {
    return assertThrows(CompletionException.class, future::join).getCause();
  }
}
