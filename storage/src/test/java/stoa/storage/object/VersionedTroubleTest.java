package stoa.storage.object;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.ForwardingDisk;
import stoa.storage.disk.ForwardingFile;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.segment.Commit;

/// Versioned objects in trouble: slow disks, damage, exports that take long.
class VersionedTroubleTest {
  /// A disk whose syncs wait when they are asked to.
  private static final class GateDisk extends ForwardingDisk {
    volatile boolean blocking;
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch gate = new CountDownLatch(1);

    GateDisk(Disk disk) {
      super(disk);
    }

    @Override
    protected DiskFile wrap(DiskFile file) {
      return new ForwardingFile(file) {
        @Override
        public void sync() throws IOException {
          if (blocking) {
            entered.countDown();
            try {
              gate.await();
            } catch (InterruptedException e) {
              throw new IOException(e);
            }
          }
          super.sync();
        }
      };
    }
  }

  /* An operating system may report a failed sync once, and drop the bytes. */
  @Test
  void aFailedSyncFailsTheThreadThatSyncsNextToo() throws Exception {
    var simulated = new SimulatedDisk(3);
    var disk = new GateDisk(simulated);
    try (var pool = Executors.newFixedThreadPool(3);
        var device = Device.open(disk, new DeviceConfig(8 << 20).withFillAheadBytes(0), pool)) {
      var commit = new Commit();
      commit.write(new StreamId(0, 1), 0, 1, new byte[] {1}, 0, 1);
      device.append(commit);
      disk.blocking = true;
      var first = pool.submit(device::sync);
      assertTrue(disk.entered.await(10, TimeUnit.SECONDS));
      var second = pool.submit(device::sync);
      simulated.failSync(0);
      disk.gate.countDown();
      assertThrows(ExecutionException.class, first::get);
      assertThrows(ExecutionException.class, second::get);
    }
  }

  @Test
  void aDuplicateIsNotAnsweredBeforeItsVersionIsDurable() throws Exception {
    var disk = new GateDisk(new MemoryDisk(64 << 20));
    try (var pool = Executors.newFixedThreadPool(3);
        var device = Device.open(disk, new DeviceConfig(8 << 20).withFillAheadBytes(0), pool)) {
      var object = device.object(1);
      disk.blocking = true;
      var first = object.writeAsync(1, 0, ByteBuffer.allocate(10));
      assertTrue(disk.entered.await(10, TimeUnit.SECONDS));
      var second = object.writeAsync(2, 0, ByteBuffer.allocate(300 << 10));
      while (device.stats().records() < 2) Thread.onSpinWait();
      var answer = new AtomicReference<Boolean>();
      var again = new Thread(() -> answer.set(object.write(2, 0, ByteBuffer.allocate(300 << 10))));
      again.start();
      while (again.isAlive() && again.getState() != Thread.State.WAITING) Thread.onSpinWait();
      assertTrue(again.isAlive(), "answered " + answer.get() + " before the version was durable");
      disk.gate.countDown();
      again.join();
      assertEquals(false, answer.get());
      assertTrue(first.get());
      assertTrue(second.get());
    }
  }

