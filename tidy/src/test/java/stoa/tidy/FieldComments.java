package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Finds comments behind private fields that say more than the field's lock, owner or unit. A
/// sentence above the field is the place for anything else.
///
/// A comment behind a constant may say what its number stands for.
final class FieldComments {
  private static final Pattern FIELD =
      Pattern.compile("^\\s+private (?!static final)[^(){}]*?(?:=.*)?;\\s*// (.*)$");

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
        problems.add("%s: // %s: write it above the field".formatted(file.getFileName(), comment));
      }
    }
    return problems;
  }

  /// The comments of a source that break the rule.
  static List<String> broken(String source) {
    var broken = new ArrayList<String>();
    for (String line : source.lines().toList()) {
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
