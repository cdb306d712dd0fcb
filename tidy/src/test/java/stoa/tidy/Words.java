package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// Finds text that does not belong in a repository: paths of one machine, promises for later, tests
/// that do not run, sleeping, and sentences of comments and pages that do not name their actor.
final class Words {
  private static final Map<Pattern, String> EVERYWHERE =
      Map.of(
          Pattern.compile("(?<![\\w.])/(home|Users|root|work)/\\w|\\b[A-Z]:\\\\\\w"),
          "names a path of one machine");

  private static final Map<Pattern, String> IN_JAVA = new LinkedHashMap<>();

  private static final Map<Pattern, String> IN_PRODUCT =
      Map.of(
          Pattern.compile(
              "^\\s*(///?|/?\\*) ?(.*[.;:] )?"
                  + "(What|Who|Whom|Whose|Whoever|Whence|Nobody|Somebody) [a-z]"
                  + "|\\b[Ww]hoever\\b"),
          "has a sentence without a noun; name the thing or the actor");

  private static final Map<Pattern, String> IN_PAGES =
      Map.of(
          Pattern.compile(
              "(^|[.;:] )(What|Who|Whom|Whose|Whoever|Nobody|Somebody) [a-z][^?.|]*[.:|,]"),
          "has a sentence without a noun; name the thing or the actor");

  static {
    IN_JAVA.put(
        Pattern.compile("\\bThread\\.sleep\\b|\\b(MILLI|MICRO|NANO)?SECONDS\\.sleep\\b"),
        "sleeps; wait for the event itself");
    IN_JAVA.put(Pattern.compile("\\b(TODO|FIXME|XXX)\\b"), "promises something for later");
    IN_JAVA.put(Pattern.compile("@(Disabled|Ignore)\\w*"), "has a test that does not run");
    IN_JAVA.put(Pattern.compile("\\.printStackTrace\\(\\)"), "swallows an error");
    IN_JAVA.put(Pattern.compile("^\\s*\\*?\\s*@author\\b"), "names an author");
  }

  private Words() {}

  /// Returns the lines with such text. It leaves out the sources of this module, which contain the
  /// patterns.
  static List<String> problems(Repository repository) {
    var problems = new ArrayList<String>();
    for (Path file : repository.files("")) {
      if (file.startsWith("tidy")) continue;
      boolean java = file.toString().endsWith(".java");
      boolean product = java && isMain(file);
      if (!java && !isText(file)) continue;
      int number = 0;
      for (String line : repository.text(file).lines().toList()) {
        number++;
        look(EVERYWHERE, file, number, line, problems);
        if (java) look(IN_JAVA, file, number, line, problems);
        if (product) look(IN_PRODUCT, file, number, line, problems);
        if (file.toString().endsWith(".md")) look(IN_PAGES, file, number, line, problems);
      }
    }
    return problems;
  }

  private static void look(
      Map<Pattern, String> patterns, Path file, int number, String line, List<String> problems) {
    patterns.forEach((pattern, problem) -> {
      if (pattern.matcher(line).find()) {
        problems.add("%s:%d %s: %s".formatted(file, number, problem, line.strip()));
      }
    });
  }

  private static boolean isMain(Path file) {
    for (int i = 1; i < file.getNameCount(); i++) {
      if (file.getName(i).toString().equals("main")) {
        return file.getName(i - 1).toString().equals("src");
      }
    }
    return false;
  }

  private static boolean isText(Path file) {
    String path = file.toString();
    return path.endsWith(".md")
        || path.endsWith(".xml")
        || path.endsWith(".properties")
        || path.endsWith(".config")
        || file.startsWith(".ci")
        || path.equals("stoa");
  }
}
