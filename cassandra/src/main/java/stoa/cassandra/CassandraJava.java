package stoa.cassandra;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import stoa.bench.remote.RemoteContender;

/// The Java on which Cassandra 5.0 runs: 17 or 11, and no later one.
final class CassandraJava {
  private static final String NAMED = "JAVA17_HOME";
  private static final Path INSTALLED = Path.of("/usr/lib/jvm");
  private static final Pattern VERSION = Pattern.compile("version \"(17|11)[.\"]");

  private CassandraJava() {}

  /// Finds one: the one that the environment names, an installed one, or the one on the path.
  ///
  /// @throws RemoteContender.Missing when there is none
  static Path find() throws IOException, InterruptedException, RemoteContender.Missing {
    return find(System.getenv(), INSTALLED);
  }

  /// Finds one.
  ///
  /// @param environment the variables of the environment
  /// @param installed the folder of the installed ones
  static Path find(Map<String, String> environment, Path installed)
      throws IOException, InterruptedException, RemoteContender.Missing {
    var candidates = new ArrayList<Path>();
    String named = environment.get(NAMED);
    if (named != null) candidates.add(Path.of(named, "bin", "java"));
    if (Files.isDirectory(installed)) {
      try (var folders = Files.list(installed)) {
        folders
            .filter(folder -> String.valueOf(folder.getFileName()).contains("17"))
            .sorted()
            .forEach(folder -> candidates.add(folder.resolve("bin/java")));
      }
    }
    for (String folder : environment.getOrDefault("PATH", "").split(":", -1)) {
      if (!folder.isEmpty()) candidates.add(Path.of(folder, "java"));
    }
    for (Path candidate : candidates) {
      if (Files.isExecutable(candidate) && isRight(candidate)) return candidate;
    }
    throw new RemoteContender.Missing(
        ("Cassandra 5.0 runs on Java 17 or 11, and %s, %s and PATH have neither; install one (apt"
                + " install openjdk-17-jre-headless), or name its folder in %s")
            .formatted(NAMED, installed, NAMED));
  }

  private static boolean isRight(Path java) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(List.of(java.toString(), "-version")).redirectErrorStream(true).start();
    String said;
    try (var output = process.getInputStream()) {
      said = new String(output.readAllBytes(), StandardCharsets.UTF_8);
    }
    return process.waitFor() == 0 && VERSION.matcher(said).find();
  }
}
