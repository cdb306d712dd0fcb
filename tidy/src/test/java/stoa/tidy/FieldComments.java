package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Finds comments on private fields in another form than the common one: sentences after `//` above
/// the field. A comment behind the field may name its lock, owner or unit, and a comment behind a
/// constant what its number stands for. Javadoc, `///`, is for types and methods.
final class FieldComments {
  private static final Pattern FIELD =
      Pattern.compile("^\\s+private (?!static final)[^(){}]*?(?:=.*)?;\\s*// (.*)$");

  private static final Pattern ANY_FIELD =
      Pattern.compile(
          "^\\s+private (?:static |final |volatile |transient )*[\\w@][\\w<>\\[\\], .?@]* \\w+"
              + "(?: =.*|;.*)$");

  private static final Pattern LOCK =
      Pattern.compile(
          "guarded by .*|(changed|changes|replaced|written|applied) (under|with|in) .*");
  private static final Pattern OWNER =
      Pattern.compile(
          "owned by .*|of the (\\w+ )?thread\\b.*|of the watch|the (leader|writer|putting"
              + " thread)'s\\b.*");
  private static final Pattern UNIT =
      Pattern.compile("by \\w+|(bytes|blocks|milliseconds|looks to skip)\\b.*");

  private FieldComments() {}

  /// The comments of all modules' sources.
  static List<String> problems(Repository repository) {
    var problems = new ArrayList<String>();
    for (Path file : repository.files(".java")) {
      if (!file.toString().contains("src/main/java")) continue;
      for (String comment : broken(repository.text(file))) {
        problems.add(
            "%s: %s: write it above the field, behind //".formatted(file.getFileName(), comment));
      }
    }
    return problems;
  }

  /// The comments of a source that break the rule.
  static List<String> broken(String source) {
    var broken = new ArrayList<String>();
    String before = "";
    for (String line : source.lines().toList()) {
      if (ANY_FIELD.matcher(line).matches() && before.startsWith("///")) broken.add(before);
      before = line.strip();
      Matcher field = FIELD.matcher(line);
      if (!field.matches()) continue;
      String comment = field.group(1);
      boolean fits =
          LOCK.matcher(comment).matches()
              || OWNER.matcher(comment).matches()
              || UNIT.matcher(comment).matches();
      if (!fits) broken.add(comment);
    }
    return broken;
  }
}
