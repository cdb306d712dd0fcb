package stoa.storage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.storage.disk.DeviceClosed;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.FileDisk;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.ReadFailed;
import stoa.storage.disk.SimulatedDisk;
import stoa.storage.object.VersionedObject;
import stoa.storage.object.WriteTransaction;

/// Reads and commits whose callers do not wait.
class AsyncCallsTest {
  private static final int LENGTH = 700;

  private static ByteBuffer filled(int length, int value) {
    var bytes = new byte[length];
    java.util.Arrays.fill(bytes, (byte) value);
    return ByteBuffer.wrap(bytes);
  }

  @Test
  void readsAndCommitsOfManyCallersAreDone(@TempDir Path directory) throws Exception {
    try (var device = Device.open(new FileDisk(directory), new DeviceConfig(1 << 20))) {
      var object = device.object(1);
      var commits = new ArrayList<CompletableFuture<Boolean>>();
      for (int i = 0; i < 100; i++) {
        var write = object.begin(i + 1);
        var _ = write.writeAsync(i * 10L, filled(10, i));
        commits.add(write.commitAsync());
        assertThrows(IllegalStateException.class, write::commitAsync);
        write.close(); // leaves the commit alone
      }
      for (var commit : commits) assertTrue(commit.get(60, TimeUnit.SECONDS));
      assertEquals("1-100", object.versionState().toString());
      assertEquals(0, device.openTransactions().size());
      var reads = new ArrayList<CompletableFuture<byte[]>>();
      for (int i = 0; i < 2000; i++) {
        var target = new byte[10];
        var read = object.readAsync(i % 100 * 10L, ByteBuffer.wrap(target));
        reads.add(read.thenApply(_ -> target));
      }
      for (int i = 0; i < 2000; i++) {
        assertArrayEquals(filled(10, i % 100).array(), reads.get(i).get(60, TimeUnit.SECONDS));
      }
      assertThrows(
          IllegalArgumentException.class,
          () -> object.readAsync(Long.MAX_VALUE, ByteBuffer.allocate(1)));
    }
  }

  @Test
  void aVersionThatIsThereAlreadyIsDoneWithoutAChange() throws Exception {
    try (var device = Device.open(new MemoryDisk(64 << 20), DeviceConfig.standard())) {
      var object = device.object(1);
      object.write(1, 0, filled(1, 1));
      var again = object.begin(1);
      again.write(0, filled(1, 2));
      assertFalse(again.commitAsync().get(60, TimeUnit.SECONDS));
      var next = object.begin();
      next.write(0, filled(1, 3));
      assertTrue(next.commitAsync().get(60, TimeUnit.SECONDS));
      assertEquals(2, next.version());
      var late = object.begin(9);
      object.delete();
      var failure = assertThrows(CompletionException.class, () -> late.commitAsync().join());
      assertInstanceOf(IllegalStateException.class, failure.getCause());
    }
  }

  @Test
  void readsMayFollowReadsAndEndWithTheDevice() throws Exception {
    var device = Device.open(new MemoryDisk(64 << 20), new DeviceConfig(1 << 20));
    var object = device.object(1);
    object.write(1, 0, filled(8, 7));
    assertEquals(1000, chain(object, 1000).get(60, TimeUnit.SECONDS));
    device.close();
    var read = object.readAsync(0, ByteBuffer.allocate(8));
    var failure = assertThrows(CompletionException.class, read::join);
    assertInstanceOf(DeviceClosed.class, failure.getCause());
  }

  /// Returns how many reads were done, each begun by the one before.
  private static CompletableFuture<Integer> chain(VersionedObject object, int count) {
    var done = new CompletableFuture<Integer>();
    follow(object, 0, count, done);
    return done;
  }

  private static void follow(
      VersionedObject object, int number, int count, CompletableFuture<Integer> done) {
    if (number == count) {
      done.complete(number);
      return;
    }
    var _ =
        object
            .readAsync(0, ByteBuffer.allocate(8))
            .thenRun(() -> follow(object, number + 1, count, done));
  }

  /// Cuts the power at every change of the disk, while transactions of several parts commit beside
  /// each other.
  @Test
  void afterAPowerLossATransactionIsWholeAndThoseThatWereDoneAreThere() throws Exception {
    int losses = 0;
    for (int at = 0; losses == at; at++) {
      var disk = new SimulatedDisk(at);
      disk.losePowerAfter(at);
      var done = new ArrayList<Long>();
      try (var device = Device.open(disk, new DeviceConfig(16 << 10), Runnable::run)) {
        commitSome(device, done);
      } catch (DeviceFailed | ReadFailed e) {
        losses++;
      }
      try (var device = Device.open(disk.crash(), new DeviceConfig(16 << 10), Runnable::run)) {
        var state = device.object(1).versionState();
        for (long version : done) assertTrue(state.contains(version), version + " of " + state);
        for (int i = 0; i < 12; i++) {
          byte expected = (byte) (state.contains(i + 1) ? i + 1 : 0);
          for (int part = 0; part < 3; part++) {
            byte[] bytes = device.object(1).read(i * 10_000L + part * 3000L, LENGTH);
            assertArrayEquals(filled(LENGTH, expected).array(), bytes, "loss at " + at);
          }
        }
      }
      if (at > 400) throw new AssertionError("the power never stays");
    }
    assertTrue(losses > 20, losses + " losses");
  }

  private static void commitSome(Device device, List<Long> done) {
    var failures = new ArrayList<Throwable>();
    var open = new ArrayList<WriteTransaction>();
    for (int i = 0; i < 12; i++) open.add(device.object(1).begin(i + 1));
    for (int i = 11; i >= 0; i--) {
      var write = open.get(i);
      for (int part = 0; part < 3; part++) {
        var _ = write.writeAsync(i * 10_000L + part * 3000L, filled(LENGTH, i + 1));
      }
      long version = i + 1L;
      var _ =
          write
              .commitAsync()
              .whenComplete((_, failure) -> {
                if (failure == null) done.add(version);
                else failures.add(failure.getCause() == null ? failure : failure.getCause());
              });
    }
    for (var failure : failures) {
      if (failure instanceof RuntimeException e) throw e;
    }
    device.sync();
  }
}
