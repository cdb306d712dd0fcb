package stoa.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.AlreadyExists;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.Placement;
import stoa.Reads;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TxOptions;
import stoa.View;

/// Objects that migrate are created, deleted, begun anew, and called without waiting.
class DeletionTest {
  /// A number of notes.
  @Shared(name = "test.Notes", key = "name", placement = Placement.CLIENT)
  public static class Notes {
    private final String name;
    private final List<String> all = new ArrayList<>();

    protected Notes(String name, String first) {
      this.name = name;
      if (first.isEmpty()) throw new IllegalArgumentException("nothing in " + name);
      all.add(first);
    }

    public int add(String note) {
      if (note.isEmpty()) throw new IllegalArgumentException("nothing for " + name);
      all.add(note);
      return all.size();
    }

    @Accessor
    public String all() {
      return String.join(",", all);
    }
  }

  /// The same where it costs less.
  @Shared(name = "test.AutoNotes", placement = Placement.AUTO)
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

  /// A number at the server, which waits before it is raised when a test says so.
  @Shared(name = "test.Gated")
  public static class Gated {
    static volatile Runnable gate = () -> {};

    private int count;

    public int add() {
      gate.run();
      return ++count;
    }
  }

  private static Notes notes(Stoa stoa, String name) {
    return stoa.get(Notes.class, name, "first");
  }

  @Test
  void whoeverCallsADeletedObjectIsToldAndANewOneBegins(@TempDir Path directory) {
    String url = "file:" + directory;
    try (var stoa = Stoa.open(url)) {
      var domain = Domain.of(stoa);
      var one = domain.join("one");
      var two = domain.join("two");
      var atOne = one.on(notes(stoa, "a"));
      var atTwo = two.on(notes(stoa, "a"));
      var near = two.on(notes(stoa, "a"), Reads.LOCAL);
      var reference = stoa.view(Notes.class, stoa.ref(atOne), new View.Client(Reads.STRICT));
      assertEquals(2, near.add("old"));
      assertEquals("first,old", atOne.all());
      assertEquals("first,old", atTwo.all());
      assertEquals("first,old", near.all());
      assertTrue(stoa.delete(atOne));
      assertFalse(stoa.delete(atOne));
      assertFalse(stoa.delete(notes(stoa, "a")));
      for (var old : List.of(atOne, atTwo, near)) {
        var gone = assertThrows(Gone.class, () -> old.add("later"));
        assertTrue(String.valueOf(gone.getMessage()).contains("test.Notes[a]"));
      }
      assertThrows(Gone.class, atTwo::all);
      assertThrows(Gone.class, near::all);
      assertThrows(Gone.class, () -> reference.add("later"));
      assertTrue(stoa.find(Notes.class, "a").isEmpty());
      assertEquals("first", one.on(notes(stoa, "a")).all());
      assertEquals(2, two.on(notes(stoa, "a")).add("new"));
      assertEquals("first,new", one.on(notes(stoa, "a")).all());
      assertThrows(Gone.class, atTwo::all);
      two.flush();
      assertEquals("first,new", stoa.find(Notes.class, "a").orElseThrow().all());
      assertTrue(stoa.delete(stoa.find(Notes.class, "a").orElseThrow()));
    }
    try (var stoa = Stoa.open(url)) {
      assertTrue(stoa.find(Notes.class, "a").isEmpty());
      var notes = Domain.of(stoa).join("three").on(notes(stoa, "a"));
      assertEquals("first", notes.all());
      assertEquals(2, notes.add("newest"));
      assertEquals("first,old", stoa.history(notes).at(1).all());
    }
    try (var stoa = Stoa.open(url)) {
      assertTrue(stoa.find(Notes.class, "a").isEmpty(), "it was not durable");
      assertEquals(2, notes(stoa, "a").add("last"));
    }
    try (var stoa = Stoa.open(url)) {
      assertEquals("first,last", notes(stoa, "a").all());
    }
  }

