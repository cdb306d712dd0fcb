package stoa.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import javax.lang.model.SourceVersion;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `stoa new`: makes a small project that uses Stoa.
@Command(
    name = "new",
    description = "Makes a small project: a shared class, a program, and a test.",
    footer = {
      "",
      "The project has a pom.xml and a build.gradle.kts unless one of --maven and",
      "--gradle is given. It uses Stoa's artifacts; ./stoa install puts them into the",
      "local repository. Its README.md has the commands to test, run and serve it."
    })
final class NewCommand implements Callable<Integer> {
  /// Of the artifacts that the project uses.
  static final String VERSION = "0.1.0";

  private static final String PACKAGE = "app";
  private static final Pattern PLAIN = Pattern.compile("[\\w./:@%+,=-]+");

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      paramLabel = "DIR",
      description = "The directory of the project; it must be new or empty.")
  private Path directory = Path.of("");

  @Option(
      names = "--package",
      paramLabel = "NAME",
      description = "The package of its classes. Default: ${DEFAULT-VALUE}")
  private String name = PACKAGE;

  @Option(names = "--maven", description = "Make the build file of Maven.")
  private boolean maven;

  @Option(names = "--gradle", description = "Make the build file of Gradle.")
  private boolean gradle;

  private NewCommand() {}

  @Override
  public Integer call() throws IOException {
    CommandLine line = Objects.requireNonNull(spec).commandLine();
    if (!SourceVersion.isName(name, SourceVersion.latest())) {
      throw new ParameterException(line, "\"" + name + "\" is no name of a package; use org.shop");
    }
    Path root = directory.toAbsolutePath().normalize();
    if (!isFree(root)) {
      throw new ParameterException(
          line, directory + " is not empty; name a directory that does not exist yet");
    }
    boolean both = maven == gradle;
    var values = values(root, both || maven);
    PrintWriter out = line.getOut();
    for (var file : files(both || maven, both || gradle).entrySet()) {
      Path made = root.resolve(file.getKey());
      Files.createDirectories(Objects.requireNonNull(made.getParent()));
      Files.writeString(made, filled(template(file.getValue()), values));
      out.println("  " + directory.resolve(file.getKey()));
    }
    out.println("It needs a JDK of version 25 or later: export JAVA_HOME=" + values.get("home"));
    out.println("next: cd " + quoted(directory.toString()) + " && " + values.get("test"));
    out.flush();
    return 0;
  }

  private static boolean isFree(Path root) throws IOException {
    if (!Files.exists(root)) return true;
    if (!Files.isDirectory(root)) return false;
    try (var present = Files.list(root)) {
      return present.findAny().isEmpty();
    }
  }

  /// The files of the project, and their templates.
  private Map<String, String> files(boolean ofMaven, boolean ofGradle) {
    String folder = name.replace('.', '/') + "/";
    Map<String, String> files = new LinkedHashMap<>();
    if (ofMaven) files.put("pom.xml", "pom.xml");
    if (ofGradle) {
      files.put("settings.gradle.kts", "settings.gradle.kts");
      files.put("build.gradle.kts", "build.gradle.kts");
    }
    files.put("src/main/java/" + folder + "Tickets.java", "Tickets.java");
    files.put("src/main/java/" + folder + "Main.java", "Main.java");
    files.put("src/test/java/" + folder + "TicketsTest.java", "TicketsTest.java");
    files.put("README.md", "README.md");
    files.put(".gitignore", "gitignore");
    return files;
  }

  private Map<String, String> values(Path root, boolean ofMaven) {
    String project =
        Objects.requireNonNullElse(root.getFileName(), Path.of(PACKAGE))
            .toString()
            .toLowerCase(Locale.ROOT)
            .replaceAll("[^a-z0-9.-]+", "-")
            .replaceAll("^[^a-z]+", "");
    if (project.isEmpty()) project = PACKAGE;
    String jar = (ofMaven ? "target/" : "build/libs/") + project + ".jar";
    Map<String, String> values = new LinkedHashMap<>();
    values.put("package", name);
    values.put("name", project);
    values.put("version", VERSION);
    values.put("jar", jar);
    String stoa = System.getProperty("stoa.command");
    values.put("stoa", stoa == null ? "./stoa" : quoted(stoa));
    values.put("home", stoa == null ? "/path/to/jdk" : "$(" + quoted(stoa) + " java-home)");
    values.put("test", ofMaven ? "mvn test" : "gradle test");
    values.put(
        "run", ofMaven ? "mvn -q -DskipTests package && java -jar " + jar : "gradle jar run");
    String url = "stoa://127.0.0.1:7400";
    values.put("there", ofMaven ? "java -jar " + jar + " " + url : "gradle run --args=" + url);
    return values;
  }

  /// Returns a path as a word of a shell.
  private static String quoted(String path) {
    return PLAIN.matcher(path).matches() ? path : "'" + path.replace("'", "'\\''") + "'";
  }

  private static String template(String name) throws IOException {
    String path = "project/" + name + ".txt";
    try (InputStream text = NewCommand.class.getResourceAsStream(path)) {
      if (text == null) throw new IOException("the template " + path + " is not there");
      return new String(text.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static String filled(String template, Map<String, String> values) {
    String text = template;
    for (var value : values.entrySet()) {
      text = text.replace("@" + value.getKey() + "@", value.getValue());
    }
    return text;
  }
}
