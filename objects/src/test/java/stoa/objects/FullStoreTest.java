package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.Keep;
import stoa.Limits;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.threads.Threads;

/// The behavior of a store when its memory or its disk is full.
class FullStoreTest {
  private static final int ROOM = 16 << 20;

  /// A page of bytes.
  @Shared(name = "test.FullPage")
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

  /// Of the last refusal.
  private String told = "";

  private static StoaConfig memory() {
    return StoaConfig.of("memory:")
        .withKeep(Keep.versions(10))
        .withLimits(Limits.standard().withMemoryBytesMax(ROOM));
  }

  /// Writes new pages until one is refused; answers the others.
  private List<Page> fill(Stoa stoa, String prefix) {
    var pages = new ArrayList<Page>();
    while (true) {
      Page page = stoa.get(Page.class, prefix + pages.size());
      try {
        page.write(new byte[50_000]);
      } catch (Unavailable full) {
        told = String.valueOf(full.getMessage());
        return pages;
      }
      pages.add(page);
    }
  }

  @Test
  void oneObjectThatIsOverwrittenNeverFillsAStoreThatForgets() {
    try (Stoa stoa = Stoa.open(memory())) {
      Page page = stoa.get(Page.class, "a");
      for (int i = 0; i < 1_500; i++) page.write(new byte[50_000]);
      assertEquals(50_000, page.bytes().length);
    }
  }

  @Test
  void aFullStoreDeletesAndTakesNewObjects() {
    try (Stoa stoa = Stoa.open(memory())) {
      for (int round = 0; round < 3; round++) {
        List<Page> pages = fill(stoa, round + " ");
        assertTrue(pages.size() > 100, "round " + round + ": " + pages.size());
        assertTrue(told.contains("memoryBytesMax, which is 16,777,216"), told);
        assertTrue(told.contains("delete or trim objects"), told);
        assertEquals(50_000, pages.getFirst().bytes().length);
        for (Page page : pages) stoa.delete(page);
      }
    }
  }

  @Test
  void objectsThatAreTrimmedAndDeletedInEitherOrderNeverFillAStoreThatKeepsAll() {
    for (String url : List.of("memory:", "memory:?shards=3")) {
      var limits = Limits.standard().withMemoryBytesMax(3L * ROOM);
      try (Stoa stoa = Stoa.open(StoaConfig.of(url).withKeep(Keep.all()).withLimits(limits))) {
        leaveNothing(stoa, 4 * ROOM);
      }
    }
  }

  @Test
  void objectsThatAreTrimmedAndDeletedLeaveADiskEmptyThatIsOpenedAgain() {
    var disk = new SimulatedDisk(1);
    disk.limit(3L * ROOM);
    var config = StoaConfig.of("file:simulated");
    for (int round = 0; round < 4; round++) {
      try (Stoa stoa = open(config, disk)) {
        leaveNothing(stoa, ROOM);
      }
    }
  }

  /// Writes much to many objects, of which each is less than a checkpoint, and releases them.
  private static void leaveNothing(Stoa stoa, long bytes) {
    int calls = 7;
    int size = 8_000;
    for (int i = 0; i < bytes / ((long) calls * size); i++) {
      Page page = stoa.get(Page.class, "page " + i);
      for (int call = 0; call < calls; call++) page.write(new byte[size]);
      var history = stoa.history(page);
      if (i % 2 == 0) {
        assertEquals(history.version(), history.trim(history.version()));
        assertEquals(size, history.at(history.version()).bytes().length);
        assertTrue(stoa.delete(page));
      } else {
        assertTrue(stoa.delete(page));
        assertEquals(history.version(), history.trim(history.version()));
      }
      assertEquals(history.version(), history.oldest());
    }
  }

  @Test
  void aStoreAtItsQuotaDeletesAndTakesNewObjects() {
    var config =
        StoaConfig.of("file:simulated")
            .withKeep(Keep.versions(10))
            .withLimits(Limits.standard().withDiskBytesMax(ROOM));
    try (Stoa stoa = open(config, new SimulatedDisk(1))) {
      for (int round = 0; round < 2; round++) {
        List<Page> pages = fill(stoa, round + " ");
        assertTrue(pages.size() > 100, "round " + round + ": " + pages.size());
        assertTrue(told.contains("its quota of 16,777,216 bytes (diskBytesMax, or disk="), told);
        assertTrue(told.contains("delete or trim objects"), told);
        assertEquals(50_000, pages.getFirst().bytes().length);
        for (Page page : pages) stoa.delete(page);
      }
    }
  }

  @Test
  void aFullStoreTakesAwayValuesOfKeys() {
    try (Stoa stoa = Stoa.open(memory())) {
      stoa.store().put("key", "value");
      var _ = fill(stoa, "");
      stoa.store().remove("key");
      assertNull(stoa.store().get("key"));
    }
  }

  @Test
  void aStoreOnAFullDiskIsOpenedReadDeletedFromAndWrittenTo() {
    var disk = new SimulatedDisk(1);
    var config = StoaConfig.of("file:simulated").withKeep(Keep.versions(0));
    int count;
    try (Stoa stoa = open(config, disk)) {
      stoa.get(Page.class, "first").write(new byte[100]);
      disk.limit(ROOM);
      count = fill(stoa, "").size();
      assertTrue(count > 50, count + " pages");
    }
    try (Stoa stoa = open(config, disk)) {
      assertArrayEquals(new byte[50_000], stoa.get(Page.class, "0").bytes());
      for (int i = 0; i < count; i++) stoa.delete(stoa.get(Page.class, "" + i));
      stoa.get(Page.class, "more").write(new byte[50_000]);
      assertEquals(50_000, stoa.get(Page.class, "more").bytes().length);
    }
  }

  private static Stoa open(StoaConfig config, SimulatedDisk disk) {
    return EmbeddedEngine.open(config, disk, Clock.system(), Threads.real());
  }
}
