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
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// The programs in `README.md` and the guide, run as they stand there, without options of the JVM
/// on which they depend.
class ReadmeTest {
  private static final Pattern EXAMPLE =
      Pattern.compile("^```java\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);

  private static final String README = "Hello.java";

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
    assertEquals("visit 1\nbefore it: 0\n", run());
    assertEquals("visit 2\nbefore it: 1\n", run());
  }

  static List<Path> pages() throws IOException {
    try (var pages = Files.list(Repository.here().root().resolve("docs/guide"))) {
      return pages
          .filter(page -> page.toString().endsWith(".md"))
          .filter(page -> !WITHOUT.contains(page.getFileName().toString()))
          .sorted()
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("pages")
  void everyProgramOfAPageRuns(Path page) throws Exception {
    Matcher example = EXAMPLE.matcher(Files.readString(page));
    assertTrue(example.find(), page + " has no program");
    do {
      Matcher name = Pattern.compile("public class (\\w+)").matcher(example.group(1));
      assertTrue(name.find(), "a program of " + page + " has no class");
      String file = name.group(1) + ".java";
      Files.writeString(folder.resolve(file), example.group(1));
      assertTrue(!run(file).isEmpty(), file + " prints nothing");
    } while (example.find());
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

  private void compile(String file, String classes) {
    int result =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-d",
                folder.toString(),
                "-cp",
                classes,
                folder.resolve(file).toString());
    assertEquals(0, result, file + " does not compile");
  }

  private String run() throws IOException, InterruptedException {
    return run(README);
  }

  private String run(String file) throws IOException, InterruptedException {
    var command = new ArrayList<String>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    boolean woven = Files.readString(folder.resolve(file)).contains(".bind()");
    if (woven) command.add("-javaagent:" + agent());
    String classes = System.getProperty("java.class.path");
    String name = file.substring(0, file.indexOf('.'));
    if (file.equals(README)) { // as the README says
      command.addAll(List.of("-cp", classes, file));
    } else {
      // As short as these run, the second compiler earns nothing.
      command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
      compile(file, classes);
      command.addAll(List.of("-cp", folder + File.pathSeparator + classes));
      boolean tests = Files.readString(folder.resolve(file)).contains("@Test\n");
      if (tests) command.add(RunTests.class.getName());
      command.add(name);
    }
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
