package stoa.storage.segment;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.DeviceFailed;
import stoa.storage.disk.MemoryDisk;
import stoa.storage.disk.SimulatedDisk;

/// Operations of many threads that are written together. A run that loses a wake-up does not end.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GroupCommitTest {
  private static final int RUNS = Integer.getInteger("stoa.storage.commits", 2000);

  /// Counts, and refuses or fails now and then.
  private static final class Target implements GroupCommit.Target {
    private final AtomicInteger appended = new AtomicInteger();
    private volatile int synced;

    @Override
    public List<Operation> append(List<Operation> batch) {
      var written = new ArrayList<Operation>();
      for (var operation : batch) {
        if (((Count) operation).refused) continue;
        operation.changed = true;
        appended.incrementAndGet();
        written.add(operation);
      }
      return written;
    }

    @Override
    public void sync() {
      synced = appended.get();
    }

    /// How many operations are not durable.
    int left() {
      return appended.get() - synced;
    }
  }

  private static final class Count extends Operation {
    final boolean refused;

    Count(boolean refused) {
      this.refused = refused;
    }

    @Override
    public Commit record() {
      return new Commit();
    }

    @Override
    public long bytes() {
      return 1 << 20;
    }

    @Override
    public boolean apply(long record) {
      return true;
    }
  }

  @Test
  void everyOperationEndsWhoeverDrivesIt() throws Exception {
    try (var background = Executors.newFixedThreadPool(2);
        var threads = Executors.newFixedThreadPool(6)) {
      for (int run = 0; run < RUNS; run++) {
        int seed = run;
        var target = new Target();
        var commits = new GroupCommit(target, background);
        var work = new ArrayList<Callable<Integer>>();
        for (int i = 0; i < 6; i++) {
          int thread = i;
          work.add(() -> operate(commits, new SplittableRandom(seed * 10L + thread)));
        }
        int changed = 0;
        for (var result : threads.invokeAll(work)) changed += result.get();
        assertEquals(target.appended.get(), changed);
        assertEquals(0, target.left());
      }
    }
  }

  private static int operate(GroupCommit commits, SplittableRandom random) {
    int changed = 0;
    var pending = new ArrayList<CompletableFuture<Boolean>>();
    for (int i = 0; i < 30; i++) {
      boolean refused = random.nextInt(4) == 0;
      if (random.nextBoolean()) {
        assertEquals(!refused, commits.run(new Count(refused)));
        if (!refused) changed++;
      } else {
        pending.add(commits.submit(new Count(refused)));
      }
    }
    for (var future : pending) {
      if (future.join()) changed++;
    }
    return changed;
  }

  @Test
  void moreIsTakenOnlyAsOthersEnd() throws Exception {
    // 600 operations of 1 MiB in the end pass through a room of 64 MiB, refused ones too.
    try (var background = Executors.newFixedThreadPool(1);
        var threads = Executors.newFixedThreadPool(3)) {
      var commits = new GroupCommit(new Target(), background);
      var work = new ArrayList<Callable<Integer>>();
      for (int i = 0; i < 3; i++) {
        work.add(() -> {
          var pending = new ArrayList<CompletableFuture<Boolean>>();
          for (int j = 0; j < 200; j++) pending.add(commits.submit(new Count(j % 3 == 0)));
          int changed = 0;
          for (var future : pending) {
            if (future.join()) changed++;
          }
          return changed;
        });
      }
      for (var result : threads.invokeAll(work)) assertEquals(133, result.get());
    }
  }

  @Test
  void whatFollowsAnAsynchronousWriteMayWriteAndWait() {
    var tasks = new ArrayDeque<Runnable>();
    try (var device =
        Device.open(new MemoryDisk(16 << 20), new DeviceConfig(1 << 20), tasks::add)) {
      var object = device.object(1);
      var first = object.writeAsync(1, 0, ByteBuffer.wrap(new byte[] {1}));
      var again = object.writeAsync(1, 0, ByteBuffer.wrap(new byte[] {1}));
      var second = first.thenApply(changed -> object.write(2, 1, ByteBuffer.wrap(new byte[] {2})));
      var third = again.thenApply(changed -> object.write(3, 2, ByteBuffer.wrap(new byte[] {3})));
      var refused = object.writeAsync(1, 0, ByteBuffer.wrap(new byte[] {1}));
      while (!tasks.isEmpty()) tasks.remove().run();
      assertTrue(second.join() && third.join());
      assertFalse(refused.join());
      var fourth =
          object
              .writeAsync(1, 0, ByteBuffer.wrap(new byte[] {1}))
              .thenApply(changed -> object.write(4, 3, ByteBuffer.wrap(new byte[] {4})));
      while (!tasks.isEmpty()) tasks.remove().run();
      assertTrue(fourth.join());
      assertArrayEquals(new byte[] {1, 2, 3, 4}, object.read(0, 4));
    }
  }

  @Test
  void versionsThatTheDeviceGivesAreNeverGivenTwice() {
    // Between two writes of one object others come, in one batch, of more objects than are kept at
    // hand.
    var tasks = new ArrayDeque<Runnable>();
    try (var device =
        Device.open(new MemoryDisk(64 << 20), new DeviceConfig(16 << 20), tasks::add)) {
      var data = ByteBuffer.wrap(new byte[] {7});
      var first = device.object(1).writeAsync(0, data);
      for (int i = 0; i < 5000; i++) {
        var _ = device.object(2 + i).writeAsync(0, data);
      }
      var last = device.object(1).writeAsync(1, data);
      while (!tasks.isEmpty()) tasks.remove().run();
      assertEquals(1, first.join());
      assertEquals(2, last.join());
      assertArrayEquals(new byte[] {7, 7}, device.object(1).read(0, 2));
    }
  }

  @Test
  void aFailureReachesEveryOperationOfTheBatch() {
    var disk = new SimulatedDisk(1);
    var tasks = new ArrayDeque<Runnable>();
    try (var device = Device.open(disk, new DeviceConfig(64 << 10), tasks::add)) {
      disk.failSync(0);
      var data = ByteBuffer.wrap(new byte[] {7});
      var futures = new ArrayList<CompletableFuture<Boolean>>();
      for (int i = 1; i <= 20; i++) futures.add(device.object(i % 3).writeAsync(i, i, data));
      while (!tasks.isEmpty()) tasks.remove().run();
      for (var future : futures) {
        assertTrue(future.isDone());
        var failed = assertThrows(ExecutionException.class, future::get);
        assertInstanceOf(DeviceFailed.class, failed.getCause());
      }
      assertThrows(DeviceFailed.class, () -> device.object(1).write(99, 0, data));
      assertEquals(0, device.object(1).size());
    }
  }
}
