package stoa.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A program on the module path that requires by name what stands beside `stoa.api`: measures,
/// traces, servers and the test kit.
class ModularProgramTest {
  private static final String INFO =
      """
      module shop {
        requires stoa.metrics;
        requires stoa.traces;
        requires stoa.test;
        requires stoa.sim;
        requires stoa.http;
        requires stoa.cluster;
        requires stoa.raft;
        requires stoa.spring;

        opens shop;
      }
      """;

  private static final String MAIN =
      """
      package shop;

      import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
      import io.opentelemetry.api.OpenTelemetry;
      import stoa.metrics.StoaMetrics;
      import stoa.test.StoaStore;
      import stoa.traces.StoaTraces;

      public final class Main {
        public static void main(String[] arguments) throws Exception {
          var registry = new SimpleMeterRegistry();
          try (var store = StoaStore.open();
              var traces = StoaTraces.of(OpenTelemetry.noop()).bindTo(store.stoa());
              var metrics = StoaMetrics.of(store.stoa())) {
            metrics.bindTo(registry);
            store.stoa().map("cities", String.class, String.class).put("TGN", "Tarragona");
            store.losePower();
            store.restart();
            var cities = store.stoa().map("cities", String.class, String.class);
            System.out.println(cities.get("TGN") + " " + !registry.getMeters().isEmpty());
          }
          for (String name :
              new String[] {
                "stoa.test.StoaStore", "stoa.http.HttpApi", "stoa.cluster.ClusterServer",
                "stoa.raft.Group", "stoa.sim.check.Verdict"
              }) {
            Class<?> found = Class.forName(name, false, Main.class.getClassLoader());
            System.out.print(found.getModule().getName() + " ");
          }
        }
      }
      """;

  /// The libraries of these modules, by the beginnings of their file names.
  private static final List<String> LIBRARIES =
      List.of(
          "apiguardian-api",
          "fory-core",
          "gson",
          "HdrHistogram",
          "jspecify",
          "junit-jupiter-api",
          "junit-platform-commons",
          "LatencyUtils",
          "micrometer-commons",
          "micrometer-core",
          "micrometer-observation",
          "microraft",
          "objenesis",
          "opentelemetry-api",
          "opentelemetry-common",
          "opentelemetry-context",
          "opentest4j",
          "pcollections",
          "protobuf-java",
          "slf4j-api",
          "slf4j-simple");

  @TempDir Path folder;

  @Test
  void requiresEveryModuleByItsName() throws Exception {
    Path modules = Files.createDirectory(folder.resolve("modules"));
    LocalRepository.jars(modules, "http");
    String path = modules + File.pathSeparator + libraries();
    Path sources = Files.createDirectories(folder.resolve("src/shop"));
    Path info = Files.writeString(sources.resolveSibling("module-info.java"), INFO);
    Path main = Files.writeString(sources.resolve("Main.java"), MAIN);
    Path classes = folder.resolve("classes");
    javac("-d", classes.toString(), "--module-path", path, info.toString(), main.toString());
    assertEquals(
        "Tarragona true\nstoa.test stoa.http stoa.cluster stoa.raft stoa.sim ",
        java("--module-path", classes + File.pathSeparator + path, "-m", "shop/shop.Main"));
  }

  private static String libraries() {
    Stream<String> entries =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator));
    List<String> found =
        entries
            .filter(entry -> {
              String name = Objects.requireNonNull(Path.of(entry).getFileName()).toString();
              return LIBRARIES.stream().anyMatch(library -> name.matches(library + "-[0-9].*"));
            })
            .toList();
    assertEquals(LIBRARIES.size(), found.size(), found::toString);
    return String.join(File.pathSeparator, found);
  }

  private static void javac(String... arguments) {
    var said = new StringWriter();
    var out = new PrintWriter(said);
    int code = ToolProvider.findFirst("javac").orElseThrow().run(out, out, arguments);
    assertEquals(0, code, said::toString);
  }

  /// Runs a program, and returns what it prints, errors and warnings of the JVM too.
  private static String java(String... arguments) throws Exception {
    var command =
        Stream.concat(
            Stream.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-XX:TieredStopAtLevel=1"),
            Arrays.stream(arguments));
    Process process = new ProcessBuilder(command.toList()).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
    return said;
  }
}