  @Test
  void maintenanceEndsWhileAnExportIsUnderWay() throws IOException {
    var config = new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10);
    try (var device = Device.open(new MemoryDisk(256 << 20), config, Runnable::run)) {
      var object = device.object(1);
      for (int i = 1; i <= 500; i++) object.write(i, 0, ByteBuffer.allocate(4000));
      var other = device.object(2);
      for (int i = 1; i <= 100; i++) {
        try (var write = other.begin(i)) {
          write.truncate(50L * (101 - i));
          write.write(7000L * i, ByteBuffer.allocate(1));
          write.commit();
        }
      }
      for (int i = 501; i <= 1000; i++) object.write(i, 0, ByteBuffer.allocate(4000));
      int max = 2000;
      var steps = new AtomicInteger();
      long[] end = {device.stats().logBytes(), 0};
      long[] flushes = {device.stats().flushes(), 0};
      object.updatesMissingFrom(
          VersionState.EMPTY,
          new OutputStream() {
            @Override
            public void write(int b) {
              while (steps.get() < max && device.maintain()) steps.incrementAndGet();
              if (end[1] == 0) {
                end[1] = device.stats().logBytes();
                flushes[1] = device.stats().flushes();
              }
            }
          });
      assertTrue(
          steps.get() < max,
          "%d steps, no end; the log grew from %d to %d; index flushes from %d to %d"
              .formatted(steps.get(), end[0], end[1], flushes[0], flushes[1]));
    }
  }

  @Test
  void writesThatFollowWritesDoNotStopTheDevice() throws Exception {
    int count = 150;
    var done = new CountDownLatch(3 * count);
    var data = ByteBuffer.allocate(1 << 20);
    try (var device = Device.open(new MemoryDisk(1 << 30), DeviceConfig.standard())) {
      var object = device.object(1);
      for (int i = 0; i < count; i++) {
        var _ =
            object
                .writeAsync(0, data.duplicate())
                .thenAccept(version -> {
                  done.countDown();
                  for (int j = 0; j < 2; j++) {
                    CompletableFuture<Long> next = object.writeAsync(0, data.duplicate());
                    var _ = next.thenAccept(again -> done.countDown());
                  }
                });
      }
      assertTrue(done.await(60, TimeUnit.SECONDS), done.getCount() + " writes never end");
    }
  }

  @Test
  void oneDamagedSegmentDoesNotEndReclaiming() throws Exception {
    var disk = new MemoryDisk(256 << 20);
    var config = new DeviceConfig(64 << 10).withMemtableBytesMax(16 << 10);
    try (var device = Device.open(disk, config, Runnable::run)) {
      var object = device.object(1);
      for (int i = 1; i <= 1000; i++) object.write(i, 0, ByteBuffer.allocate(4000));
      try (var file = disk.open("segment-00000005")) {
        file.write(20_000, ByteBuffer.wrap(new byte[] {1})); // in bytes that nobody can read
      }
      int before = device.stats().segments();
      int damages = 0;
      for (int i = 0; i < 500; i++) {
        try {
          if (!device.maintain()) break;
        } catch (CorruptData e) {
          damages++;
        }
      }
      assertTrue(
          device.stats().segments() < 20,
          "%d segments before, %d after; %d times damaged"
              .formatted(before, device.stats().segments(), damages));
    }
  }

  @Test
  void reorderingASparseObjectTakesFewSyncs() throws Exception {
    try (var device =
        Device.open(new MemoryDisk(256 << 20), new DeviceConfig(16 << 20), Runnable::run)) {
      var object = device.object(1);
      int count = 3000;
      for (int i = 0; i < count; i++) {
        object.write(8192L * ((i * 1021L) % count), ByteBuffer.allocate(100));
        device.object(2).write(0, ByteBuffer.allocate(4000)); // others write in between
      }
      long syncs = device.stats().syncs();
      int steps = 0;
      while (device.maintain() && steps < 100) steps++;
      syncs = device.stats().syncs() - syncs;
      assertTrue(syncs < 100, syncs + " syncs in " + steps + " steps");
    }
  }

  @Test
  void updatesThatNobodySendsAreRefused() throws IOException {
    var versions = new Encoder(16);
    VersionState.of(List.of(new VersionRange(1, 3))).encode(versions);
    try (var device = Device.open(new MemoryDisk(64 << 20), DeviceConfig.standard())) {
      var object = device.object(1);
      for (var frame :
          List.of(
              new Encoder(16).varint(-1).varint(2).varint(9), // before the first offset
              new Encoder(16).varint(5).varint(4).varint(9), // a version that was not announced
              new Encoder(16).varint(5).varint(2).varint(-7))) { // a length below zero
        var bytes = new ByteArrayOutputStream();
        var out = new DataOutputStream(bytes);
        out.writeLong(UpdateFormat.MAGIC);
        out.writeInt(UpdateFormat.VERSION);
        put(out, UpdateFormat.VERSIONS, versions);
        put(out, UpdateFormat.HOLE, frame);
        var updates = new ByteArrayInputStream(bytes.toByteArray());
        assertThrows(IllegalArgumentException.class, () -> object.apply(updates));
        assertFalse(object.exists());
      }
    }
  }

  private static void put(DataOutputStream out, int kind, Encoder frame) throws IOException {
    var crc = new CRC32C();
    crc.update(kind);
    crc.update(frame.array(), 0, frame.size());
    out.writeByte(kind);
    out.writeInt(frame.size());
    out.write(frame.array(), 0, frame.size());
    out.writeInt((int) crc.getValue());
  }
}
