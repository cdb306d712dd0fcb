package stoa.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.store.Script.bytes;
import static stoa.store.Script.key;
import static stoa.store.Script.put;

import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.storage.disk.MemoryDisk;
import stoa.store.divergence.Announcements;
import stoa.store.replicas.Announced;
import stoa.store.running.NoteRequest;
import stoa.store.running.Resident;
import stoa.store.threads.Threads;

class AnnouncementsTest {
  private final MemoryDisk disk = new MemoryDisk(256 << 20);

  @Test
  void aChangedKeyIsAnnouncedOnceAtEachChange() {
    try (var store = Script.open(disk);
        var threads = Threads.real()) {
      Announcements announcements = announcements(store, threads, Announcements.KEPT);
      put(store, "a", "one");
      Resident resident = store.engine().residents().pin(key("a"));
      while (resident.isUnannounced()) announcements.turn(); // whose thread may still be there
      resident.unpin();
      for (int i = 0; i < 5; i++) announcements.turn();
      put(store, "b", "two"); // takes the announcement along
      StreamId stream = Announced.KEY.stream();
      assertEquals(1, store.engine().streams().last(stream));
      var entry = store.engine().streams().read(stream, 1);
      Announced said = Announced.of(java.util.Objects.requireNonNull(entry).payload());
      assertEquals(key("a").stream(), said.stream());
      assertEquals(store.position(key("a")), said.address());
      assertEquals(store.generation(key("a")), said.generation());
      assertEquals(StreamId.of(bytes("one")), said.hash());
    }
  }

  @Test
  void aStateIsNotAnnouncedThatReflectsAnAnswerWhichWasLost() {
    try (var store = Script.open(disk);
        var threads = Threads.real()) {
      put(store, "a", "one");
      Resident resident = store.engine().residents().pin(key("a"));
      var reflected = new NoteRequest.Reflected(resident, resident.answersLost());
      Resident announcements = store.engine().residents().pin(Announced.KEY);
      store.engine().writer().announce(announcements, bytes("kept"), reflected);
      put(store, "b", "two");
      resident.answerLost();
      store.engine().writer().announce(announcements, bytes("dropped"), reflected);
      put(store, "b", "three");
      announcements.unpin();
      StreamId stream = Announced.KEY.stream();
      assertEquals(1, store.engine().streams().last(stream));
      assertTrue(resident.isUnannounced());
      announcements(store, threads, Announcements.KEPT).turn();
      assertTrue(resident.isUnannounced(), "its state is made anew first");
      resident.unpin();
    }
  }

  @Test
  void whatWasAnnouncedLongAgoIsReleased() {
    try (var store = Script.open(disk);
        var threads = Threads.real()) {
      var announcements = announcements(store, threads, 100);
      for (int i = 1; i <= 6_000; i++) {
        announcements.checkpoint(key("a"), 1, i, bytes("state " + i));
        if (i % 1_000 == 0) put(store, "b", "x"); // which logs them
      }
      announcements.turn();
      StreamId stream = Announced.KEY.stream();
      assertEquals(6_000, store.engine().streams().last(stream));
      assertEquals(5_901, store.engine().streams().oldest(stream));
      assertTrue(store.engine().streams().read(stream, 5_901) != null);
    }
  }

  private static Announcements announcements(Store store, Threads threads, int kept) {
    StoreParts parts = store.engine();
    return new Announcements(
        parts.writer(), parts.residents(), parts.spaces(), parts.streams(), threads::answer, kept);
  }
}
