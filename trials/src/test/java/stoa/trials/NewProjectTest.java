package stoa.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.cli.Main;
import stoa.cli.ServerProcess;

/// A project that `./stoa new` makes, outside the sources, on the artifacts of this build alone.
/// Its program runs without options of the JVM, and the JVM warns of nothing.
class NewProjectTest {
  private static final String DENY = "--sun-misc-unsafe-memory-access=deny";

  @TempDir Path folder;

  @Test
  void isBuiltTestedServedAndRunAsAModule() throws Exception {
    Path repository = Files.createDirectory(folder.resolve("repository"));
    LocalRepository.make(repository);
    Path project = folder.resolve("shop");
    stoa(0, "new", project.toString(), "--package", "org.shop");
    theGuideHasThePom(project);
    run(0, project, "mvn", "-B", "-o", "-q", "-Dmaven.repo.local=" + repository, "package");
    assertEquals(
        3, tests(project.resolve("target/surefire-reports/TEST-org.shop.TicketsTest.xml")));
    Path jar = project.resolve("target/shop.jar");

    assertEquals("Ada has 1, 9 are left\n", java(project, "-jar", jar.toString()));
    assertEquals("Ada has 2, 8 are left\n", java(project, DENY, "-jar", jar.toString()));
    String path = jar + File.pathSeparator + project.resolve("target/lib/*");
    assertEquals("Ada has 3, 7 are left\n", java(project, "-cp", path, "org.shop.Main"));
    List<String> served = List.of("--classpath", jar.toString());
    try (var server = ServerProcess.start(project.resolve("data"), served)) {
      assertEquals(
          "Ada has 4, 6 are left\n", java(project, "-cp", path, "org.shop.Main", server.url()));
      assertEquals(
          "Ada has 5, 5 are left\n",
          java(project, DENY, "-cp", path, "org.shop.Main", server.url()));
    }
    asAModule(project);
  }

  @Tag("long")
  @Test
  void theSampleApplicationIsBuiltAndTestedOutsideTheSources() throws Exception {
    Path repository = Files.createDirectory(folder.resolve("repository"));
    LocalRepository.make(repository);
    Path project = folder.resolve("tickets");
    copy(LocalRepository.root().resolve("apps/tickets"), project);
    String built =
        run(0, project, "mvn", "-B", "-q", "-Dmaven.repo.local=" + repository, "package");
    assertFalse(built.contains("io.microraft") || built.contains("i.m.i."), built);
    Path reports = project.resolve("target/surefire-reports");
    assertEquals(8, tests(reports.resolve("TEST-stoa.tickets.TicketsTest.xml")));
    assertEquals(3, tests(reports.resolve("TEST-stoa.tickets.CrowdTest.xml")));
    assertTrue(Files.exists(project.resolve("target/tickets-exec.jar")));
  }

  @Test
  void aPathWithSpacesIsQuotedForTheShell() throws IOException {
    String said = stoa(0, "new", folder.resolve("my app").toString(), "--maven");
    assertTrue(said.contains("next: cd '" + folder.resolve("my app") + "' && mvn test"), said);
    assertTrue(said.contains("export JAVA_HOME="), said);
  }

  @Test
  void refusesADirectoryThatIsNotEmptyAndANameThatIsNone() throws IOException {
    Files.writeString(folder.resolve("mine"), "mine");
    assertTrue(stoa(2, "new", folder.toString()).contains("is not empty"));
    String other = folder.resolve("other").toString();
    assertTrue(stoa(2, "new", other, "--package", "a.class").contains("\"a.class\" is no name"));
    assertTrue(Files.notExists(Path.of(other)));
  }

  @Test
  void makesTheBuildFileOfOneToolAlone() throws IOException {
    Path project = folder.resolve("one");
    String said = stoa(0, "new", project.toString(), "--gradle");
    assertTrue(said.contains("gradle test"), said);
    assertTrue(Files.exists(project.resolve("build.gradle.kts")));
    assertTrue(Files.notExists(project.resolve("pom.xml")));
  }

  /// Checks that the POM in the guide is a part of that of a new project, which is built here.
  private static void theGuideHasThePom(Path project) throws IOException {
    String page = Files.readString(LocalRepository.root().resolve("docs/guide/artifacts.md"));
    int begin = page.indexOf("<?xml");
    String pom = page.substring(begin, page.indexOf("```", begin));
    List<String> made = Files.readAllLines(project.resolve("pom.xml"));
    List<String> others = pom.lines().filter(line -> !made.contains(line)).toList();
    assertEquals(List.of(), others);
    assertTrue(pom.contains("maven-surefire-plugin") && pom.contains("maven-compiler-plugin"), pom);
  }

  /// Builds the program once more as a module, and runs it with the artifacts as modules.
  private void asAModule(Path project) throws Exception {
    Path sources = project.resolve("src/main/java");
    Files.writeString(
        sources.resolve("module-info.java"),
        "module shop { requires stoa.api; opens org.shop; }\n");
    Path classes = project.resolve("modular");
    List<String> compile = new ArrayList<>(List.of(tool("javac"), "-d", classes.toString()));
    compile.addAll(List.of("--module-path", project.resolve("target/lib").toString()));
    try (var files = Files.walk(sources)) {
      files.map(Path::toString).filter(file -> file.endsWith(".java")).forEach(compile::add);
    }
    run(0, project, compile.toArray(String[]::new));
    String path = classes + File.pathSeparator + project.resolve("target/lib");
    assertEquals(
        "Ada has 6, 4 are left\n",
        java(project, DENY, "--module-path", path, "-m", "shop/org.shop.Main"));
  }

  /// Copies a project without what was built.
  private static void copy(Path from, Path to) throws IOException {
    try (var files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Path copied = to.resolve(from.relativize(file).toString());
        if (file.startsWith(from.resolve("target"))) continue;
        if (Files.isDirectory(file)) Files.createDirectories(copied);
        else Files.copy(file, copied);
      }
    }
  }

  private static long tests(Path report) throws IOException {
    return Files.readAllLines(report).stream().filter(line -> line.contains("<testcase ")).count();
  }

  private static String stoa(int exitCode, String... arguments) {
    var said = new StringWriter();
    var out = new PrintWriter(said);
    assertEquals(exitCode, Main.run(out, out, arguments), said::toString);
    return said.toString();
  }

  private static String java(Path directory, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(tool("java"), "-XX:TieredStopAtLevel=1"));
    command.addAll(Arrays.asList(arguments));
    return run(0, directory, command.toArray(String[]::new));
  }

  private static String tool(String name) {
    return Path.of(System.getProperty("java.home"), "bin", name).toString();
  }

  /// Runs a command, and returns what it printed, errors and warnings too.
  private static String run(int exitCode, Path directory, String... command) throws Exception {
    var builder =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().remove("MAVEN_OPTS");
    Process process = builder.start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(
        exitCode,
        process.waitFor(),
        () -> Arrays.stream(command).collect(Collectors.joining(" ", "", "\n")) + said);
    return said;
  }
}
