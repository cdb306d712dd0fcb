package stoa.peers;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import stoa.bench.remote.RemoteContender;

/// The program `redis-server`: the one on the path, or else Debian's, unpacked into a folder of the
/// build without being installed.
///
/// @param program the executable file
/// @param environment the variables that it needs
record RedisProgram(Path program, Map<String, String> environment) {
  private static final String NAME = "redis-server";

  // The packages that hold it and the libraries that a system may lack.
  private static final List<String> PACKAGES =
      List.of(NAME, "redis-tools", "libjemalloc2", "liblzf1", "libatomic1");

  /// Finds it, or gets it.
  ///
  /// @throws RemoteContender.Missing when it is nowhere to be had
  static RedisProgram find() throws RemoteContender.Missing, InterruptedException {
    for (String folder : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
      Path program = Path.of(folder, NAME);
      if (!folder.isEmpty() && Files.isExecutable(program)) {
        return new RedisProgram(program, Map.of());
      }
    }
    Path folder = Path.of(System.getProperty("stoa.output", "stoa-data"), "redis");
    try {
      if (!Files.exists(folder)) unpack(folder);
      Path libraries = folder.resolve("usr/lib");
      try (Stream<Path> below = Files.list(libraries)) {
        Optional<Path> own =
            below.filter(path -> path.getFileName().toString().endsWith("-linux-gnu")).findFirst();
        return new RedisProgram(
            folder.resolve("usr/bin/" + NAME).toAbsolutePath(),
            Map.of("LD_LIBRARY_PATH", own.orElse(libraries).toAbsolutePath().toString()));
      }
    } catch (IOException e) {
      throw new RemoteContender.Missing(
          "no %s on the path, and Debian's could not be had (%s); install it: apt install %s"
              .formatted(NAME, e.getMessage(), NAME));
    }
  }

  /// Downloads and unpacks the packages. The folder appears when it is complete.
  private static void unpack(Path folder) throws IOException, InterruptedException {
    Path parent = Files.createDirectories(folder.toAbsolutePath().getParent());
    Path work = Files.createTempDirectory(parent, "redis-");
    Path packages = Files.createDirectory(work.resolve("packages"));
    Path content = Files.createDirectory(work.resolve("content"));
    try {
      var download = new ArrayList<>(List.of("apt-get", "download"));
      download.addAll(PACKAGES);
      run(packages, download);
      List<Path> archives;
      try (Stream<Path> files = Files.list(packages)) {
        archives = files.toList();
      }
      for (Path archive : archives) {
        run(packages, List.of("dpkg", "-x", archive.toString(), content.toString()));
      }
      Files.move(content, folder);
    } finally {
      try (Stream<Path> left = Files.walk(work)) {
        for (Path path : left.sorted(java.util.Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
  }

  private static void run(Path folder, List<String> command)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    String said;
    try (var output = process.getInputStream()) {
      said = new String(output.readAllBytes(), StandardCharsets.UTF_8);
    }
    if (process.waitFor() != 0) throw new IOException(said.lines().reduce("", (_, last) -> last));
  }
}
