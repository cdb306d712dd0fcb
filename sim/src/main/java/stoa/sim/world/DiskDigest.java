package stoa.sim.world;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;

/// Digests of whole disks.
final class DiskDigest {
  private DiskDigest() {}

  /// Returns a digest of the names and bytes of all files, in hexadecimal.
  static String of(Disk disk) {
    try {
      var digest = MessageDigest.getInstance("SHA-256");
      for (String name : disk.list()) {
        digest.update(name.getBytes(StandardCharsets.UTF_8));
        try (DiskFile file = disk.open(name)) {
          var bytes = ByteBuffer.allocate(Math.toIntExact(file.size()));
          while (bytes.hasRemaining() && file.read(bytes.position(), bytes) >= 0) {
            // Up to the end of the file.
          }
          digest.update(bytes.flip());
        }
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
