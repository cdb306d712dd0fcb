package stoa.programs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/// The directories in which the commands keep their stores.
public final class Directories {
  private Directories() {}

  /// Returns an empty directory.
  ///
  /// @param wanted the one that the user named; null for a new one
  /// @param parent the parent of a new one
  /// @param prefix the beginning of its name
  /// @throws IllegalArgumentException when the user's is not empty
  public static Path fresh(@Nullable Path wanted, Path parent, String prefix) throws IOException {
    if (wanted == null) {
      Files.createDirectories(parent);
      return Files.createTempDirectory(parent, prefix).toAbsolutePath().normalize();
    }
    Files.createDirectories(wanted);
    try (var files = Files.list(wanted)) {
      if (files.findAny().isPresent()) {
        throw new IllegalArgumentException(
            "--data " + wanted + " is not empty; this needs a new directory");
      }
    }
    return wanted.toAbsolutePath().normalize();
  }

  /// Returns the size of all files in a directory.
  public static long sizeBytes(Path directory) throws IOException {
    long bytes = 0;
    try (var files = Files.walk(directory)) {
      for (var file : files.filter(Files::isRegularFile).toList()) bytes += Files.size(file);
    }
    return bytes;
  }

  /// Deletes a directory with its contents, if it exists.
  public static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) return;
    try (var files = Files.walk(directory)) {
      for (var file : files.sorted(Comparator.reverseOrder()).toList()) Files.delete(file);
    }
  }
}
