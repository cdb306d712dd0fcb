package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/// Finds packages without a comment, and packages that NullAway does not check: neither their
/// module nor their `package-info.java` is `@NullMarked`.
final class NullMarks {
  private static final Path SOURCES = Path.of("src/main/java");
  private static final String MARK = "NullMarked";

  private NullMarks() {}

  /// The packages of all modules' sources.
  static List<String> problems(Repository repository) {
    var problems = new ArrayList<String>();
    for (Repository.Module module : repository.modules()) {
      Path sources = module.folder().resolve(SOURCES);
      if (!repository.has(sources)) continue;
      boolean isMarked = marks(repository, sources.resolve("module-info.java"));
      var packages = new TreeSet<Path>();
      for (Path file : repository.files(sources, ".java")) packages.add(file.getParent());
      packages.remove(sources);
      for (Path folder : packages) {
        Path info = folder.resolve("package-info.java");
        if (!repository.has(info)) problems.add(folder + " has no package-info.java");
        else if (!isMarked && !marks(repository, info)) problems.add(folder + " is not " + MARK);
      }
    }
    return problems;
  }

  private static boolean marks(Repository repository, Path info) {
    return repository.has(info) && repository.text(info).contains(MARK);
  }
}
