package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.segment.Commit;

/// Random commits, trims, maintenance, syncs, power losses and reopenings, against a map.
class CrashTest {
  private static final int SEEDS = Integer.getInteger("stoa.storage.seeds", 250);
  private static final long FIRST_SEED = Long.getLong("stoa.storage.seed", 0);
  private static final StreamId COUNTER = StreamId.of("counter");

  @Test
  void afterAPowerLossAPrefixOfTheCommitsWithEverythingSyncedIsThere() throws Exception {
    for (long seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++) {
      try {
        new Life(seed).run();
      } catch (Exception | AssertionError e) {
        throw new AssertionError("seed " + seed + ": -Dstoa.storage.seed=" + seed, e);
      }
    }
  }

  private record Place(int object, int space, long offset) implements Comparable<Place> {
    @Override
    public int compareTo(Place other) {
      if (object != other.object) return Integer.compare(object, other.object);
      if (space != other.space) return Integer.compare(space, other.space);
      return Long.compare(offset, other.offset);
    }
  }

  /// The contents of a commit.
  ///
  /// @param trims by space of an object, which is a place at offset 0
  private record Written(Map<Place, byte[]> extents, Map<Place, Long> trims) {}

  private static final class Life {
    private final SplittableRandom random;
    private final DeviceConfig config;
    private final StreamId[] objects;
    private final List<Written> commits = new ArrayList<>();
    private final boolean ascending;
    private final boolean maintained;
    private int present; // at least so many commits are on the disk
    private int durable; // at least so many survive a power loss
    private SimulatedDisk disk;

    Life(long seed) {
      random = new SplittableRandom(seed);
      disk = new SimulatedDisk(random.nextLong());
      config =
          new DeviceConfig(
              4096 << random.nextInt(4),
              random.nextBoolean() ? 0 : 2048 << random.nextInt(3),
              4096 << random.nextInt(3),
              4096 << random.nextInt(4));
      objects = new StreamId[1 + random.nextInt(40)];
      for (int i = 0; i < objects.length; i++) objects[i] = StreamId.of("object" + i);
      ascending = random.nextBoolean();
      maintained = random.nextBoolean();
      if (random.nextInt(4) == 0) disk.readShort();
    }

    void run() throws Exception {
      int lives = 2 + random.nextInt(6);
      for (int i = 0; i < lives; i++) {
        if (random.nextInt(3) > 0) disk.losePowerAfter(random.nextInt(300));
        boolean alive = live();
        int end = random.nextInt(3);
        if (alive && end == 0) continue;
        if (end == 1) {
          disk = disk.kill(); // what the process has written stays when only it ends
        } else {
          disk = disk.crash();
          present = durable;
        }
      }
      disk.losePowerAfter(1 << 30);
      try (var device = open()) {
        verify(device);
      }
      // The same from the log alone.
      if (disk.list().contains(DeviceFiles.MANIFEST)) disk.delete(DeviceFiles.MANIFEST);
      try (var device = open()) {
        verify(device);
      }
    }

    private Device open() {
      return Device.open(disk, config, Runnable::run);
    }

    /// Answers whether the power is still on.
    private boolean live() {
      try (var device = open()) {
        verify(device);
        durable = commits.size(); // opening makes durable what it found
        int steps = random.nextInt(200);
        for (int i = 0; i < steps; i++) {
          int what = random.nextInt(20);
          if (what > 4) append(device);
          else if (what > 1 || !maintained) sync(device);
          else device.maintain();
        }
        verify(device);
      } catch (DeviceFailed | ReadFailed e) {
        return false;
      }
      try {
        return disk.list() != null;
      } catch (IOException e) {
        return false; // the power went during work in the background
      }
    }

