package stoa.tidy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Finds links of documents that lead nowhere: relative ones in Markdown, to files and to headings,
/// mentions of a document in sources; and pages below `docs` that no other page leads to.
final class Links {
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)|^\\[[^]]+]:\\s+(\\S+)");
  private static final Pattern HEADING = Pattern.compile("^#{1,6}\\s+(.*?)\\s*#*$");
  private static final Pattern MENTION = Pattern.compile("\\bdocs/[\\w/.-]+?\\.md\\b");
  private static final Pattern REMOTE = Pattern.compile("^[a-z][a-z0-9+.-]*:.*");

  private Links() {}

  /// The links and mentions that lead nowhere.
  static List<String> problems(Repository repository) {
    var problems = new ArrayList<String>();
    var linked = new HashSet<Path>();
    for (Path page : repository.files(".md")) {
      for (String line : prose(repository.text(page))) {
        Matcher link = LINK.matcher(line.replaceAll("`[^`]*`", "``"));
        while (link.find()) {
          String target = Objects.requireNonNullElse(link.group(1), link.group(2));
          if (REMOTE.matcher(target).matches()) continue;
          if (!leadsSomewhere(repository, page, target)) {
            problems.add("%s links to %s, which is not there".formatted(page, target));
          }
          Path to = file(page, target);
          if (!to.equals(page)) linked.add(to);
        }
      }
    }
    for (Path page : repository.files(".md")) {
      if (page.startsWith("docs") && !linked.contains(page)) {
        problems.add("no page links to " + page);
      }
    }
    for (String ending : List.of(".java", ".xml")) {
      for (Path source : repository.files(ending)) {
        if (source.startsWith("tidy")) continue; // its samples mention what is not there
        Matcher mention = MENTION.matcher(repository.text(source));
        while (mention.find()) {
          if (!repository.has(Path.of(mention.group()))) {
            problems.add("%s mentions %s, which is not there".formatted(source, mention.group()));
          }
        }
      }
    }
    return problems;
  }

  private static boolean leadsSomewhere(Repository repository, Path page, String target) {
    int hash = target.indexOf('#');
    Path to = file(page, target);
    if (to.startsWith("..") || !repository.has(to)) return false;
    return hash < 0 || anchors(repository.text(to)).contains(target.substring(hash + 1));
  }

  /// The file that a link on a page leads to, without the heading.
  private static Path file(Path page, String target) {
    int hash = target.indexOf('#');
    String file = hash < 0 ? target : target.substring(0, hash);
    return file.isEmpty() ? page : page.resolveSibling(file).normalize();
  }

  /// The anchors that a page's headings get: in lower case, without punctuation, with hyphens for
  /// blanks, and with a number when they repeat.
  static Set<String> anchors(String page) {
    var anchors = new HashSet<String>();
    Map<String, Integer> seen = new HashMap<>();
    for (String line : prose(page)) {
      Matcher heading = HEADING.matcher(line);
      if (!heading.matches()) continue;
      String anchor =
          heading
              .group(1)
              .replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
              .toLowerCase(Locale.ROOT)
              .replaceAll("[^\\p{L}\\p{N} _-]", "")
              .replace(' ', '-');
      int before = seen.merge(anchor, 1, Integer::sum) - 1;
      anchors.add(before == 0 ? anchor : anchor + "-" + before);
    }
    return anchors;
  }

  /// The lines of a page that are not in a fenced block.
  private static List<String> prose(String page) {
    var lines = new ArrayList<String>();
    boolean fenced = false;
    for (String line : page.lines().toList()) {
      if (line.strip().startsWith("```")) {
        fenced = !fenced;
      } else if (!fenced) {
        lines.add(line);
      }
    }
    return lines;
  }
}
