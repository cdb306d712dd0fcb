package stoa.tidy;

import java.nio.file.Path;
import java.util.List;

/// Finds types that a program gets by `import stoa.*` and that have the name of a type of the JDK's
/// most imported packages. A program that imports both by `*` does not compile.
final class ClashingNames {
  private static final Path API = Path.of("api/src/main/java/stoa");

  private static final List<String> IMPORTED =
      List.of(
          "java.lang",
          "java.io",
          "java.math",
          "java.net",
          "java.nio",
          "java.nio.file",
          "java.time",
          "java.util",
          "java.util.concurrent",
          "java.util.concurrent.atomic",
          "java.util.function",
          "java.util.stream");

  private ClashingNames() {}

  /// The clashes.
  static List<String> problems(Repository repository) {
    return repository.files(API, ".java").stream()
        .filter(file -> API.equals(file.getParent()))
        .map(file -> file.getFileName().toString().replace(".java", ""))
        .filter(name -> !name.contains("-"))
        .flatMap(name -> IMPORTED.stream().map(home -> home + "." + name))
        .filter(ClashingNames::exists)
        .map(name -> "import stoa.* clashes with " + name)
        .toList();
  }

  private static boolean exists(String name) {
    try {
      return Class.forName(name, false, null) != null;
    } catch (ClassNotFoundException none) {
      return false;
    }
  }
}
