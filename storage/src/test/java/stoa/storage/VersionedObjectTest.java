package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.VersionRange;
import stoa.storage.object.VersionState;

class VersionedObjectTest {
  private final Disk disk = new MemoryDisk(256 << 20);

  private Device open() {
    return Device.open(disk, DeviceConfig.standard().withMemtableBytesMax(16 << 10), Runnable::run);
  }

  private static ByteBuffer filled(int length, int value) {
    var bytes = new byte[length];
    Arrays.fill(bytes, (byte) value);
    return ByteBuffer.wrap(bytes);
  }

  private static List<String> history(ObjectReader object) {
    return object.history().stream()
        .map(e ->
            "%d-%d v%d %s"
                .formatted(e.offset(), e.offset() + e.length() - 1, e.version(), e.content()))
        .toList();
  }

  /// The sequence of writes in Figure 2 of the VOSD paper.
  @Test
  void threeOverlappingWritesLeaveWhatTheirVersionsSay() {
    try (var device = open()) {
      var object = device.object(1);
      assertTrue(object.write(47, 4096, filled(4096, 47)));
      assertEquals(List.of("4096-8191 v47 DATA"), history(object));
      assertTrue(object.write(49, 0, filled(4096, 49)));
      assertEquals(List.of("0-4095 v49 DATA", "4096-8191 v47 DATA"), history(object));
      assertTrue(object.write(48, 2048, filled(4096, 48)));
      assertEquals(
          List.of("0-4095 v49 DATA", "4096-6143 v48 DATA", "6144-8191 v47 DATA"), history(object));
      var expected = new byte[8192];
      Arrays.fill(expected, 0, 4096, (byte) 49);
      Arrays.fill(expected, 4096, 6144, (byte) 48);
      Arrays.fill(expected, 6144, 8192, (byte) 47);
      assertArrayEquals(expected, object.read(0, 8192));
      assertEquals("47-49", object.versionState().toString());
      assertEquals(50, object.nextVersion());
    }
  }

  @Test
  void aVersionThatComesTwiceChangesNothing() {
    try (var device = open()) {
      var object = device.object(1);
      assertTrue(object.write(1, 0, filled(10, 1)));
      assertFalse(object.write(1, 5, filled(10, 2)));
      assertEquals(10, object.size());
      assertArrayEquals(filled(10, 1).array(), object.read(0, 10));
    }
  }

  @Test
  void aTransactionIsSeenWholeAndOnlyOnceItIsCommitted() {
    try (var device = open()) {
      var object = device.object(7);
      try (var write = object.begin(3)) {
        write.write(0, filled(5000, 1));
        write.write(100, filled(10, 2));
        write.attribute("name", "x".getBytes(StandardCharsets.UTF_8));
        assertFalse(object.exists());
        assertEquals(0, object.size());
        assertEquals(4, object.nextVersion());
        assertTrue(write.commit());
      }
      assertEquals(5000, object.size());
      assertEquals(2, object.read(105, 1)[0]);
      assertEquals(1, object.read(110, 1)[0]);
      assertArrayEquals("x".getBytes(StandardCharsets.UTF_8), object.attribute("name"));
      assertNull(object.attribute("other"));
      assertEquals(List.of(new VersionRange(1, 2)), object.versionState().missing());
    }
  }

  @Test
  void anAbortedTransactionLeavesNothing() {
    try (var device = open()) {
      var object = device.object(7);
      try (var write = object.begin(1)) {
        write.write(0, filled(100, 1));
        write.abort();
        assertThrows(IllegalStateException.class, write::commit);
      }
      assertFalse(object.exists());
      assertEquals(1, object.nextVersion());
    }
  }

