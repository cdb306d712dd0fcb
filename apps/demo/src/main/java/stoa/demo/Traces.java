package stoa.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import stoa.stacksync.replay.Trace;

/// Where a command's trace comes from.
final class Traces {
  private Traces() {}

  /// The trace in a file; the one that comes with Stoa when no file is named.
  static Trace open(@Nullable Path file) throws IOException {
    if (file == null) return Trace.builtIn();
    if (!Files.isReadable(file)) {
      throw new IllegalArgumentException(
          "--trace " + file + " cannot be read; name a gzipped file");
    }
    try (var in = Files.newInputStream(file)) {
      return Trace.readCompressed(in, file.toString());
    }
  }
}
