package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// Finds packages of a module that import each other, directly or through other packages.
final class Cycles {
  private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
  private static final Pattern IMPORT =
      Pattern.compile("(?m)^import (?:static )?([a-z][\\w.]*?)\\.[A-Z]");

  /// A package whose providers name what they provide, as `java.nio.file.spi` names
  /// `java.nio.file`.
  private static final String PROVIDERS = "stoa.spi";

  private Cycles() {}

  /// The cycles of all modules, each as the shortest way from a package back to itself. Imports of
  /// the package of providers do not count.
  static List<String> problems(Repository repository) {
    return repository.modules().stream()
        .flatMap(module -> problems(module.name(), imports(repository, module)).stream())
        .toList();
  }

  private static List<String> problems(String module, Map<String, Set<String>> imports) {
    var problems = new ArrayList<String>();
    var told = new TreeSet<String>();
    for (String start : imports.keySet()) {
      List<String> cycle = cycle(start, imports);
      if (told.addAll(cycle)) {
        problems.add(
            "packages of %s import each other: %s".formatted(module, String.join(" -> ", cycle)));
      }
    }
    return problems;
  }

  /// The shortest way from a package back to itself; empty if there is none.
  private static List<String> cycle(String start, Map<String, Set<String>> imports) {
    var cameFrom = new TreeMap<String, String>();
    var next = new ArrayList<>(List.of(start));
    for (int i = 0; i < next.size(); i++) {
      for (String target : imports.getOrDefault(next.get(i), Set.of())) {
        if (cameFrom.putIfAbsent(target, next.get(i)) == null) next.add(target);
        if (target.equals(start)) return way(start, cameFrom);
      }
    }
    return List.of();
  }

  private static List<String> way(String start, Map<String, String> cameFrom) {
    var way = new ArrayList<>(List.of(start));
    for (String at = cameFrom.get(start); !start.equals(at); at = cameFrom.get(at)) way.add(1, at);
    way.add(start);
    return way;
  }

  /// Which of its own packages each package of a module imports.
  private static Map<String, Set<String>> imports(Repository repository, Repository.Module module) {
    Path sources = module.folder().resolve("src/main/java");
    Map<String, Set<String>> imports = new TreeMap<>();
    if (!repository.has(sources)) return imports;
    for (Path file : repository.files(sources, ".java")) {
      String text = repository.text(file);
      var declared = PACKAGE.matcher(text);
      if (!declared.find()) continue;
      Set<String> targets = imports.computeIfAbsent(declared.group(1), _ -> new TreeSet<>());
      IMPORT.matcher(text).results().forEach(found -> targets.add(found.group(1)));
    }
    imports.forEach((name, targets) -> {
      targets.retainAll(imports.keySet());
      targets.remove(name);
      targets.remove(PROVIDERS);
    });
    return imports;
  }
}
