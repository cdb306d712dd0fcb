package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.DirectIo;
import stoa.storage.disk.Durability;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.SimulatedDisk;

/// A device that leaves syncs out, on a disk whose cache survives a power loss.
class ProtectedCacheTest {
  private static final DeviceConfig CONFIG =
      new DeviceConfig(256 << 10)
          .withFillAheadBytes(64 << 10)
          .withDirectIo(DirectIo.ON)
          .withDurability(Durability.PROTECTED_CACHE);

  @Test
  void smallCommitsNeedFewSyncs() {
    var disk = new SimulatedDisk(1);
    disk.protectCache();
    try (var device = Device.open(disk, CONFIG, Runnable::run)) {
      for (int i = 1; i <= 100; i++) device.object(1).write(i, 0, ByteBuffer.allocate(100));
      assertTrue(device.stats().syncs() < 20, device.stats().syncs() + " syncs");
      assertEquals(device.stats().logBytes(), device.stats().durableBytes());
    }
    var synced = new SimulatedDisk(1);
    synced.protectCache();
    var config = CONFIG.withDurability(Durability.SYNCED);
    try (var device = Device.open(synced, config, Runnable::run)) {
      for (int i = 1; i <= 100; i++) device.object(1).write(i, 0, ByteBuffer.allocate(100));
      assertEquals(100, device.stats().syncs());
    }
  }

  @Test
  void everyCommitThatHasReturnedIsThereAfterAPowerLoss() throws Exception {
    for (int seed = 0; seed < 20; seed++) {
      var random = new SplittableRandom(seed);
      var disk = new SimulatedDisk(seed);
      disk.protectCache();
      int version = 0;
      for (int life = 0; life < 3; life++) {
        disk.losePowerAfter(random.nextInt(80));
        try (var device = Device.open(disk, CONFIG, Runnable::run)) {
          while (version < 1000) {
            int length = 4 + random.nextInt(random.nextInt(8) == 0 ? 30_000 : 3000);
            var bytes = ByteBuffer.allocate(length).putInt(0, version + 1);
            device.object(1).write(version + 1, 32_000L * version, bytes);
            version++;
          }
        } catch (DeviceFailed | ReadFailed e) {
          // The power is lost: the next life has at least what was acknowledged.
        }
        disk = disk.crash();
      }
      disk.losePowerAfter(1 << 30);
      try (var device = Device.open(disk, CONFIG, Runnable::run)) {
        var state = device.object(1).versionState();
        for (int i = 0; i < version; i++) {
          assertTrue(state.contains(i + 1), "seed " + seed + ": " + (i + 1) + " of " + state);
          byte[] bytes = device.object(1).read(32_000L * i, 4);
          assertEquals(i + 1, ByteBuffer.wrap(bytes).getInt());
        }
      }
    }
  }

  @Test
  void withoutDirectWritesItIsRefused() {
    var config = new DeviceConfig(1 << 20);
    var refusal =
        assertThrows(
            IllegalArgumentException.class,
            () -> config.withDurability(Durability.PROTECTED_CACHE));
    assertTrue(String.valueOf(refusal.getMessage()).contains("directIo"), refusal::toString);
    assertEquals(Durability.SYNCED, DeviceConfig.standard().durability());
  }
}
