package stoa.objects;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import stoa.Blob;
import stoa.BlobWrite;
import stoa.Gone;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.base.Clock;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.threads.Threads;

/// The contents of the device after a power failure at any point of the deletion of a blob.
class BlobDeletionTest {
  private static final byte[] BYTES = "some bytes".getBytes(UTF_8);

  /// A store, and the device under it.
  private record Opened(Device device, Stoa stoa) implements AutoCloseable {
    static Opened on(Disk disk) {
      Device device = Device.open(disk, new DeviceConfig(64 << 10), Runnable::run);
      var config = StoaConfig.of("file:simulated");
      return new Opened(
          device, EmbeddedEngine.open(config, () -> device, Clock.system(), Threads.real()));
    }

    List<StreamId> objects() {
      var found = new ArrayList<StreamId>();
      device.objects(null, found::add);
      return found;
    }

    @Override
    public void close() {
      stoa.close();
    }
  }

  @Test
  void theBytesOfADeletedBlobLeaveTheDevice() {
    try (var opened = Opened.on(new SimulatedDisk(1))) {
      Blob kept = opened.stoa().get(Blob.class, "kept");
      kept.write(0, BYTES);
      for (int i = 0; i < 20; i++) {
        Blob blob = opened.stoa().get(Blob.class, "blob " + i);
        blob.write(0, BYTES);
        blob.snapshot();
        blob.write(4, BYTES);
        assertTrue(opened.stoa().delete(blob));
      }
      // One is kept, and one has the notes of deletions under way.
      assertEquals(2, opened.objects().size());
      assertArrayEquals(BYTES, kept.read(0, BYTES.length));
    }
  }

  @Test
  void theSpaceOfDeletedBlobsComesBack() {
    try (var opened = Opened.on(new SimulatedDisk(3))) {
      Stoa stoa = opened.stoa();
      stoa.get(Blob.class, "kept").write(0, BYTES);
      for (int i = 0; i < 30; i++) stoa.get(Blob.class, i).write(i, new byte[50_000]);
      int before = opened.device().stats().segments();
      try (var all = stoa.list(Blob.class)) {
        for (Blob blob : all) {
          if (blob.size() > BYTES.length) assertTrue(stoa.delete(blob));
        }
      }
      while (opened.device().maintain()) {
        // Each call does one step.
      }
      int after = opened.device().stats().segments();
      assertTrue(before > 20 && after < 10, before + " segments before, " + after + " after");
      Blob kept = stoa.find(Blob.class, "kept").orElseThrow();
      assertArrayEquals(BYTES, kept.read(0, BYTES.length));
    }
  }

  @Test
  void writersAmongDeletionsLeaveNothingBehind() throws Exception {
    try (var opened = Opened.on(new SimulatedDisk(2));
        var threads = Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
      Stoa stoa = opened.stoa();
      var tasks = new ArrayList<Callable<Long>>();
      for (int writer = 0; writer < 4; writer++) {
        tasks.add(() -> {
          long written = 0;
          for (int i = 0; i < 60; i++) {
            Blob blob = stoa.get(Blob.class, "a");
            try {
              written += blob.write(0, BYTES);
              written += blob.writeAsync(i, ByteBuffer.wrap(BYTES)).join();
              try (BlobWrite write = blob.begin()) {
                write.write(3, BYTES);
                written += write.commit();
              }
            } catch (Gone deleted) {
              // It is written to again as another one.
            } catch (CompletionException deleted) {
              assertInstanceOf(Gone.class, deleted.getCause());
            }
          }
          return written;
        });
      }
      Callable<Long> deleter =
          () -> {
            long deleted = 0;
            for (int i = 0; i < 60 || deleted == 0; i++) {
              if (stoa.delete(stoa.get(Blob.class, "a"))) deleted++;
            }
            return deleted;
          };
      tasks.add(deleter);
      tasks.add(deleter);
      for (var future : threads.invokeAll(tasks)) assertTrue(future.get() > 0);
      var _ = stoa.delete(stoa.get(Blob.class, "a"));
      assertEquals(1, opened.objects().size(), "only the notes of deletions");
    }
  }

  @Test
  void aDeletionThatThePowerCutsShortIsDoneOrNotBegunWhenTheStoreOpensAgain() {
    int done = 0;
    int undone = 0;
    for (int changes = 0; changes < 40; changes++) {
      var disk = new SimulatedDisk(changes);
      var before = Opened.on(disk);
      Blob blob = before.stoa().get(Blob.class, "a");
      blob.write(0, BYTES);
      blob.snapshot();
      blob.write(5, BYTES);
      disk.losePowerAfter(changes);
      boolean acknowledged;
      try {
        acknowledged = before.stoa().delete(blob);
      } catch (StoaException failed) {
        acknowledged = false;
      }
      before.stoa().close();
      try (var after = Opened.on(disk.crash())) {
        var found = after.stoa().find(Blob.class, "a");
        if (found.isPresent()) {
          assertTrue(!acknowledged, "acknowledged, and there after " + changes);
          assertEquals(5 + BYTES.length, found.get().size());
          assertArrayEquals(BYTES, found.get().at(1).read(0, BYTES.length));
          assertTrue(after.stoa().delete(found.get()));
          undone++;
        } else {
          done++;
        }
        assertTrue(after.objects().size() <= 1, "nothing is left after " + changes);
        Blob renewed = after.stoa().get(Blob.class, "a");
        assertEquals(1, renewed.write(1, BYTES));
        assertEquals(1, renewed.history().size());
        if (found.isPresent()) assertThrows(Gone.class, found.get()::size);
      }
    }
    assertTrue(done > 2 && undone > 2, done + " done, " + undone + " not");
  }
}
