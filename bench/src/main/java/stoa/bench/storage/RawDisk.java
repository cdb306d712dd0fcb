package stoa.bench.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import stoa.bench.load.Load;

/// The rates of a bare file on the disk. The paper's baseline is `dd` with blocks of 4 MiB, direct
/// and synchronous, from one thread; [#write] and [#read] are that.
final class RawDisk {
  private static final int BLOCK = 4 << 20;

  private RawDisk() {}

  /// Writes a new file from front to back, and syncs each block before the next; returns bytes per
  /// second.
  static double write(Path folder, Content content, Duration warmUp, Duration time)
      throws Exception {
    Path path = folder.resolve("bare");
    try (var file = new DirectFile(path)) {
      return BLOCK
          * new Load(1, Load.Threads.PLATFORM, warmUp, time)
              .run((caller, turn) -> {
                long offset = (long) turn * BLOCK;
                file.write(offset, content.at(caller, offset, BLOCK));
                file.force();
              })
              .callsPerSecond();
    } finally {
      Files.deleteIfExists(path);
    }
  }

  /// Writes a new file from front to back with some blocks at a time and only one sync at the end,
  /// which counts: as much as the disk takes; returns bytes per second.
  static double writeUnsynced(Path folder, Content content, Duration time) throws Exception {
    Path path = folder.resolve("bare");
    try (var file = new DirectFile(path)) {
      var next = new AtomicLong();
      long start = System.nanoTime();
      new Load(4, Load.Threads.PLATFORM, Duration.ZERO, time)
          .run((caller, _) -> {
            long offset = next.getAndAdd(BLOCK);
            file.write(offset, content.at(caller, offset, BLOCK));
          });
      file.force();
      return next.get() / ((System.nanoTime() - start) / 1e9);
    } finally {
      Files.deleteIfExists(path);
    }
  }

  /// Reads a file from front to back, again and again, past the page cache; returns bytes per
  /// second.
  static double read(Path path, Duration warmUp, Duration time) throws Exception {
    long blocks = Files.size(path) / BLOCK;
    ByteBuffer target = Content.aligned(BLOCK);
    try (var file = new DirectFile(path)) {
      return BLOCK
          * new Load(1, Load.Threads.PLATFORM, warmUp, time)
              .run((_, turn) -> file.readDirect(turn % blocks * BLOCK, target.clear()))
              .callsPerSecond();
    }
  }

  /// Appends values to a bare file, those of concurrent callers with one write and one sync.
  static Load.Seen append(Path folder, Content content, int bytes, Load load) throws Exception {
    Path path = folder.resolve("bare");
    try (var file = new DirectFile(path)) {
      var group = new Group<>(1024, new Appends(file));
      return load.run((caller, turn) -> group.join(content.at(0, (long) turn * bytes, bytes)));
    } finally {
      Files.deleteIfExists(path);
    }
  }

  private static final class Appends implements Group.Act<ByteBuffer> {
    private final ByteBuffer staging = ByteBuffer.allocateDirect(1 << 20);
    private final DirectFile file;
    private long end;

    Appends(DirectFile file) {
      this.file = file;
    }

    @Override
    public void on(List<ByteBuffer> batch) throws IOException {
      staging.clear();
      for (ByteBuffer value : batch) staging.put(value);
      staging.flip();
      int bytes = staging.remaining();
      file.writeCached(end, staging);
      end += bytes;
      file.force();
    }
  }
}
