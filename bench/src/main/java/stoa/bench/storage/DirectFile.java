package stoa.bench.storage;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/// A file with writes past the page cache where that is possible and pays: for aligned writes of at
/// least 64 KiB on a file system that allows it. Everything else goes through the cache.
///
/// Thread-safe.
final class DirectFile implements AutoCloseable {
  private static final int DIRECT_LEAST = 64 << 10;

  private final FileChannel cached;
  private final @Nullable FileChannel direct;

  /// Opens a file, and creates it when it is missing.
  DirectFile(Path path) throws IOException {
    cached =
        FileChannel.open(
            path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    direct = direct(path);
  }

  private static @Nullable FileChannel direct(Path path) {
    try {
      return FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE, direct());
    } catch (IOException | ReflectiveOperationException | UnsupportedOperationException e) {
      return null; // this file system, or this Java, has only the cached way
    }
  }

  /// Returns the JDK's own option that opens a file past the page cache. The compiler warns of
  /// every mention of its class, so this looks it up.
  private static OpenOption direct() throws ReflectiveOperationException {
    return (OpenOption)
        Class.forName("com.sun.nio.file.ExtendedOpenOption").getField("DIRECT").get(null);
  }

  /// Writes all remaining bytes at an offset.
  void write(long offset, ByteBuffer data) throws IOException {
    FileChannel way = direct;
    if (way == null || data.remaining() < DIRECT_LEAST || !aligned(offset | data.remaining())) {
      way = cached;
    }
    long at = offset;
    while (data.hasRemaining()) at += way.write(data, at);
  }

  /// Writes all remaining bytes at an offset, into the page cache.
  void writeCached(long offset, ByteBuffer data) throws IOException {
    long at = offset;
    while (data.hasRemaining()) at += cached.write(data, at);
  }

  /// Fills the remaining room; bytes never written are zero.
  void read(long offset, ByteBuffer target) throws IOException {
    read(cached, offset, target);
  }

  private static void read(FileChannel way, long offset, ByteBuffer target) throws IOException {
    long at = offset;
    while (target.hasRemaining()) {
      int read = way.read(target, at);
      if (read < 0) while (target.hasRemaining()) target.put((byte) 0);
      at += read;
    }
  }

  /// Fills the remaining room past the page cache where possible; bytes never written are zero.
  void readDirect(long offset, ByteBuffer target) throws IOException {
    if (direct == null || !aligned(offset | target.remaining())) read(offset, target);
    else read(direct, offset, target);
  }

  /// Makes the written bytes durable.
  void force() throws IOException {
    cached.force(false);
  }

  private static boolean aligned(long bits) {
    return (bits & (Content.ALIGNMENT - 1)) == 0;
  }

  @Override
  public void close() throws IOException {
    if (direct != null) direct.close();
    cached.close();
  }
}
