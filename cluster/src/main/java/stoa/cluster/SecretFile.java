package stoa.cluster;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.base.Permissions;
import stoa.base.Secret;

/// The file with the secret of a store's servers. Each server has a copy in its data directory.
public final class SecretFile {
  /// The name of the file in the data directory of a server.
  public static final String NAME = "cluster.secret";

  private SecretFile() {}

  /// Returns a new secret.
  static Secret make() {
    byte[] key = new byte[Secret.BYTES];
    new SecureRandom().nextBytes(key);
    return Secret.of(key);
  }

  /// Reads the secret in a file.
  ///
  /// @throws IllegalArgumentException when the file does not exist, has other contents, or is open
  ///   to others
  public static Secret read(Path file) {
    try {
      Permissions.requirePrivate(file);
      return Secret.of(Files.readString(file));
    } catch (NoSuchFileException missing) {
      throw new IllegalArgumentException(
          file
              + " is not there; copy "
              + NAME
              + " from the data directory of a server that keeps the store",
          missing);
    } catch (IOException failed) {
      throw new IllegalArgumentException(file + " cannot be read: " + failed.getMessage(), failed);
    } catch (IllegalArgumentException refused) {
      String why = String.valueOf(refused.getMessage());
      if (why.startsWith(file.toString())) throw refused;
      throw new IllegalArgumentException(
          file + " has no secret of servers: " + why + "; copy it anew from another server",
          refused);
    }
  }

  /// Returns the secret of the server in a directory; null when it has none.
  ///
  /// @throws IllegalArgumentException as [#read]
  public static @Nullable Secret in(Path directory) {
    Path file = directory.resolve(NAME);
    return Files.exists(file) ? read(file) : null;
  }

  /// Writes a secret into the directory of a server; durable on return.
  static void write(Path directory, Secret secret) {
    Path file = directory.resolve(NAME);
    Path next = directory.resolve(NAME + ".next");
    try {
      Permissions.createDirectories(directory);
      Files.deleteIfExists(next);
      var create = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      try (var channel = FileChannel.open(next, create, Permissions.ofPrivateFiles())) {
        var text = ByteBuffer.wrap((secret.text() + "\n").getBytes(StandardCharsets.US_ASCII));
        while (text.hasRemaining()) channel.write(text);
        channel.force(true);
      }
      Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
      try (var channel = FileChannel.open(directory, StandardOpenOption.READ)) {
        channel.force(true);
      }
    } catch (IOException failed) {
      throw new Unavailable(file + " cannot be written: " + failed.getMessage(), failed);
    }
  }
}