    private void append(Device device) {
      var commit = new Commit();
      var extents = new TreeMap<Place, byte[]>();
      int count = random.nextInt(8) == 0 ? random.nextInt(60) : 1 + random.nextInt(3);
      int number = commits.size();
      put(commit, extents, new Place(-1, 0, number), new byte[] {1});
      for (int i = 0; i < count; i++) {
        long offset = ascending ? number * 64L + i : random.nextInt(50);
        if (random.nextInt(50) == 0) offset = Long.MAX_VALUE - random.nextInt(2);
        var place = new Place(random.nextInt(objects.length), random.nextInt(2) * 127, offset);
        var data = new byte[random.nextInt(10) == 0 ? random.nextInt(3000) : random.nextInt(120)];
        random.nextBytes(data);
        put(commit, extents, place, data);
      }
      var trims = new TreeMap<Place, Long>();
      if (random.nextInt(8) == 0) {
        var place = new Place(random.nextInt(objects.length), random.nextInt(2) * 127, 0);
        long before = ascending ? random.nextLong(number * 64L + 1) : random.nextInt(40);
        commit.trim(id(place), place.space(), before);
        trims.put(place, before);
      }
      commits.add(new Written(extents, trims));
      device.append(commit);
      present = commits.size();
    }

    private void put(Commit commit, Map<Place, byte[]> extents, Place place, byte[] data) {
      commit.write(id(place), place.space(), place.offset(), data, 0, data.length);
      extents.put(place, data);
    }

    private StreamId id(Place place) {
      return place.object() < 0 ? COUNTER : objects[place.object()];
    }

    private void sync(Device device) {
      device.sync();
      durable = present;
    }

    private void verify(Device device) {
      int survived = (int) device.floor(COUNTER, 0, Long.MAX_VALUE) + 1;
      assertTrue(survived >= present, () -> survived + " survived of " + present);
      assertTrue(survived <= commits.size());
      while (commits.size() > survived) commits.removeLast();
      present = survived;
      var model = new TreeMap<Place, byte[]>();
      var bounds = new TreeMap<Place, Long>();
      for (var commit : commits) {
        model.putAll(commit.extents());
        commit.trims().forEach((place, before) -> bounds.merge(place, before, Math::max));
      }
      bounds.forEach((place, before) -> {
        model.subMap(place, new Place(place.object(), place.space(), before)).clear();
        assertEquals(before, device.trimmedBefore(id(place), place.space()));
      });
      var seen = new TreeMap<Place, byte[]>();
      for (int object = -1; object < objects.length; object++) {
        for (int space : new int[] {0, 1, 127}) {
          var place = new Place(object, space, 0);
          device.scan(
              id(place),
              space,
              0,
              Long.MAX_VALUE,
              (offset, data) -> {
                seen.put(new Place(place.object(), place.space(), offset), data);
                return true;
              });
        }
      }
      assertEquals(model.keySet(), seen.keySet());
      model.forEach((place, data) -> assertArrayEquals(data, seen.get(place)));
      for (int i = 0; i < 50; i++) probe(device, model);
    }

    private void probe(Device device, NavigableMap<Place, byte[]> model) {
      long offset = random.nextInt(ascending ? 64 * commits.size() + 64 : 60);
      var place = new Place(random.nextInt(objects.length), random.nextInt(2) * 127, offset);
      assertArrayEquals(model.get(place), device.read(id(place), place.space(), offset));
      var floor = model.floorKey(place);
      boolean same =
          floor != null && floor.object() == place.object() && floor.space() == place.space();
      assertEquals(same ? floor.offset() : -1, device.floor(id(place), place.space(), offset));
      var extent = device.readFloor(id(place), place.space(), offset);
      assertEquals(same, extent != null);
      if (extent != null) {
        assertEquals(floor.offset(), extent.offset());
        assertArrayEquals(model.get(floor), extent.data());
      }
      var expected = new ArrayList<Long>();
      long to = offset + random.nextInt(30);
      model
          .subMap(place, true, new Place(place.object(), place.space(), to), true)
          .keySet()
          .forEach(key -> expected.add(key.offset()));
      int most = 1 + random.nextInt(5);
      var seen = new ArrayList<Long>();
      device.scan(
          id(place),
          place.space(),
          offset,
          to,
          (at, data) -> {
            seen.add(at);
            return seen.size() < most;
          });
      assertEquals(expected.subList(0, Math.min(most, expected.size())), seen);
    }
  }
}
