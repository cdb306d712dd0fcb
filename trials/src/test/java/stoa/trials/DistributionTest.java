package stoa.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import stoa.Shared;
import stoa.Stoa;
import stoa.programs.BackgroundProcess;
import stoa.programs.ChildProcess;

/// The archive and the package of `./stoa dist`.
@EnabledOnOs(OS.LINUX)
class DistributionTest {
  /// Enters a root with file systems that end with the process: ROOT COMMAND...
  private static final String ENTER =
      """
      mount --bind "$0" "$0" && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"
      """;

  private static final Pattern LIBRARY = Pattern.compile("(/\\S+)");

  /// The jars and folders of classes that sinks have and servers have not.
  private static final Pattern SINKS =
      Pattern.compile("/(sinks|kafka|postgresql|zstd-jni|lz4-java|snappy-java|checker-qual)/");

  /// An object whose changes a sink writes.
  @Shared(name = "packed.Counter")
  static class Counter {
    private long value;

    public long increment() {
      return ++value;
    }
  }

  @TempDir Path folder;

  @Tag("long")
  @Test
  void theArchiveServesAStoreOnAMachineWithoutJava() throws Exception {
    Path out = folder.resolve("out");
    run(
        "bash",
        LocalRepository.root().resolve("dist/make").toString(),
        out.toString(),
        home(),
        "0.1.0",
        jars(jar -> !SINKS.matcher(jar).find()),
        jars(jar -> SINKS.matcher(jar).find()),
        "--sun-misc-unsafe-memory-access=allow",
        "--enable-native-access=ALL-UNNAMED");
    Path root = root(out);
    Path archive = file(out, ".tar.gz");
    run("tar", "-C", root.toString(), "-xzf", archive.toString());
    String stoa = "/" + archive.getFileName().toString().replace(".tar.gz", "") + "/bin/stoa";
    String counters = "/counters.jar";
    LocalRepository.jar(testClasses(), root.resolve(counters.substring(1)));
    var serve = new ArrayList<>(List.of("serve", "--data", "/store", "--listen", "127.0.0.1:0"));
    serve.addAll(List.of("--classpath", counters));
    try (var server = BackgroundProcess.start(inside(root, stoa, serve), Map.of())) {
      String address = server.await("listening on ");
      server.await("ready");
      String status = run(inside(root, stoa, List.of("status", "--server", address)));
      assertTrue(status.contains("file:/store"), status);
      aSinkWritesAFile(root, stoa, address, counters);
    }
    thePackageHasAServiceAndItsSettings(file(out, ".deb"));
  }

  /// The libraries of the sinks are in a folder that servers do not load.
  private static void aSinkWritesAFile(Path root, String stoa, String address, String counters)
      throws Exception {
    assertTrue(run(inside(root, stoa, List.of("help"))).contains("`stoa sink`"));
    String help = run(inside(root, stoa, List.of("help", "sink")));
    assertTrue(help.contains("kafka://HOST:PORT"), help);
    Path libraries = root.resolve(stoa.substring(1)).resolve("../../lib").normalize();
    assertTrue(hasJar(libraries.resolve("sinks"), "kafka-clients"));
    assertTrue(hasJar(libraries.resolve("sinks"), "postgresql"));
    assertFalse(hasJar(libraries, "kafka-clients") || hasJar(libraries, "postgresql"));
    try (Stoa store = Stoa.open("stoa://" + address)) {
      Counter counter = store.get(Counter.class, "visits");
      counter.increment();
      assertEquals(2, counter.increment());
    }
    var sink = new ArrayList<>(List.of("sink", "--server", address, "--name", "audit", "--once"));
    sink.addAll(List.of("--type", Counter.class.getName(), "--classpath", counters));
    sink.addAll(List.of("--to", "file:/changes.jsonl"));
    String said = run(inside(root, stoa, sink));
    assertTrue(said.endsWith("\n1 change\n"), said);
    String line = Files.readString(root.resolve("changes.jsonl"));
    assertTrue(line.contains("\"key\":\"visits\"") && line.contains("{\"value\":2}"), line);
  }

  private static boolean hasJar(Path folder, String name) throws IOException {
    try (var jars = Files.newDirectoryStream(folder, name + "-*.jar")) {
      return jars.iterator().hasNext();
    }
  }

