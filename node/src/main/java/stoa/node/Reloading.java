package stoa.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The files that a server reads again when they change: at most once a second it compares their
/// contents. When the new content cannot be used, what was read before stays. One thread calls
/// [#look]; the rest is thread-safe.
final class Reloading {
  private static final Logger LOG = LoggerFactory.getLogger(Reloading.class);
  private static final long BETWEEN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final List<Part> parts = new ArrayList<>();
  private long lookedNanos = System.nanoTime();

  /// Reads files.
  interface Reader {
    /// Reads the files, and uses what they have.
    ///
    /// @throws IOException when one cannot be read or used
    void read() throws IOException;
  }

  private static final class Part {
    private final String name;
    private final List<Path> files;
    private final Reader reader;
    private List<byte[]> seen;
    private volatile @Nullable String failure;

    Part(String name, List<Path> files, Reader reader, List<byte[]> seen) {
      this.name = name;
      this.files = files;
      this.reader = reader;
      this.seen = seen;
    }

    void look() {
      try {
        List<byte[]> now = contents(files);
        boolean same = failure == null && isSame(now, seen);
        if (same) return;
        reader.read();
        seen = now;
        failure = null;
        LOG.info("{} were read again from {}", name, files);
      } catch (IOException | IllegalArgumentException broken) {
        failed(String.valueOf(broken.getMessage()));
      }
    }

    private void failed(String why) {
      String text =
          name
              + " were not read again from "
              + files
              + ", and those of before stay: "
              + why
              + "; mend the file";
      if (!text.equals(failure)) LOG.warn(text);
      failure = text;
    }
  }

  /// Adds files that were read before.
  ///
  /// @param name of what they have, in the plural
  /// @throws IOException when one cannot be read
  void add(String name, List<Path> files, Reader reader) throws IOException {
    if (files.isEmpty()) return;
    parts.add(new Part(name, List.copyOf(files), reader, contents(files)));
  }

  private static List<byte[]> contents(List<Path> files) throws IOException {
    var contents = new ArrayList<byte[]>();
    for (Path file : files) contents.add(Files.readAllBytes(file));
    return contents;
  }

  private static boolean isSame(List<byte[]> one, List<byte[]> other) {
    for (int i = 0; i < one.size(); i++) {
      if (!Arrays.equals(one.get(i), other.get(i))) return false;
    }
    return true;
  }

  /// Looks for changes, unless it did so less than a second ago.
  void tick() {
    long now = System.nanoTime();
    if (now - lookedNanos < BETWEEN_NANOS) return;
    lookedNanos = now;
    look();
  }

  /// Looks for changes.
  void look() {
    parts.forEach(Part::look);
  }

  /// Returns what could not be read again, a sentence for each.
  List<String> alarms() {
    var alarms = new ArrayList<String>();
    for (Part part : parts) {
      String failure = part.failure;
      if (failure != null) alarms.add(failure);
    }
    return alarms;
  }
}
