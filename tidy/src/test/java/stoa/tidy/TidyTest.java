package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.tidy.Purity.Edge;

/// This repository, under every check.
class TidyTest {
  /// The modules whose classes are pure but for their edges.
  private static final List<String> PURE =
      List.of("api", "base", "storage", "log", "store", "objects");

  /// The classes of those modules that may touch the world, and why.
  private static final List<Edge> EDGES = List.of();

  private final Repository repository = Repository.here();

  @Test
  void coresTouchNoClockThreadFileOrRandomness() throws IOException {
    var classes = new ArrayList<byte[]>();
    for (var module : repository.modules()) {
      if (PURE.contains(module.name())) classes.addAll(compiled(module));
    }
    assertTrue(classes.size() > PURE.size(), "found " + classes.size() + " classes; build first");
    none(Purity.problems(classes, EDGES));
  }

  @Test
  void modulesDependOnlyOnModulesBelowThem() {
    none(Arrows.problems(repository, Arrows.ALLOWED));
    none(Arrows.strays(repository));
  }

  @Test
  void linksOfDocumentsLeadSomewhere() {
    none(Links.problems(repository));
  }

  @Test
  void theModuleMapListsTheModules() {
    none(ModuleMap.problems(repository));
  }

  @Test
  void nothingNamesAMachineSleepsOrPromisesForLater() {
    none(Words.problems(repository));
  }

  @Test
  void thePublicInterfaceIsDocumented() {
    none(Documented.problems(repository));
  }

  private List<byte[]> compiled(Repository.Module module) throws IOException {
    Path classes = repository.root().resolve(module.folder()).resolve("target/classes");
    try (var files = Files.walk(classes)) {
      return files
          .filter(file -> file.toString().endsWith(".class"))
          .sorted()
          .map(file -> {
            try {
              return Files.readAllBytes(file);
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
          })
          .toList();
    }
  }

  private static void none(List<String> problems) {
    assertEquals("", String.join("\n", problems));
  }
}
