package stoa.storage;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.VersionState;
import stoa.storage.object.VersionedObject;

/// Objects that begin as others.
class ForksTest {
  private static final int SEEDS = Integer.getInteger("stoa.storage.forks.seeds", 8);
  private static final long FIRST_SEED = Long.getLong("stoa.storage.seed", 0);

  private static ByteBuffer text(String text) {
    return ByteBuffer.wrap(text.getBytes(UTF_8));
  }

  private static String read(ObjectReader object, int length) {
    return new String(object.read(0, length), UTF_8);
  }

  @Test
  void aForkBeginsAsTheSnapshotAndThenBothGoTheirWays() throws IOException {
    try (var device = Device.open(new MemoryDisk(64 << 20), DeviceConfig.standard())) {
      VersionedObject one = device.object(1);
      one.write(1, 0, text("aaaaaa"));
      try (var write = one.begin(3)) {
        write.write(2, text("cc"));
        write.attribute("name", new byte[] {3});
        write.commit();
      }
      var moment = one.snapshot();
      one.write(4, 0, text("d")); // later than the snapshot
      VersionedObject fork = moment.fork(new StreamId(0, 2));
      assertEquals("aaccaa", read(fork, 6));
      assertEquals("1, 3", fork.versionState().toString());
      assertArrayEquals(new byte[] {3}, fork.attribute("name"));
      assertEquals(6, fork.size());
      assertFalse(fork.write(3, 0, text("x"))); // it has that version
      assertTrue(fork.write(2, 1, text("bbbb"))); // late: version 3 keeps its bytes
      assertEquals(4, fork.write(5, text("ff")));
      one.write(2, 0, text("B"));
      assertEquals("abccbff", read(fork, 7));
      assertEquals("daccaa", read(one, 6));
      assertEquals("aaccaa", read(moment, 6));
      try (var write = fork.begin()) {
        write.truncate(3);
        write.removeAttribute("name");
        write.commit();
      }
      assertEquals(3, fork.size());
      assertEquals(null, fork.attribute("name"));
      assertEquals(6, moment.size());
      var updates = new ByteArrayOutputStream();
      fork.updatesMissingFrom(VersionState.EMPTY, updates); // it is whole by itself
      device.object(9).apply(new ByteArrayInputStream(updates.toByteArray()));
      assertEquals(fork.history(), device.object(9).history());
      assertThrows(IllegalStateException.class, moment::release);
      assertThrows(IllegalStateException.class, one::delete);
      assertThrows(IllegalStateException.class, () -> moment.fork(new StreamId(0, 2)));
      fork.delete();
      moment.release();
      assertThrows(IllegalStateException.class, () -> moment.fork(new StreamId(0, 3)));
      assertTrue(one.delete());
    }
  }

  @Test
  void aForkCopiesNoBytes() {
    try (var device = Device.open(new MemoryDisk(64 << 20), DeviceConfig.standard())) {
      device.object(1).write(1, 0, ByteBuffer.allocate(4 << 20));
      var moment = device.object(1).snapshot();
      long before = device.heldBytes();
      VersionedObject fork = moment.fork(new StreamId(0, 2));
      for (int i = 3; i <= 8; i++) fork = fork.snapshot().fork(new StreamId(0, i));
      var last = fork.snapshot();
      assertThrows(IllegalStateException.class, () -> last.fork(new StreamId(0, 9)));
      assertTrue(device.heldBytes() - before < 8 << 10, device.heldBytes() - before + " bytes");
      assertEquals(4 << 20, fork.size());
    }
  }

  /// A write in the model.
  private record Change(int offset, byte[] bytes, int cut) {}

  /// The versions of an object or snapshot.
  private static final class Model {
    final TreeMap<Long, Change> changes = new TreeMap<>();
    final TreeMap<Long, Model> snapshots = new TreeMap<>();
    final List<Integer> forks = new ArrayList<>(); // of a snapshot

    Model copy() {
      var copy = new Model();
      copy.changes.putAll(changes);
      return copy;
    }
  }

  /// Random changes of five objects, forks, snapshots, deletions, maintenance and failures.
  private static final class Life {
    private static final int ROOM = 120;
    private static final int OBJECTS = 5;

    private final SplittableRandom random;
    private final Model[] models = new Model[OBJECTS];
    private SimulatedDisk disk;
    private Device device;

    Life(long seed) {
      random = new SplittableRandom(seed);
      disk = new SimulatedDisk(seed);
      device = open();
      for (int i = 0; i < OBJECTS; i++) models[i] = new Model();
    }

    private Device open() {
      return Device.open(disk, new DeviceConfig(4 << 10, 1 << 10, 4 << 10, 8 << 10), Runnable::run);
    }

    private VersionedObject object(int i) {
      return device.object(i + 1);
    }

