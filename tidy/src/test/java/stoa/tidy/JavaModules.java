package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Finds modules that a modular program cannot name.
///
/// A module that programs outside may use has a `module-info.java`. Where that cannot work, the
/// manifest of its jar has an `Automatic-Module-Name`, and a comment in its `pom.xml` says why:
/// without the name, the name of the jar's file would decide.
final class JavaModules {
  private static final Path INFO = Path.of("src/main/java/module-info.java");
  private static final Pattern AUTOMATIC =
      Pattern.compile("<Automatic-Module-Name>([^<]+)</Automatic-Module-Name>");
  private static final Pattern REASON =
      Pattern.compile("<!-- Without (module-info|a module descriptor): \\S[^>]*-->");

  private JavaModules() {}

  /// The modules without a name, and those without a reason.
  static List<String> problems(Repository repository) {
    var problems = new ArrayList<String>();
    for (var module : repository.modules()) {
      if (!repository.has(module.folder().resolve("src/main/java"))) continue;
      String pom = repository.text(module.folder().resolve("pom.xml"));
      if (pom.contains("<packaging>maven-plugin</packaging>")) continue; // no program requires it
      Matcher automatic = AUTOMATIC.matcher(pom);
      boolean isNamed = automatic.find();
      if (repository.has(module.folder().resolve(INFO))) {
        if (isNamed) {
          problems.add(module.name() + " has a module-info, and its manifest another name");
        }
        continue;
      }
      if (!REASON.matcher(pom).find()) {
        problems.add(
            module.name()
                + " has no module-info; write one, or say why in its pom.xml: <!-- Without"
                + " module-info: REASON -->");
      }
      if (isNamed) {
        Path home = Path.of("src/main/java", automatic.group(1).split("\\."));
        if (!repository.has(module.folder().resolve(home))) {
          problems.add(
              "%s is named %s in its manifest, and has no such package"
                  .formatted(module.name(), automatic.group(1)));
        }
      } else if (!pom.contains("<maven.install.skip>")) {
        problems.add(
            module.name()
                + " is for programs outside, and has neither a module-info nor an"
                + " Automatic-Module-Name in the manifest of its jar");
      }
    }
    return problems;
  }
}
