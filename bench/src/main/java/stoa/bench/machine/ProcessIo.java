package stoa.bench.machine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The bytes that this process has read from and written to disks, as the operating system counts
/// them in `/proc/self/io`: cached writes when a page becomes dirty, direct ones at once, whole
/// pages; without the file system's own journal.
///
/// @param readBytes bytes fetched from disks
/// @param writtenBytes bytes sent to disks, or going to be
/// @param reads how often the process asked for a part of a file or of a stream, whether it was in
///   the page cache or not
public record ProcessIo(long readBytes, long writtenBytes, long reads) {
  private static final Path COUNTS = Path.of("/proc/self/io");

  /// Returns the counts now; zeros where the system does not count.
  public static ProcessIo now() throws IOException {
    long read = 0;
    long written = 0;
    long reads = 0;
    if (!Files.isReadable(COUNTS)) return new ProcessIo(0, 0, 0);
    for (String line : Files.readAllLines(COUNTS)) {
      long count = Long.parseLong(line.substring(line.indexOf(' ') + 1).strip());
      if (line.startsWith("read_bytes")) read = count;
      if (line.startsWith("write_bytes")) written = count;
      if (line.startsWith("syscr")) reads = count;
    }
    return new ProcessIo(read, written, reads);
  }

  /// Returns the difference to an earlier count.
  public ProcessIo since(ProcessIo before) {
    return new ProcessIo(
        readBytes - before.readBytes, writtenBytes - before.writtenBytes, reads - before.reads);
  }
}