    void run() throws IOException {
      for (int i = 0; i < 120; i++) {
        int at = random.nextInt(OBJECTS);
        int what = random.nextInt(20);
        if (what < 9) write(at);
        else if (what < 11) snapshot(at);
        else if (what < 14) fork(at);
        else if (what < 15) release(at);
        else if (what < 16) delete(at);
        else if (what < 18) maintain();
        else reopen();
        if (i % 10 == 9) verify();
      }
      maintain();
      verify();
      reopen();
      verify();
      device.close();
    }

    private void write(int at) {
      long version = 1L + random.nextInt(40);
      var bytes = new byte[1 + random.nextInt(30)];
      for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) (1 + random.nextInt(120));
      int offset = random.nextInt(ROOM - bytes.length);
      int cut = random.nextInt(5) == 0 ? random.nextInt(ROOM) : -1;
      boolean is = models[at].changes.containsKey(version);
      try (var write = object(at).begin(version)) {
        if (cut >= 0) write.truncate(cut);
        write.write(offset, ByteBuffer.wrap(bytes));
        write.attribute("a", bytes);
        assertEquals(!is, write.commit());
      }
      models[at].changes.putIfAbsent(version, new Change(offset, bytes, cut));
    }

    private void snapshot(int at) {
      var model = models[at];
      if (model.changes.isEmpty() || model.snapshots.size() >= 3) return;
      model.snapshots.put(object(at).snapshot().number(), model.copy());
    }

    private @Nullable Long anySnapshot(int at) {
      var numbers = List.copyOf(models[at].snapshots.keySet());
      return numbers.isEmpty() ? null : numbers.get(random.nextInt(numbers.size()));
    }

    private void fork(int at) {
      Long number = anySnapshot(at);
      int to = random.nextInt(OBJECTS);
      if (number == null) return;
      var snapshot = object(at).snapshot(number);
      if (!models[to].changes.isEmpty()) {
        assertThrows(IllegalStateException.class, () -> snapshot.fork(object(to).id()));
        return;
      }
      snapshot.fork(object(to).id());
      var from = Objects.requireNonNull(models[at].snapshots.get(number));
      from.forks.add(to);
      models[to] = from.copy();
    }

    private void release(int at) {
      Long number = anySnapshot(at);
      if (number == null) return;
      var snapshot = object(at).snapshot(number);
      if (!Objects.requireNonNull(models[at].snapshots.get(number)).forks.isEmpty()) {
        assertThrows(IllegalStateException.class, snapshot::release);
        return;
      }
      snapshot.release();
      models[at].snapshots.remove(number);
    }

    private void delete(int at) {
      if (!models[at].snapshots.isEmpty()) {
        assertThrows(IllegalStateException.class, () -> object(at).delete());
        return;
      }
      assertEquals(!models[at].changes.isEmpty(), object(at).delete());
      models[at] = new Model();
      for (var model : models) {
        for (var snapshot : model.snapshots.values()) snapshot.forks.removeIf(fork -> fork == at);
      }
    }

    private void maintain() {
      int steps = 0;
      while (device.maintain()) {
        if (++steps > 1000) throw new AssertionError("maintenance does not end");
      }
    }

    private void reopen() throws IOException {
      int how = random.nextInt(3);
      if (how == 0) device.close();
      disk = how == 1 ? disk.kill() : how == 2 ? disk.crash() : disk;
      device.close();
      if (random.nextBoolean()) {
        for (var name : disk.list()) {
          if (name.equals("manifest") || name.startsWith("run-")) disk.delete(name);
        }
      }
      device = open();
    }

    private void verify() {
      for (int i = 0; i < OBJECTS; i++) {
        verify(object(i), models[i]);
        assertEquals(models[i].snapshots.size(), object(i).snapshots().size());
        for (var snapshot : models[i].snapshots.entrySet()) {
          verify(object(i).snapshot(snapshot.getKey()), snapshot.getValue());
        }
      }
    }

    private static void verify(ObjectReader object, Model model) {
      var expected = new byte[ROOM];
      for (var change : model.changes.values()) {
        if (change.cut >= 0) java.util.Arrays.fill(expected, change.cut, ROOM, (byte) 0);
        System.arraycopy(change.bytes, 0, expected, change.offset, change.bytes.length);
      }
      assertArrayEquals(expected, object.read(0, ROOM));
      int size = ROOM;
      while (size > 0 && expected[size - 1] == 0) size--;
      assertEquals(size, object.size());
      for (long version = 1; version <= 40; version++) {
        boolean has = model.changes.containsKey(version);
        assertEquals(has, object.versionState().contains(version));
      }
      var last = model.changes.lastEntry();
      assertArrayEquals(last == null ? null : last.getValue().bytes, object.attribute("a"));
    }
  }

  @Test
  void forksAreRightAfterMaintenanceFailuresAndTheLossOfTheIndex() {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      try {
        new Life(seed).run();
      } catch (Exception | AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }
}
