package stoa.bench.machine;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/// Describes the machine of a benchmark.
public final class MachineDescription {
  private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

  private MachineDescription() {}

  /// Describes processors, memory, operating system, Java, and the file system of a folder, in one
  /// line.
  public static String describe(Path folder) throws IOException {
    var system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    return String.format(
        Locale.ROOT,
        "%d x %s, %.0f GiB, %s %s, Java %s, %s",
        Runtime.getRuntime().availableProcessors(),
        processor().orElse(system.getArch()),
        system.getTotalMemorySize() / 1073741824.0,
        system.getName(),
        system.getVersion(),
        Runtime.version(),
        Files.getFileStore(folder).type());
  }

  private static Optional<String> processor() throws IOException {
    if (!Files.isReadable(PROCESSORS)) return Optional.empty();
    try (Stream<String> lines = Files.lines(PROCESSORS)) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst();
    }
  }
}
