package stoa.trials;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/// A local repository of Maven with the artifacts of this build. All others are symbolic links into
/// the repository that this build uses.
final class LocalRepository {
  private static final String GROUP = "dev/stoa";
  private static final String VERSION = "0.1.0";
  private static final Pattern AUTOMATIC =
      Pattern.compile("<Automatic-Module-Name>([^<]+)</Automatic-Module-Name>");

  private LocalRepository() {}

  /// Makes one in an empty directory.
  static void make(Path place) throws Exception {
    Path used = used();
    link(used, place, "dev");
    link(used.resolve("dev"), Files.createDirectories(place.resolve("dev")), "stoa");
    Path root = root();
    install(place, root, "stoa");
    for (Path module : published(root)) install(place, module, "stoa-" + module.getFileName());
  }

  /// The folders of the modules that programs outside may use.
  private static List<Path> published(Path root) throws IOException {
    var published = new ArrayList<Path>();
    try (var folders = Files.newDirectoryStream(root)) {
      for (Path folder : folders) {
        Path pom = folder.resolve("pom.xml");
        if (Files.exists(pom) && !Files.readString(pom).contains("<maven.install.skip>")) {
          published.add(folder);
        }
      }
    }
    return published;
  }

  private static void install(Path place, Path module, String artifact) throws Exception {
    Path version = place.resolve(GROUP).resolve(artifact).resolve(VERSION);
    Files.createDirectories(version);
    Path pom = module.resolve("pom.xml");
    Files.copy(pom, version.resolve(artifact + "-" + VERSION + ".pom"));
    if (Files.readString(pom).contains("<packaging>pom</packaging>")) return;
    copy(module, version.resolve(artifact + "-" + VERSION + ".jar"));
  }

  /// Makes a jar with the classes of a module, if this test runs any of them.
  private static void copy(Path module, Path jar) throws Exception {
    Path built = built(module);
    if (built == null) return; // a new project does not use it
    if (Files.isRegularFile(built)) {
      Files.copy(built, jar);
      return;
    }
    Matcher name = AUTOMATIC.matcher(Files.readString(module.resolve("pom.xml")));
    Path manifest = jar.resolveSibling("manifest");
    Files.writeString(
        manifest, name.find() ? "Automatic-Module-Name: " + name.group(1) + "\n" : "");
    Path classes = Files.createDirectories(built); // one without packages may have none
    jar(
        "--create",
        "--file",
        jar.toString(),
        "--manifest",
        manifest.toString(),
        "-C",
        classes.toString(),
        ".");
  }

  /// Makes the jars of all modules that programs outside may use, and of further ones, in an empty
  /// directory.
  static void jars(Path place, String... further) throws Exception {
    List<Path> modules = published(root());
    for (String name : further) modules.add(root().resolve(name));
    for (Path module : modules) copy(module, place.resolve(module.getFileName() + ".jar"));
  }

  /// Returns the classes of a module that this test runs: its jar, or the folder of its classes;
  /// null when it runs none of them.
  private static @Nullable Path built(Path module) {
    Path target = module.resolve("target");
    Path fast = Objects.requireNonNull(module.getParent()).resolve("target");
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(Path::of)
        .filter(entry ->
            entry.startsWith(target)
                || (entry.startsWith(fast) && entry.endsWith(module.getFileName() + "/main")))
        .findFirst()
        .orElse(null);
  }

  static void jar(Path classes, Path jar) {
    jar("--create", "--file", jar.toString(), "-C", classes.toString(), ".");
  }

  private static void jar(String... arguments) {
    int code = ToolProvider.findFirst("jar").orElseThrow().run(System.err, System.err, arguments);
    if (code != 0) throw new AssertionError("jar ended with " + code);
  }

  /// Links everything in a directory but one folder.
  private static void link(Path from, Path to, String without) throws IOException {
    if (!Files.exists(from)) return;
    try (var entries = Files.newDirectoryStream(from)) {
      for (Path entry : entries) {
        if (entry.endsWith(without)) continue;
        Files.createSymbolicLink(to.resolve(Objects.requireNonNull(entry.getFileName())), entry);
      }
    }
  }

  /// The repository from which this build has its libraries.
  private static Path used() throws Exception {
    // .../info/picocli/picocli/VERSION/picocli-VERSION.jar
    Path jar =
        Path.of(CommandLine.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    return Objects.requireNonNull(jar.resolve("../../../../..").normalize());
  }

  /// The root of the sources.
  static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (folder != null && !Files.exists(folder.resolve("stoa"))) folder = folder.getParent();
    return Objects.requireNonNull(folder, "the test runs outside the sources");
  }
}