  @Test
  void truncationHidesOlderBytesOnly() {
    try (var device = open()) {
      var object = device.object(7);
      object.write(1, 0, filled(100, 1));
      try (var write = object.begin(3)) {
        write.truncate(50);
        write.commit();
      }
      object.write(2, 40, filled(30, 2)); // late: beyond 50 it is hidden
      object.write(4, 80, filled(10, 4));
      assertEquals(90, object.size());
      assertEquals(
          List.of("0-39 v1 DATA", "40-49 v2 DATA", "50-79 v3 HOLE", "80-89 v4 DATA"),
          history(object).subList(0, 4));
      assertEquals(0, object.read(60, 1)[0]);
    }
  }

  @Test
  void everythingIsThereAfterOpeningAgain() {
    var expected = new ArrayList<String>();
    try (var device = open()) {
      var object = device.object(7);
      for (int i = 1; i <= 300; i++) object.write(i, (i * 37) % 1000, filled(i % 50 + 1, i));
      object.snapshot();
      object.write(400, 10, filled(500, 9));
      expected.addAll(history(object));
      expected.addAll(history(object.snapshots().getFirst()));
    }
    try (var device = open()) {
      var object = device.object(7);
      var actual = new ArrayList<>(history(object));
      actual.addAll(history(object.snapshots().getFirst()));
      assertEquals(expected, actual);
      assertEquals("1-300, 400", object.versionState().toString());
    }
  }

  @Test
  void aSnapshotKeepsWhatItsVersionsSay() {
    try (var device = open()) {
      var object = device.object(7);
      object.write(1, 0, filled(100, 1));
      object.write(5, 50, filled(100, 5));
      var snapshot = object.snapshot();
      var before = snapshot.read(0, 200);
      object.write(3, 20, filled(100, 3)); // late: not of the snapshot
      object.write(6, 0, filled(200, 6));
      var second = object.snapshot();
      object.write(7, 0, filled(200, 7));
      assertArrayEquals(before, snapshot.read(0, 200));
      assertArrayEquals(filled(200, 6).array(), second.read(0, 200));
      assertEquals("1, 5", snapshot.versionState().toString());
      second.release();
      assertArrayEquals(before, snapshot.read(0, 200));
      assertThrows(IllegalStateException.class, () -> second.read(0, 1));
      assertThrows(IllegalStateException.class, object::delete);
      snapshot.release();
      assertTrue(object.delete());
      assertFalse(object.exists());
    }
  }

  @Test
  void aReplicaIsBroughtLevelByWhatItLacks() throws IOException {
    try (var device = open()) {
      var here = device.object(1);
      var there = device.object(2);
      for (int i = 1; i <= 50; i++) {
        here.write(i, i * 10L, filled(30, i));
        if (i % 3 != 0) there.write(i, i * 10L, filled(30, i));
      }
      var sent = new ByteArrayOutputStream();
      here.updatesMissingFrom(there.versionState(), sent);
      there.apply(new ByteArrayInputStream(sent.toByteArray()));
      assertEquals(history(here), history(there));
      assertArrayEquals(here.read(0, 600), there.read(0, 600));
      assertEquals(here.versionState(), there.versionState());
      var whole = new ByteArrayOutputStream();
      here.updatesMissingFrom(VersionState.EMPTY, whole);
      assertTrue(sent.size() < whole.size() * 2 / 3, sent.size() + " of " + whole.size());
      device.object(3).apply(new ByteArrayInputStream(whole.toByteArray()));
      assertEquals(history(here), history(device.object(3)));
    }
  }

  @Test
  void objectsAreListedInOrder() {
    try (var device = open()) {
      for (int i = 200; i > 0; i--) device.object(i).write(1, 0, filled(1, 1));
      device.object(50).delete();
      device.object(51).delete();
      device.object(51).write(1, 0, filled(1, 1));
      var ids = new ArrayList<Long>();
      device.objects(new StreamId(0, 10), id -> ids.add(id.low()) && ids.size() < 60);
      assertEquals(60, ids.size());
      assertEquals(11, ids.getFirst());
      assertEquals(List.of(49L, 51L), ids.subList(38, 40));
    }
  }
}
