package stoa.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.cli.Main;

/// The launcher: its commands, and `./stoa java` and `./stoa javac` in a folder whose only library
/// is one class.
class LauncherTest {
  private static final String PROGRAM =
      """
      public class Program {
        public static void main(String[] arguments) {
          System.out.println(library.Library.NAME + " " + String.join(" ", arguments));
        }
      }
      """;

  // A line of the program's help that begins with a command.
  private static final Pattern COMMAND = Pattern.compile("^ {2}([a-z-]+) ", Pattern.MULTILINE);

  @TempDir Path folder;

  private Path root;
  private Path source;
  private Path classes;

  @BeforeEach
  void buildsTheLibrary() throws Exception {
    root = Files.createDirectories(folder.resolve("root"));
    Path launcher = root.resolve("stoa");
    Files.copy(LocalRepository.root().resolve("stoa"), launcher);
    Path lib = Files.createDirectories(root.resolve("cli/target/quick/lib"));
    Path library = folder.resolve("Library.java");
    Files.writeString(
        library,
        "package library; public class Library { public static final Object NAME = \"library\"; }");
    Path built = folder.resolve("built");
    tool("javac", "-d", built.toString(), library.toString());
    tool("jar", "-cf", lib.resolve("library.jar").toString(), "-C", built.toString(), ".");
    Files.createDirectories(root.resolve("target/stoa"));
    Files.createFile(root.resolve("target/stoa/cli.stamp")); // nothing has changed since
    source = folder.resolve("Program.java");
    Files.writeString(source, PROGRAM);
    classes = folder.resolve("classes");
  }

  @Test
  void addsTheLibrariesToAGivenClassPath() throws Exception {
    stoa(Map.of(), 0, "javac", "-d", classes.toString(), "-cp", folder.toString(), source);
    for (List<String> given :
        List.of(
            List.of("-cp", classes.toString()),
            List.of("-classpath", classes.toString()),
            List.of("--class-path", classes.toString()),
            List.of("--class-path=" + classes),
            List.of("-ea", "--add-modules", "java.net.http", "-cp", classes.toString()))) {
      var arguments = new ArrayList<Object>(List.of("java"));
      arguments.addAll(given);
      arguments.addAll(List.of("Program", "-cp", "its own"));
      assertEquals("library -cp its own\n", stoa(Map.of(), 0, arguments.toArray()));
    }
  }

  @Test
  void addsTheLibrariesToTheClassPathOfTheEnvironment() throws Exception {
    Map<String, String> environment = Map.of("CLASSPATH", classes.toString());
    stoa(environment, 0, "javac", "-d", classes.toString(), source);
    assertEquals("library 1\n", stoa(environment, 0, "java", "Program", "1"));
  }

  @Test
  void runsASourceFileOnTheLibraries() throws Exception {
    assertEquals("library a b\n", stoa(Map.of(), 0, "java", source, "a", "b"));
  }

  @Test
  void saysWhenTheClassPathIsMissing() throws Exception {
    String told = stoa(Map.of(), 1, "java", "-cp");
    assertTrue(told.contains("-cp needs a class path"), told);
  }

  @Test
  void printsTheUsageOfItsOwnCommands() throws Exception {
    for (String command : List.of("test", "install", "dist", "java-home")) {
      String usage = stoa(Map.of(), 0, "help", command);
      assertTrue(usage.startsWith("usage: ./stoa " + command), usage);
      assertEquals(usage, stoa(Map.of(), 0, command, "--help"));
      assertEquals(usage, stoa(Map.of(), 0, command, "-h"));
    }
  }

  @Test
  void eachCommandOfTheProgramPrintsItsUsage() {
    for (String command : commandsOfTheProgram()) {
      for (String option : List.of("--help", "-h")) {
        var said = new StringWriter();
        var wrong = new StringWriter();
        assertEquals(
            0, Main.run(new PrintWriter(said), new PrintWriter(wrong), command, option), command);
        assertTrue(said.toString().contains("Usage: stoa " + command), said::toString);
        assertEquals("", wrong.toString());
      }
    }
  }

  @Test
  void knowsEachCommandOfTheProgram() throws Exception {
    List<String> known =
        Files.readString(root.resolve("stoa"))
            .lines()
            .filter(line -> line.startsWith("commands=\""))
            .flatMap(line -> Stream.of(line.substring(10, line.length() - 1).split(" ", -1)))
            .toList();
    assertEquals(
        List.of(), commandsOfTheProgram().stream().filter(one -> !known.contains(one)).toList());
  }

  private static List<String> commandsOfTheProgram() {
    var said = new StringWriter();
    var out = new PrintWriter(said);
    assertEquals(0, Main.run(out, out, "help"));
    List<String> commands =
        COMMAND.matcher(said.toString()).results().map(line -> line.group(1)).toList();
    assertTrue(commands.contains("serve"), said::toString);
    return commands;
  }

  private static void tool(String name, String... arguments) {
    int exit = ToolProvider.findFirst(name).orElseThrow().run(System.out, System.err, arguments);
    assertEquals(0, exit, name);
  }

  /// Runs the launcher, and returns what it printed.
  private String stoa(Map<String, String> environment, int exitCode, Object... arguments)
      throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("bash", root.resolve("stoa").toString()));
    Arrays.stream(arguments).map(Object::toString).forEach(command::add);
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().remove("CLASSPATH");
    builder.environment().remove("JAVA_TOOL_OPTIONS");
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().putAll(environment);
    Process process = builder.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(exitCode, process.waitFor(), said);
    return said;
  }
}
