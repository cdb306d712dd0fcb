package stoa.cassandra;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import stoa.bench.remote.RemoteContender;

/// The libraries of a Cassandra server, 70 MB. Maven resolves them when a server is first wanted,
/// from a POM that only collects them: they are for another Java, and have other versions of
/// libraries than the rest of the benchmark.
final class CassandraLibraries {
  private static final String POM = "server-libraries.xml";

  private CassandraLibraries() {}

  /// Returns them as a class path.
  ///
  /// @throws RemoteContender.Missing when Maven cannot get them
  static String classPath() throws IOException, InterruptedException, RemoteContender.Missing {
    Path folder = Path.of(System.getProperty("stoa.output", "stoa-data"), "cassandra");
    Files.createDirectories(folder.toAbsolutePath());
    return classPath(folder.toAbsolutePath(), "mvn");
  }

  /// Returns them as a class path, which a folder keeps.
  ///
  /// @param maven the program
  static String classPath(Path folder, String maven)
      throws IOException, InterruptedException, RemoteContender.Missing {
    Path pom = folder.resolve(POM);
    Path kept = folder.resolve("server.classpath");
    byte[] wanted = pom();
    if (Files.exists(pom) && Files.exists(kept) && Arrays.equals(wanted, Files.readAllBytes(pom))) {
      String known = Files.readString(kept).strip();
      if (Stream.of(known.split(File.pathSeparator, -1)).map(Path::of).allMatch(Files::exists)) {
        return known;
      }
    }
    Files.write(pom, wanted);
    Path made = Files.createTempFile(folder, "server", ".classpath");
    resolve(folder, maven, pom, made);
    Files.move(made, kept, StandardCopyOption.REPLACE_EXISTING);
    return Files.readString(kept).strip();
  }

  private static byte[] pom() throws IOException {
    try (InputStream in =
        Objects.requireNonNull(CassandraLibraries.class.getResourceAsStream(POM))) {
      return in.readAllBytes();
    }
  }

  private static void resolve(Path folder, String maven, Path pom, Path made)
      throws IOException, InterruptedException, RemoteContender.Missing {
    var command =
        List.of(
            maven,
            "-B",
            "-q",
            "-f",
            pom.toString(),
            "dependency:build-classpath",
            "-Dmdep.includeScope=runtime",
            "-Dmdep.outputFile=" + made);
    String said;
    try {
      Process process =
          new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
      try (var output = process.getInputStream()) {
        said = new String(output.readAllBytes(), StandardCharsets.UTF_8);
      }
      if (process.waitFor() == 0 && Files.size(made) > 0) return;
    } catch (IOException e) {
      said = String.valueOf(e.getMessage());
    }
    Files.deleteIfExists(made);
    throw new RemoteContender.Missing(
        "Maven could not get Cassandra's libraries (%s); it needs a network once: %s"
            .formatted(
                said.lines().filter(line -> !line.isBlank()).findFirst().orElse("it said nothing"),
                String.join(" ", command)));
  }
}
