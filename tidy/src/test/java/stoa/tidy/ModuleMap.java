package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Compares the module map in `ARCHITECTURE.md` with the modules.
///
/// A row of the map is `| [name](folder) | sentence |`. The sentence is the first one of the
/// module's Javadoc in `module-info.java`, or the description in its `pom.xml` when it has none.
final class ModuleMap {
  private static final Path PAGE = Path.of("ARCHITECTURE.md");
  private static final Pattern ROW =
      Pattern.compile("^\\| \\[`?([\\w-]+)`?]\\(([\\w/-]+)\\) \\| (.*?) \\|$", Pattern.MULTILINE);
  private static final Pattern DESCRIPTION = Pattern.compile("<description>([^<]+)</description>");

  private ModuleMap() {}

  /// The differences.
  static List<String> problems(Repository repository) {
    var problems = new ArrayList<String>();
    Map<Path, String> rows = new LinkedHashMap<>();
    ROW.matcher(repository.text(PAGE))
        .results()
        .forEach(row -> rows.put(Path.of(row.group(2)), row.group(3)));
    var modules = new ArrayList<Path>();
    for (var module : repository.modules()) {
      modules.add(module.folder());
      String row = rows.get(module.folder());
      String sentence = sentence(repository, module.folder());
      if (!sentence.equals(row)) {
        problems.add(
            "the map in %s should say of %s: %s".formatted(PAGE, module.folder(), sentence));
      }
    }
    for (Path listed : rows.keySet()) {
      if (!modules.contains(listed)) {
        problems.add("the map in %s lists %s, which is no module".formatted(PAGE, listed));
      }
    }
    return problems;
  }

  private static String sentence(Repository repository, Path module) {
    Path info = module.resolve("src/main/java/module-info.java");
    if (repository.has(info)) return sentence(repository.text(info));
    Matcher description = DESCRIPTION.matcher(repository.text(module.resolve("pom.xml")));
    return description.find() ? description.group(1).strip() : "(its pom.xml needs a description)";
  }

  /// The first sentence of the Javadoc that a source begins with, its links as code.
  static String sentence(String source) {
    var text = new StringBuilder();
    for (String line : source.lines().toList()) {
      if (!line.startsWith("///")) break;
      String rest = line.substring(3).strip();
      if (rest.isEmpty()) break;
      text.append(text.isEmpty() ? "" : " ").append(rest);
    }
    int end = text.indexOf(". ");
    return (end < 0 ? text.toString() : text.substring(0, end + 1))
        .replaceAll("\\[#?([^]]+)]", "`$1`");
  }
}
