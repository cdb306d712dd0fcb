package stoa.programs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;

/// How many bytes a disk was told to write, as Linux counts them, by all programs together. The
/// count of a process would not do: where the system caches a file in large pieces, it counts a
/// whole piece for each byte in it.
public final class DiskWrites {
  private static final int SECTOR = 512;
  private static final int WRITTEN_SECTORS = 6;

  private DiskWrites() {}

  /// Returns the bytes that the disk of a file or folder has written so far; empty where the system
  /// does not tell.
  public static OptionalLong of(Path place) {
    try {
      long device = ((Number) Files.getAttribute(place, "unix:dev")).longValue();
      String counts = Files.readString(Path.of("/sys/dev/block/" + name(device) + "/stat"));
      String sectors = counts.strip().split("\\s+", -1)[WRITTEN_SECTORS];
      return OptionalLong.of(SECTOR * Long.parseLong(sectors));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException untold) {
      // Another system, or no disk.
      return OptionalLong.empty();
    }
  }

  /// Returns the major and minor number of a device, as the C library takes them apart.
  private static String name(long device) {
    long major = ((device >>> 8) & 0xfff) | ((device >>> 32) & ~0xfffL);
    long minor = (device & 0xff) | ((device >>> 12) & ~0xffL);
    return major + ":" + minor;
  }
}
