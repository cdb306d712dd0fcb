package stoa.tidy;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/// Compares the page about the JDK's tests of its coordination classes with the names of these
/// tests, and with the tests of this repository.
final class Conformance {
  private static final Path PAGE = Path.of("docs/conformance.md");
  private static final Set<String> REASONS =
      Set.of(
          "thread",
          "condition",
          "interrupt",
          "function",
          "memory mode",
          "serialization",
          "text",
          "absent");
  private static final Pattern TESTS =
      Pattern.compile("`\\w+Test\\.\\w+`(, `\\w+Test\\.\\w+`)*(, differs)?");
  private static final Pattern TEST = Pattern.compile("`(\\w+Test\\.\\w+)`");
  private static final Pattern METHOD =
      Pattern.compile("@Test\\s+(?:@.*\\s+)?(?:public )?void (\\w+)\\(");
  private static final String FAIR = " (+fair)";

  private Conformance() {}

  /// Returns the JDK's tests: a line for each class, with its methods.
  static List<String> ofTheJdk() {
    try (InputStream in = Conformance.class.getResourceAsStream("jdk-tests.txt")) {
      byte[] text = Objects.requireNonNull(in, "jdk-tests.txt is missing").readAllBytes();
      return new String(text, StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// @param ofTheJdk as [#ofTheJdk] returns them
  static List<String> problems(Repository repository, List<String> ofTheJdk) {
    var missing = new LinkedHashSet<String>();
    for (String line : ofTheJdk) {
      String[] words = line.split(":? ", -1);
      for (int i = 1; i < words.length; i++) missing.add(words[0] + "." + words[i]);
    }
    var named = new HashSet<String>();
    var problems = new ArrayList<String>();
    String section = "";
    for (String line : repository.text(PAGE).lines().toList()) {
      if (line.startsWith("## ")) section = line.substring("## ".length());
      if (section.isEmpty() || !line.startsWith("| test") || line.startsWith("| tests ")) continue;
      String[] cells = line.substring(2, line.length() - 2).split(" \\| ", -1);
      for (String name : cells[0].split(", ", -1)) {
        String first = name.replace(FAIR, "");
        take(section + "." + first, missing, problems);
        if (name.endsWith(FAIR)) take(section + "." + first + "_fair", missing, problems);
      }
      if (TESTS.matcher(cells[1]).matches()) {
        TEST.matcher(cells[1]).results().forEach(m -> named.add(m.group(1)));
      } else if (!REASONS.contains(cells[1])) {
        problems.add(PAGE + " has neither tests nor a reason: " + cells[1]);
      }
    }
    for (String name : missing) problems.add(PAGE + " has no row for " + name);
    Set<String> existing = tests(repository, named);
    named.stream()
        .filter(name -> !existing.contains(name))
        .sorted()
        .forEach(name -> problems.add(PAGE + " names no test: " + name));
    return problems;
  }

  private static void take(String name, Set<String> missing, List<String> problems) {
    if (!missing.remove(name)) problems.add(PAGE + " names no test of the JDK, or twice: " + name);
  }

  /// Returns the test methods of those classes that some names have.
  private static Set<String> tests(Repository repository, Set<String> named) {
    var classes = new HashSet<String>();
    for (String name : named) classes.add(name.substring(0, name.indexOf('.')));
    var found = new HashSet<String>();
    for (Path file : repository.files("Test.java")) {
      String name = file.getFileName().toString().replace(".java", "");
      if (!classes.contains(name)) continue;
      METHOD
          .matcher(repository.text(file))
          .results()
          .forEach(m -> found.add(name + "." + m.group(1)));
    }
    return found;
  }
}
