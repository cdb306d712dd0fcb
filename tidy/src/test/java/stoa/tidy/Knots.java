package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// Finds the largest set of files of a module that all use each other, directly or through others
/// of the set. Such a set can only be read, tested and moved as a whole.
final class Knots {
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
  private static final Pattern IMPORT =
      Pattern.compile("(?m)^import (?:static )?([\\w.]+?)(?:\\.\\*)?;");
  private static final Pattern HEAD = Pattern.compile("(?m)^(?:import|package) .*$");
  private static final Pattern NO_CODE =
      Pattern.compile(
          "\"\"\"[\\s\\S]*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\])*'"
              + "|/\\*[\\s\\S]*?\\*/|//[^\\n]*");
  private static final Pattern NAME = Pattern.compile("(?<![\\w.])[A-Z]\\w*");
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| `?([\\w-]+)`? \\|.*?\\| (\\d+) \\|$");

  /// The page whose table has the sizes, in its last column.
  private static final Path PAGE = Path.of("docs/decisions/modules.md");

  // The largest set that a module may have without a row in the table.
  private static final int SMALL = 3;

  private Knots() {}

  /// The modules whose largest set is not as the table says: it may grow only if somebody decides
  /// that it may.
  static List<String> problems(Repository repository) {
    var listed = new HashMap<String, Integer>();
    ROW.matcher(repository.text(PAGE))
        .results()
        .forEach(row -> listed.put(row.group(1), Integer.valueOf(row.group(2))));
    var problems = new ArrayList<String>();
    for (Repository.Module module : repository.modules()) {
      Integer known = listed.get(module.name());
      Set<String> found = largest(uses(repository, module));
      if (known == null ? found.size() <= SMALL : found.size() == known) continue;
      problems.add(
          "%d files of %s use each other, and %s lists %s: %s"
              .formatted(found.size(), module.name(), PAGE, known, String.join(", ", found)));
    }
    return problems;
  }

  /// The files that each file of a module uses, by the names of their classes.
  private static Map<String, Set<String>> uses(Repository repository, Repository.Module module) {
    Path sources = module.folder().resolve("src/main/java");
    var texts = new TreeMap<String, String>();
    if (!repository.has(sources)) return Map.of();
    for (Path file : repository.files(sources, ".java")) {
      String text = NO_CODE.matcher(repository.text(file)).replaceAll("");
      String name = file.getFileName().toString().replace(".java", "");
      var declared = PACKAGE.matcher(text);
      if (!declared.find() || name.contains("-")) continue;
      texts.put(declared.group(1) + "." + name, text);
    }
    var uses = new TreeMap<String, Set<String>>();
    texts.forEach((name, text) -> uses.put(name, uses(name, text, texts.keySet())));
    return uses;
  }

  private static Set<String> uses(String name, String text, Set<String> all) {
    var visible = new HashMap<String, String>();
    String home = home(name);
    for (String other : all) if (home(other).equals(home)) visible.put(simple(other), other);
    IMPORT
        .matcher(text)
        .results()
        .map(found -> found.group(1))
        .forEach(imported -> {
          for (String other : all) {
            boolean isIn = home(other).equals(imported);
            if (isIn || imported.equals(other) || imported.startsWith(other + ".")) {
              visible.put(simple(other), other);
            }
          }
        });
    var used = new TreeSet<String>();
    NAME.matcher(HEAD.matcher(text).replaceAll(""))
        .results()
        .map(found -> visible.get(found.group()))
        .filter(other -> other != null && !other.equals(name))
        .forEach(used::add);
    return used;
  }

  private static String home(String name) {
    return name.substring(0, name.lastIndexOf('.'));
  }

  private static String simple(String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }

  /// The largest set of which each uses all others, directly or through others.
  private static Set<String> largest(Map<String, Set<String>> uses) {
    var usedBy = new HashMap<String, Set<String>>();
    uses.forEach((name, targets) ->
        targets.forEach(target -> usedBy.computeIfAbsent(target, _ -> new HashSet<>()).add(name)));
    Set<String> largest = Set.of();
    var seen = new HashSet<String>();
    for (String start : uses.keySet()) {
      if (seen.contains(start)) continue;
      var together = reach(start, uses);
      together.retainAll(reach(start, usedBy));
      seen.addAll(together);
      if (together.size() > largest.size()) largest = together;
    }
    return largest;
  }

  private static Set<String> reach(String start, Map<String, Set<String>> uses) {
    var reached = new TreeSet<>(Set.of(start));
    var open = new ArrayDeque<>(reached);
    for (String next; (next = open.poll()) != null; ) {
      for (String target : uses.getOrDefault(next, Set.of())) {
        if (reached.add(target)) open.add(target);
      }
    }
    return reached;
  }
}
