package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The programs in `README.md` and the guide, run as they stand there, without options of the JVM
/// on which they depend.
class ReadmeTest {
  private static final Pattern EXAMPLE =
      Pattern.compile("^```java\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);

  private static final String README = "Hello.java";

  // As short as the programs run, the second compiler earns nothing.
  private static final List<String> BRIEFLY =
      List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

  private static final String CLASSES = System.getProperty("java.class.path");

  /// Pages whose subject is no program.
  private static final Set<String> WITHOUT =
      Set.of(
          "README.md",
          "artifacts.md",
          "cluster.md",
          "distribution.md",
          "operations.md",
          "guarantees.md",
          "vcorfu.md");

  @TempDir Path folder;

  @Test
  void theExampleRunsAndRemembersItsEarlierRuns() throws Exception {
    Matcher example = EXAMPLE.matcher(Repository.here().text(Path.of("README.md")));
    assertTrue(example.find(), "README.md has no example in Java");
    Files.writeString(folder.resolve(README), example.group(1));
    List<String> asItSays = List.of("-cp", CLASSES, README);
    assertEquals("visit 1\nbefore it: 0\n", java(folder, asItSays));
    assertEquals("visit 2\nbefore it: 1\n", java(folder, asItSays));
  }

  private static List<Path> pages() throws IOException {
    try (var pages = Files.list(Repository.here().root().resolve("docs/guide"))) {
      return pages
          .filter(page -> page.toString().endsWith(".md"))
          .filter(page -> !WITHOUT.contains(page.getFileName().toString()))
          .sorted()
          .toList();
    }
  }

  /// A program of the guide.
  ///
  /// @param folder of its page
  private record Program(Path folder, String name, String text) {
    Path file() {
      return folder.resolve(name + ".java");
    }

    /// Whether it is woven when it is loaded.
    boolean isWoven() {
      return text.contains(".bind()");
    }

    boolean isTest() {
      return text.contains("@Test\n");
    }

    /// Whether it needs a process of its own: it keeps files where it runs, or is no plain program.
    boolean isAlone() {
      return isWoven() || isTest() || text.contains("file:");
    }
  }

  private List<Program> programs() throws IOException {
    var all = new ArrayList<Program>();
    for (Path page : pages()) {
      Matcher example = EXAMPLE.matcher(Files.readString(page));
      assertTrue(example.find(), page + " has no program");
      Path place = folder.resolve(page.getFileName().toString());
      Files.createDirectory(place);
      do {
        Matcher name = Pattern.compile("public class (\\w+)").matcher(example.group(1));
        assertTrue(name.find(), "a program of " + page + " has no class");
        var program = new Program(place, name.group(1), example.group(1));
        Files.writeString(program.file(), program.text());
        all.add(program);
      } while (example.find());
    }
    return all;
  }

  @Test
  void everyProgramOfTheGuideRuns() throws Exception {
    List<Program> programs = programs();
    compile(programs);
    var together = new ArrayList<String>(BRIEFLY);
    together.addAll(List.of("-cp", CLASSES, RunPrograms.class.getName()));
    for (Program program : programs) {
      if (!program.isAlone()) together.addAll(List.of(program.folder().toString(), program.name()));
      else assertTrue(!runAlone(program).isEmpty(), program.file() + " prints nothing");
    }
    java(folder, together);
  }

  /// A jar file that says what the agent is; its classes are on the class path.
  private Path agent() throws IOException {
    Path jar = folder.resolve("agent.jar");
    var manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Premain-Class", "stoa.weave.WeavingAgent");
    new JarOutputStream(Files.newOutputStream(jar), manifest).close();
    return jar;
  }

  /// Compiles the programs, those of a page together. All read the libraries once.
  private static void compile(List<Program> programs) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> options = List.of("-cp", CLASSES);
    try (var files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
      for (Program program : programs) {
        files.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(program.folder()));
        var sources = files.getJavaFileObjects(program.file());
        boolean compiled = compiler.getTask(null, files, null, options, null, sources).call();
        assertTrue(compiled, program.file() + " does not compile");
      }
    }
  }

  private String runAlone(Program program) throws IOException, InterruptedException {
    var options = new ArrayList<String>(BRIEFLY);
    if (program.isWoven()) options.add("-javaagent:" + agent());
    options.addAll(List.of("-cp", program.folder() + File.pathSeparator + CLASSES));
    if (program.isTest()) options.add(RunTests.class.getName());
    options.add(program.name());
    return java(program.folder(), options);
  }

  /// Runs Java; returns what it printed.
  private static String java(Path folder, List<String> options)
      throws IOException, InterruptedException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    var process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (var output = process.getInputStream()) {
      String printed = new String(output.readAllBytes(), StandardCharsets.UTF_8);
      assertEquals(0, process.waitFor(), printed);
      return printed;
    }
  }
}
