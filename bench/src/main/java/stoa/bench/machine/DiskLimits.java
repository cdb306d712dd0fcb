package stoa.bench.machine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.zip.CRC32C;
import stoa.bench.load.Load;
import stoa.bench.load.Scale;

/// The limits of the disk itself. Each method uses a file of its own and deletes it.
public final class DiskLimits {
  private DiskLimits() {}

  /// Appends a record and forces the file, again and again, from one thread.
  public static Load.Seen appendAndForce(Path folder, Scale scale) throws Exception {
    Path path = folder.resolve("limit-append");
    try (var file = create(path)) {
      return force(file, scale);
    } finally {
      Files.deleteIfExists(path);
    }
  }

  /// Measures like [#appendAndForce], in a file that was written in full before, so that its size
  /// and its blocks stay as they are.
  public static Load.Seen overwriteAndForce(Path folder, Scale scale) throws Exception {
    Path path = folder.resolve("limit-overwrite");
    try (var file = create(path)) {
      var zeros = ByteBuffer.allocateDirect(1 << 20);
      for (int i = 0; i < 16; i++) {
        while (zeros.hasRemaining()) file.write(zeros);
        zeros.clear();
      }
      file.force(true);
      file.position(0);
      return force(file, scale);
    } finally {
      Files.deleteIfExists(path);
    }
  }

  /// Runs callers over one bare group commit.
  public static Load.Seen groupCommit(Path folder, Load load) throws Exception {
    return groupCommit(folder, load, GroupCommit.RECORD_BYTES);
  }

  /// Measures like [#groupCommit(Path, Load)], with records of another size.
  public static Load.Seen groupCommit(Path folder, Load load, int recordBytes) throws Exception {
    Path path = folder.resolve("limit-group");
    try (var log = new GroupCommit(path, recordBytes)) {
      return load.run((_, _) -> log.append());
    } finally {
      Files.deleteIfExists(path);
    }
  }

  /// Reads the files below a folder once, front to back, with a checksum; in seconds.
  public static double readAll(Path folder) throws IOException {
    var buffer = ByteBuffer.allocateDirect(1 << 20);
    var checksum = new CRC32C();
    long start = System.nanoTime();
    try (var files = Files.walk(folder)) {
      for (Path path : files.filter(Files::isRegularFile).toList()) {
        try (var file = FileChannel.open(path)) {
          while (file.read(buffer.clear()) >= 0) checksum.update(buffer.flip());
        }
      }
    }
    return (System.nanoTime() - start) / 1e9;
  }

  /// Returns the size of the files below a folder.
  public static long bytes(Path folder) throws IOException {
    try (var files = Files.walk(folder)) {
      long bytes = 0;
      for (Path path : files.filter(Files::isRegularFile).toList()) bytes += Files.size(path);
      return bytes;
    }
  }

  private static Load.Seen force(FileChannel file, Scale scale) throws Exception {
    var buffer = ByteBuffer.allocateDirect(GroupCommit.RECORD_BYTES);
    return new Load(1, Load.Threads.PLATFORM, scale)
        .run((_, _) -> {
          buffer.clear();
          while (buffer.hasRemaining()) file.write(buffer);
          file.force(false);
        });
  }

  private static FileChannel create(Path path) throws IOException {
    return FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
  }
}
