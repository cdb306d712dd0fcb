package stoa.storage.upkeep;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFiles;
import stoa.storage.disk.Disk;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.disk.UnknownFormat;
import stoa.storage.index.RunFormat;
import stoa.storage.segment.Commit;

/// Damage in the files of a device that is closed: each part of each file, one bit at a time.
class SurveyTest {
  private static final DeviceConfig SMALL = new DeviceConfig(8 << 10, 0, 4 << 10, 16 << 10);
  private static final StreamId A = StreamId.of("a");
  private static final StreamId B = StreamId.of("b");
  private static final int RECORDS = 100;
  private static final int STEP = 97;

  private final SimulatedDisk disk = new SimulatedDisk(1);

  private static byte[] text(StreamId object, int number) {
    return (object + " " + number + " ".repeat(number % 40)).getBytes(UTF_8);
  }

  /// Writes records of two objects together, and a versioned object.
  private void fill() {
    try (var device = Device.open(disk, SMALL, Runnable::run)) {
      for (int i = 0; i < RECORDS; i++) {
        byte[] a = text(A, i);
        byte[] b = text(B, i);
        device.append(new Commit().write(A, 0, i, a, 0, a.length).write(B, 3, i, b, 0, b.length));
        if (i % 10 == 0) device.object(7).write(i + 1, i * 100L, ByteBuffer.wrap(text(A, i)));
      }
      device.append(new Commit().trim(B, 3, 5));
      device.sync();
    }
  }

  private static List<Survey.Damage> survey(Disk of) {
    var damages = new ArrayList<Survey.Damage>();
    var _ = Survey.of(of, collecting(damages));
    return damages;
  }

  private static Survey.Visitor collecting(List<Survey.Damage> damages) {
    return new Survey.Visitor() {
      @Override
      public void item(Survey.Place place, Survey.Bytes bytes) throws IOException {
        assertNotNull(bytes.get());
      }

      @Override
      public void damage(Survey.Damage damage) {
        damages.add(damage);
      }
    };
  }

  /// Returns the number of written records that a device has; asserts that they are as written.
  private static int count(Device device) {
    int found = 0;
    for (int i = 0; i < RECORDS; i++) {
      byte[] a = device.read(A, 0, i);
      byte[] b = device.read(B, 3, i);
      if (a != null) assertArrayEquals(text(A, i), a);
      if (b != null) assertArrayEquals(text(B, i), b);
      if (a != null) found++;
      if (b != null) found++;
    }
    return found;
  }

  private static int count(Disk of) {
    try (var device = Device.open(of, SMALL, Runnable::run)) {
      return count(device);
    }
  }

  @Test
  void tellsOfNothingWhereNothingIsDamaged() {
    fill();
    assertEquals(List.of(), survey(disk));
    assertEquals(2 * RECORDS - 5, count(disk));
  }

  @Test
  void eachBitOfEachFileIsToldAndCostsNoMoreThanItsRecord() throws IOException {
    fill();
    var sizes = new TreeMap<String, Long>();
    for (var name : disk.list()) {
      try (var file = disk.open(name)) {
        sizes.put(name, file.size());
      }
    }
    assertTrue(sizes.size() > 4, "several segments, runs and a manifest");
    int told = 0;
    for (var file : sizes.entrySet()) {
      for (long at = 0; at < file.getValue(); at += STEP) {
        var copy = disk.copy();
        copy.flip(file.getKey(), at, (int) (at % 8));
        var damages = damages(copy);
        if (damages == null) continue;
        var where = file.getKey() + " at " + at + ": " + damages;
        var saved = new SimulatedDisk(2);
        Salvage.write(copy, saved, new TreeMap<>(), collecting(new ArrayList<>()));
        int all = 2 * RECORDS - 5;
        int kept = count(saved);
        // Released records come back when the device has lost their release.
        assertTrue(kept >= all - 2, where + " " + kept);
        if (damages.isEmpty()) assertEquals(all, kept, where);
        else told++;
      }
    }
    assertTrue(told > 50, "damages told: " + told);
  }

  /// The damages of a copy; null when its files are told to be of another format.
  private static @Nullable List<Survey.Damage> damages(Disk copy) {
    try {
      return survey(copy);
    } catch (UnknownFormat another) {
      return null;
    }
  }

  @Test
  void anyBlockOfTheIndexMayBeDamagedAndAllIsThere() throws IOException {
    fill();
    for (var name : Set.copyOf(disk.list())) {
      if (DeviceFiles.isSegment(name)) continue;
      long size;
      try (var file = disk.open(name)) {
        size = file.size();
      }
      for (long at = 20; at < size; at += RunFormat.BLOCK) {
        var copy = disk.copy();
        copy.flip(name, at, 3);
        assertFalse(survey(copy).isEmpty(), name);
        assertEquals(2 * RECORDS - 5, countWithDamage(copy), name + " at " + at);
      }
    }
  }

  /// Counts in a device whose index may be damaged, which is told to be opened again then.
  private static int countWithDamage(SimulatedDisk of) {
    try (var device = Device.open(of, SMALL, Runnable::run)) {
      try {
        return count(device);
      } catch (CorruptData damage) {
        assertNotNull(device.failure());
      }
    }
    return count(of);
  }

  @Test
  void aMissingSegmentIsNamedAndTheRestIsSaved() throws IOException {
    fill();
    disk.delete("segment-00000002");
    var damages = survey(disk);
    assertTrue(damages.toString().contains("segment-00000002"), damages.toString());
    var saved = new SimulatedDisk(2);
    Salvage.write(disk, saved, new TreeMap<>(), collecting(new ArrayList<>()));
    int kept = count(saved);
    assertTrue(kept > 20 && kept < 2 * RECORDS, "" + kept);
  }

  @Test
  void whatIsToBeLeftOutIsNotThereAndWhatIsToBeSaidOtherwiseIs() {
    fill();
    var left = new TreeMap<Long, byte[]>();
    var _ =
        Survey.of(
            disk,
            new Survey.Visitor() {
              @Override
              public void item(Survey.Place place, Survey.Bytes bytes) {
                boolean late = place.object().equals(A) && place.offset() >= 50;
                if (late && place.sort() == Survey.Sort.RECORD)
                  left.put(place.position(), Salvage.NOTHING);
              }

              @Override
              public void damage(Survey.Damage damage) {}
            });
    var saved = new SimulatedDisk(2);
    Salvage.write(disk, saved, left, collecting(new ArrayList<>()));
    assertEquals(2 * RECORDS - 5 - (RECORDS - 50), count(saved));
    left.headMap(left.lastKey()).clear();
    left.replaceAll((_, _) -> "x".repeat(text(A, RECORDS - 1).length).getBytes(UTF_8));
    var other = new SimulatedDisk(2);
    Salvage.write(disk, other, left, collecting(new ArrayList<>()));
    try (var device = Device.open(other, SMALL, Runnable::run)) {
      assertEquals((byte) 'x', Objects.requireNonNull(device.read(A, 0, RECORDS - 1))[0]);
    }
    assertEquals(List.of(), survey(saved));
  }
}