  @Test
  void nothingThatWasDoneBeforeADeletionComesBackAfterIt() throws Exception {
    try (var stoa = Stoa.open("memory:");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var domain = Domain.of(stoa);
      for (int round = 0; round < 5; round++) {
        var begun = new CountDownLatch(6);
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
          var member = domain.join("member " + i);
          String mine = "old" + i;
          all.add(threads.submit(() -> untilGone(member, notes(stoa, "a"), mine, begun)));
        }
        begun.await();
        assertTrue(stoa.delete(notes(stoa, "a")));
        assertEquals("first", notes(stoa, "a").all());
        assertEquals(2, notes(stoa, "a").add("new"));
        for (var each : all) assertTrue(each.get() > 0);
        assertEquals("first,new", notes(stoa, "a").all());
        assertTrue(stoa.delete(notes(stoa, "a")));
      }
    }
  }

  /* Calls an object until it is no more, and leaves. */
  private static int untilGone(Member member, Notes notes, String note, CountDownLatch begun) {
    try (member) {
      var mine = member.on(notes);
      mine.add(note);
      member.flush();
      begun.countDown();
      for (int i = 1; ; i++) {
        try {
          mine.add(note);
          if (i % 10 == 0) member.flush();
        } catch (Gone deleted) {
          return i;
        }
      }
    }
  }

  @Test
  void anOperationOnSeveralObjectsMeetsADeletedOneAsACallDoes() {
    try (var stoa = Stoa.open("memory:")) {
      var member = Domain.of(stoa).join("one");
      var old = notes(stoa, "a");
      var other = notes(stoa, "b");
      member.on(old).add("old");
      assertTrue(stoa.delete(old));
      assertThrows(
          Gone.class,
          () ->
              member.together(
                  List.of(old, other),
                  () -> {
                    other.add("lost");
                    return old.add("later");
                  }));
      assertEquals("first", other.all());
      var again = notes(stoa, "a");
      int count =
          member.<Integer, RuntimeException>together(
              List.of(again, other), () -> again.add("new") + other.add("kept"));
      assertEquals(4, count);
      assertEquals("first,new", notes(stoa, "a").all());
      var inside =
          assertThrows(
              IllegalStateException.class,
              () -> member.together(List.of(again), () -> stoa.delete(again)));
      assertTrue(String.valueOf(inside.getMessage()).contains("test.Notes[a]"));
      inside =
          assertThrows(
              IllegalStateException.class,
              () ->
                  member.together(
                      List.of(again), () -> stoa.async(again, each -> each.add("escapes"))));
      assertTrue(String.valueOf(inside.getMessage()).contains("test.Notes[a]"));
      assertEquals("first,new", notes(stoa, "a").all());
    }
  }

  @Test
  void whoHasDeletedAnObjectReadsNothingOlderAndWaitsForNobody() throws Exception {
    try (var stoa = Stoa.open("memory:");
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var domain = Domain.of(stoa);
      var one = domain.join("one");
      var two = domain.join("two");
      assertEquals(2, one.on(notes(stoa, "a")).add("old"));
      assertEquals(3, two.on(notes(stoa, "a")).add("old"));
      var near = one.on(notes(stoa, "a"), Reads.LOCAL);
      assertEquals("first,old", near.all());
      assertTrue(stoa.delete(notes(stoa, "a")));
      assertEquals("first,old", near.all());
      var holds = new CountDownLatch(1);
      var mayEnd = new CountDownLatch(1);
      Future<?> holding =
          threads.submit(() -> {
            return two.<Boolean, InterruptedException>together(
                List.of(notes(stoa, "a")),
                () -> {
                  holds.countDown();
                  mayEnd.await();
                  return true;
                });
          });
      holds.await();
      one.deleted(domain.store().object(notes(stoa, "a")));
      mayEnd.countDown();
      holding.get();
      assertEquals("first", near.all());
    }
  }

  @Test
  void aCopyThatMayBeOldDoesNotSayWhichObjectIsMeant() {
    try (var stoa = Stoa.open("memory:")) {
      var domain = Domain.of(stoa);
      var one = domain.join("one");
      var two = domain.join("two");
      assertEquals(2, one.on(notes(stoa, "a")).add("old"));
      assertEquals(3, two.on(notes(stoa, "a")).add("old"));
      assertTrue(stoa.delete(notes(stoa, "a")));
      assertEquals(2, two.on(notes(stoa, "a")).add("new"));
      two.flush();
      var found = one.on(stoa.find(Notes.class, "a").orElseThrow(), Reads.LOCAL);
      var near = one.on(notes(stoa, "a"), Reads.LOCAL);
      assertEquals("first,old", near.all());
      assertEquals("first,new", found.all());
      assertEquals(3, near.add("newer"));
      assertEquals(4, found.add("newest"));
    }
  }

  @Test
  void anObjectIsCreatedOnce() {
    try (var stoa = Stoa.open("memory:")) {
      var notes = stoa.create(Notes.class, "a", "begun");
      assertEquals("begun", notes.all());
      assertThrows(AlreadyExists.class, () -> stoa.create(Notes.class, "a", "again"));
      assertThrows(IllegalArgumentException.class, () -> stoa.create(Notes.class, "b", ""));
      assertEquals("begun", Domain.of(stoa).join("one").on(notes(stoa, "a")).all());
      assertTrue(stoa.delete(notes));
      assertEquals("anew", stoa.create(Notes.class, "a", "anew").all());
      assertThrows(Gone.class, notes::all);
      var auto = stoa.create(AutoNotes.class, "a");
      assertThrows(AlreadyExists.class, () -> stoa.create(AutoNotes.class, "a"));
      Domain.of(stoa).auto().move(auto, true);
      assertThrows(AlreadyExists.class, () -> stoa.create(AutoNotes.class, "a"));
    }
  }

  @Test
  void anObjectIsDeletedAtEitherSide() {
    try (var stoa = Stoa.open("memory:")) {
      var domain = Domain.of(stoa);
      var member = domain.join("one");
      for (boolean atServer : List.of(false, true, true, false)) {
        var old = stoa.get(AutoNotes.class, "a");
        var mine = member.on(old);
        assertEquals(1, mine.add());
        domain.auto().move(old, atServer);
        assertEquals(2, mine.add());
        assertTrue(stoa.delete(old));
        assertThrows(Gone.class, mine::add);
        assertThrows(Gone.class, mine::count);
        domain.auto().move(old, !atServer);
        assertThrows(Gone.class, mine::add);
        assertFalse(stoa.delete(stoa.get(AutoNotes.class, "a")));
        assertEquals(0, member.on(stoa.get(AutoNotes.class, "a")).count());
      }
    }
  }

  @Test
  void whatIsCalledWithoutWaitingIsDoneInTurnAndBounded() throws Exception {
    var config = StoaConfig.of("memory:");
    var few = config.limits().withQueuedCallsMax(100);
    try (var stoa = Stoa.open(config.withLimits(few));
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var member = Domain.of(stoa).join("one");
      var notes = notes(stoa, "a");
      var seen = member.view(notes, Reads.STRICT);
      List<CompletableFuture<Integer>> all = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        String note = "n" + i;
        var through = i % 2 == 0 ? notes : seen;
        all.add(stoa.async(through, each -> each.add(note)));
      }
      for (int i = 0; i < 50; i++) assertEquals(i + 2, all.get(i).join());
      assertEquals(notes.all(), stoa.async(notes, Notes::all).join());
      assertInstanceOf(
          IllegalArgumentException.class, failure(stoa.async(notes, each -> each.add(""))));
      assertThrows(
          IllegalStateException.class,
          () -> stoa.transact(() -> stoa.async(notes, each -> each.add("x"))));
      var holds = new CountDownLatch(1);
      var mayEnd = new CountDownLatch(1);
      Future<?> holding =
          threads.submit(() -> {
            return member.<Boolean, InterruptedException>together(
                List.of(notes),
                () -> {
                  holds.countDown();
                  mayEnd.await();
                  return true;
                });
          });
      holds.await();
      all.clear();
      for (int i = 0; i < 100; i++) all.add(stoa.async(notes, each -> each.add("waits")));
      assertInstanceOf(
          LimitExceeded.class, failure(stoa.async(notes, each -> each.add("too many"))));
      mayEnd.countDown();
      holding.get();
      assertEquals(151, all.getLast().join());
      assertTrue(stoa.delete(notes));
      assertInstanceOf(Gone.class, failure(stoa.async(notes, each -> each.add("later"))));
    }
  }

  private static @Nullable Throwable failure(CompletableFuture<?> future) {
    return assertThrows(CompletionException.class, future::join).getCause();
  }

  @Test
  void transactionsAreRefusedWithWhatToDoInstead() throws ExecutionException {
    try (var stoa = Stoa.open("memory:")) {
      var notes = notes(stoa, "a");
      assertEquals(2, notes.add("kept"));
      for (Runnable within :
          List.<Runnable>of(
              () -> stoa.delete(notes),
              () -> stoa.create(Notes.class, "b", "first"),
              () -> notes.add("lost"))) {
        var refused =
            assertThrows(
                UnsupportedOperationException.class,
                () ->
                    stoa.transact(
                        TxOptions.STANDARD,
                        () -> {
                          within.run();
                          return true;
                        }));
        for (var words : List.of("test.Notes[", "transactions", "Stoa.together")) {
          assertTrue(String.valueOf(refused.getMessage()).contains(words), refused.getMessage());
        }
      }
      assertEquals("first,kept", notes.all());
    }
  }

  @Test
  void aNewLifeIsDurableThoughTheOldOneHadLeftTheMemory(@TempDir Path directory) {
    var config = StoaConfig.of("file:" + directory);
    var few = config.limits().withResidentBytesMax(5_000);
    try (var stoa = Stoa.open(config.withLimits(few))) {
      var member = Domain.of(stoa).join("one");
      assertEquals(2, member.on(notes(stoa, "a")).add("old"));
      member.flush();
      for (int i = 0; i < 100; i++) assertEquals(1, stoa.get(Gated.class, "other " + i).add());
      assertTrue(stoa.delete(notes(stoa, "a")));
      assertEquals(2, member.on(notes(stoa, "a")).add("new"));
      member.flush();
    }
    try (var stoa = Stoa.open(config)) {
      assertEquals("first,new", stoa.find(Notes.class, "a").orElseThrow().all());
    }
  }

  @Test
  void aDeletionThatIsRefusedLeavesAllAsItWas() throws Exception {
    var config = StoaConfig.of("memory:");
    var few = config.limits().withQueuedCallsMax(2);
    var run = new CountDownLatch(2);
    var mayEnd = new CountDownLatch(1);
    try (var stoa = Stoa.open(config.withLimits(few));
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var domain = Domain.of(stoa);
      var notes = notes(stoa, "a");
      assertEquals(2, notes.add("kept"));
      Gated.gate =
          () -> {
            run.countDown();
            await(mayEnd);
          };
      List<Future<Integer>> calls = new ArrayList<>();
      for (var name : List.of("a", "b")) {
        calls.add(threads.submit(() -> stoa.get(Gated.class, name).add()));
      }
      run.await();
      var refused = assertThrows(LimitExceeded.class, () -> stoa.delete(notes));
      assertTrue(String.valueOf(refused.getMessage()).contains("queuedCallsMax"));
      assertFalse(domain.isOver());
      mayEnd.countDown();
      for (var call : calls) assertEquals(1, call.get());
      assertEquals("first,kept", notes.all());
      assertTrue(stoa.delete(notes));
      assertThrows(Gone.class, notes::all);
    } finally {
      mayEnd.countDown();
      Gated.gate = () -> {};
    }
  }

  @Test
  void statesThatAreRefusedForNowAreWrittenLater() throws Exception {
    var config = StoaConfig.of("memory:");
    var few = config.limits().withQueuedCallsMax(2);
    try (var stoa = Stoa.open(config.withLimits(few));
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var domain = Domain.of(stoa);
      var member = domain.join("one");
      var notes = member.on(notes(stoa, "a"));
      for (int round = 1; round <= 3; round++) {
        var run = new CountDownLatch(2);
        var mayEnd = new CountDownLatch(1);
        assertEquals(1 + round, notes.add("kept"));
        Gated.gate =
            () -> {
              run.countDown();
              await(mayEnd);
            };
        List<Future<Integer>> calls = new ArrayList<>();
        for (var name : List.of("a", "b")) {
          calls.add(threads.submit(() -> addedAtLast(stoa.get(Gated.class, name))));
        }
        run.await();
        var flushing = threads.submit(() -> member.flush());
        // Meanwhile what is flushed has come to the root, and was refused as these are.
        for (int i = 0; i < 5_000; i++) {
          assertThrows(LimitExceeded.class, () -> stoa.get(Gated.class, "c").add());
        }
        mayEnd.countDown();
        for (var call : calls) assertEquals(round, call.get());
        flushing.get();
      }
      assertFalse(domain.isOver());
      assertEquals("first,kept,kept,kept", notes(stoa, "a").all());
    } finally {
      Gated.gate = () -> {};
    }
  }

  /// The root may have a call under way, too.
  private static int addedAtLast(Gated gated) {
    while (true) {
      try {
        return gated.add();
      } catch (LimitExceeded full) {
        Thread.onSpinWait();
      }
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
