package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/// Finds tests and simulations that pages name as evidence and that do not exist.
final class Evidence {
  private static final List<Path> PAGES =
      List.of(Path.of("docs/guide/guarantees.md"), Path.of("docs/guide/security.md"));

  // The heads of the last columns with evidence.
  private static final Pattern SHOWN = Pattern.compile(".*\\| (shown by|what to do) \\|");
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
    for (Path page : PAGES) {
      boolean shows = false;
      for (String line : repository.text(page).lines().toList()) {
        shows = SHOWN.matcher(line).matches() || (shows && line.startsWith("|"));
        if (!shows || line.length() < 2) continue;
        String shown = line.substring(line.lastIndexOf('|', line.length() - 2));
        find(TEST, shown, classes, page + " names no test: ", problems);
        find(SIMULATION, shown, scenarios, page + " names no simulation: ", problems);
      }
    }
    return problems;
  }

  private static void find(
      Pattern named, String in, Set<String> existing, String problem, List<String> problems) {
    named
        .matcher(in)
        .results()
        .map(m -> m.group(1))
        .filter(name -> !existing.contains(name))
        .forEach(name -> problems.add(problem + name));
  }
}