  private static void thePackageHasAServiceAndItsSettings(Path deb) throws Exception {
    String files = run("dpkg-deb", "-c", deb.toString());
    assertTrue(files.contains("-rwxr-xr-x root/root") && files.contains("/usr/lib/stoa/bin/stoa"));
    assertTrue(files.contains("./lib/systemd/system/stoa.service"), files);
    assertTrue(files.contains("./usr/bin/stoa -> ../lib/stoa/bin/stoa"), files);
    assertTrue(files.contains("/usr/lib/stoa/lib/sinks/kafka-clients-"), files);
    assertEquals("/etc/stoa/stoa.properties\n", run("dpkg-deb", "-I", deb.toString(), "conffiles"));
    String settings =
        run(
            "sh",
            "-c",
            "dpkg-deb --fsys-tarfile \"$0\" | tar -xO ./etc/stoa/stoa.properties",
            deb.toString());
    assertTrue(settings.lines().anyMatch("data=/var/lib/stoa/store"::equals), settings);
    String control = run("dpkg-deb", "-I", deb.toString(), "control");
    assertTrue(control.contains("Version: 0.1.0\n") && !control.contains("@SIZE@"), control);
  }

  /// Makes a root with a shell and the C library alone.
  private Path root(Path out) throws Exception {
    Path root = Files.createDirectory(folder.resolve("root"));
    for (String made : List.of("proc", "tmp", "bin", "usr/bin")) {
      Files.createDirectories(root.resolve(made));
    }
    Files.copy(Path.of("/bin/sh").toRealPath(), root.resolve("bin/sh"));
    var needed = new ArrayList<>(List.of(root.resolve("bin/sh").toString()));
    for (String tool : List.of("/usr/bin/readlink", "/usr/bin/dirname")) {
      Files.copy(Path.of(tool).toRealPath(), root.resolve(tool.substring(1)));
      needed.add(tool);
    }
    try (var made = Files.newDirectoryStream(out, path -> Files.isDirectory(path))) {
      for (Path distribution : made) {
        needed.add(distribution.resolve("runtime/bin/java").toString());
        needed.add(distribution.resolve("runtime/lib/server/libjvm.so").toString());
      }
    }
    var libraries = new TreeSet<String>();
    for (String program : needed) {
      LIBRARY
          .matcher(run("ldd", program))
          .results()
          .map(found -> found.group(1))
          .filter(found -> !found.startsWith(out.toString()) && !found.endsWith(":"))
          .forEach(libraries::add);
    }
    for (String library : libraries) {
      Path copy = root.resolve(library.substring(1));
      Files.createDirectories(copy.getParent());
      if (Files.notExists(copy)) Files.copy(Path.of(library).toRealPath(), copy);
    }
    return root;
  }

  private static List<String> inside(Path root, String stoa, List<String> arguments) {
    var all = new ArrayList<>(List.of("unshare", "--mount"));
    if (!System.getProperty("user.name").equals("root")) all.add("--map-root-user");
    all.addAll(List.of("sh", "-c", ENTER, root.toString(), stoa));
    all.addAll(arguments);
    return all;
  }

  private static Path file(Path folder, String ending) throws IOException {
    try (var files = Files.newDirectoryStream(folder, "*" + ending)) {
      return files.iterator().next();
    }
  }

  private static Path testClasses() throws Exception {
    return Path.of(
        DistributionTest.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  /// Some of the class path of this process without its tests, with a jar in place of each
  /// directory.
  private String jars(Predicate<String> which) throws Exception {
    Path made = Files.createTempDirectory(folder, "jars");
    var jars = new ArrayList<String>();
    for (String entry : ChildProcess.classPath().split(File.pathSeparator, -1)) {
      Path path = Path.of(entry);
      if (path.equals(testClasses()) || !which.test(entry)) continue;
      if (Files.isDirectory(path)) {
        path = made.resolve(made.getFileName() + "-" + jars.size() + ".jar");
        LocalRepository.jar(Path.of(entry), path);
      }
      if (Files.exists(path)) jars.add(path.toString());
    }
    return String.join(File.pathSeparator, jars);
  }

  private static String home() {
    return System.getProperty("java.home");
  }

  private static String run(String... command) throws Exception {
    return run(List.of(command));
  }

  /// Runs a command that succeeds, and returns what it printed.
  private static String run(List<String> command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), () -> String.join(" ", command) + "\n" + said);
    return said;
  }
}
