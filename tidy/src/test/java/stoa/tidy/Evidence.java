package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/// Finds tests and simulations that a page names as evidence and that do not exist.
final class Evidence {
  private static final Path PAGE = Path.of("docs/guide/guarantees.md");
  private static final Pattern TEST = Pattern.compile("`([A-Z]\\w*Test)`");
  private static final Pattern SIMULATION = Pattern.compile("`([a-z]+(?:-[a-z]+)*)`");
  private static final Pattern TEXT = Pattern.compile("\"([a-z]+(?:-[a-z]+)*)\"");

  private Evidence() {}

  static List<String> problems(Repository repository) {
    Set<String> classes = new HashSet<>();
    Set<String> scenarios = new HashSet<>();
    for (Path file : repository.files(".java")) {
      String name = file.getFileName().toString();
      classes.add(name.substring(0, name.length() - ".java".length()));
      if (!name.endsWith("Scenario.java") && !name.equals("Scenarios.java")) continue;
      TEXT.matcher(repository.text(file)).results().forEach(m -> scenarios.add(m.group(1)));
    }
    var problems = new ArrayList<String>();
    repository
        .text(PAGE)
        .lines()
        .filter(line -> line.startsWith("| "))
        .forEach(line -> {
          String shown = line.substring(line.lastIndexOf('|', line.length() - 2));
          TEST.matcher(shown)
              .results()
              .map(m -> m.group(1))
              .filter(test -> !classes.contains(test))
              .forEach(test -> problems.add(PAGE + " names no test: " + test));
          SIMULATION
              .matcher(shown)
              .results()
              .map(m -> m.group(1))
              .filter(scenario -> !scenarios.contains(scenario))
              .forEach(scenario -> problems.add(PAGE + " names no simulation: " + scenario));
        });
    return problems;
  }
}
