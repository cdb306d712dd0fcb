package stoa.objects;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Keep;

/// The rules of how much of the past a served store keeps. The store itself has the rules, so that
/// each later leader follows them. Thread-safe.
///
/// A rule is `all`, `versions=N` or `age=D`, for all types and streams, or with a type and `=` in
/// front of it for one, as in `bank.Account=versions=100`; [Keep#STREAMS] is the type of streams.
/// `D` is a number with `d`, `h`, `m` or `s` behind it.
///
/// The rules are a name in the dictionary; the last one holds.
///
/// ```
/// rules:  "keep ", how many rules there have been with these, " ", the rules, joined by " "
/// ```
public final class RetentionService {
  private static final Logger LOG = LoggerFactory.getLogger(RetentionService.class);
  private static final String KEEP = "keep ";
  private static final Pattern POLICY =
      Pattern.compile("(?:([^=\\s]+)=)?(all|versions=\\d{1,18}|age=\\d{1,9}[dhms])");
  private static final int RULES_MAX = 1_000;

  private final LocalService stoa;
  private final Keep configured;

  /// @param configured what holds while the store has no rules
  RetentionService(LocalService stoa, Keep configured) {
    this.stoa = stoa;
    this.configured = configured;
  }

  /// Reads rules.
  ///
  /// @throws IllegalArgumentException when one makes no sense
  public static Keep parse(List<String> rules) {
    Keep others = null;
    var types = new TreeMap<String, Keep>();
    if (rules.size() > RULES_MAX) {
      throw new IllegalArgumentException(rules.size() + " rules; the most are " + RULES_MAX);
    }
    for (String rule : rules) {
      Matcher matcher = POLICY.matcher(rule);
      if (!matcher.matches()) {
        throw new IllegalArgumentException(
            "\""
                + rule
                + "\" says no amount of the past; say all, versions=100, age=30d (or h, m, s), or one"
                + " of these for a type, as bank.Account=versions=100; "
                + Keep.STREAMS
                + " stands for streams");
      }
      String type = matcher.group(1);
      Keep policy = policy(matcher.group(2));
      Keep before = others;
      if (type == null) others = policy;
      else before = types.put(type, policy);
      if (before != null && (type == null || !before.equals(policy))) {
        throw new IllegalArgumentException(
            (type == null ? "all types have" : type + " has") + " two rules; give one");
      }
    }
    Keep rest = others == null ? Keep.all() : others;
    types.putIfAbsent(Keep.STREAMS, rest);
    return Keep.byType(rest, types);
  }

  private static Keep policy(String text) {
    if (text.equals("all")) return Keep.all();
    int value = text.indexOf('=') + 1;
    if (text.startsWith("versions")) return Keep.versions(Long.parseLong(text.substring(value)));
    long number = Long.parseLong(text.substring(value, text.length() - 1));
    return Keep.age(
        switch (text.charAt(text.length() - 1)) {
          case 'd' -> Duration.ofDays(number);
          case 'h' -> Duration.ofHours(number);
          case 'm' -> Duration.ofMinutes(number);
          default -> Duration.ofSeconds(number);
        });
  }

  /// Writes rules; [#parse] reads them.
  public static List<String> text(Keep keep) {
    var rules = new ArrayList<String>();
    if (keep instanceof Keep.ByType(Keep others, var types)) {
      rules.add(word(others));
      new TreeMap<>(types).forEach((type, policy) -> rules.add(type + "=" + word(policy)));
    } else {
      rules.add(word(keep));
      rules.add(Keep.STREAMS + "=all");
    }
    return rules;
  }

  private static String word(Keep policy) {
    return switch (policy) {
      case Keep.All() -> "all";
      case Keep.Versions(long count) -> "versions=" + count;
      case Keep.Age(Duration age) -> {
        long seconds = age.toSeconds();
        if (seconds % 86_400 == 0) yield "age=" + seconds / 86_400 + "d";
        if (seconds % 3_600 == 0) yield "age=" + seconds / 3_600 + "h";
        yield seconds % 60 == 0 ? "age=" + seconds / 60 + "m" : "age=" + seconds + "s";
      }
      case Keep.ByType both -> throw new IllegalArgumentException(both + " is of no single type");
    };
  }

  /// The rules that hold.
  public List<String> rules() {
    List<String> stored = stored();
    return text(stored.isEmpty() ? configured : parse(stored));
  }

  private List<String> stored() {
    List<String> all = stoa.dictionary().after(KEEP);
    if (all.isEmpty()) return List.of();
    String last = all.getLast();
    return List.of(last.substring(last.indexOf(' ') + 1).split(" ", -1));
  }

  /// Has the store go by the rules that it has. Quick.
  public void resume() {
    List<String> stored = stored();
    if (stored.isEmpty()) return;
    Keep kept = parse(stored);
    stoa.core().keep(kept);
    if (configured instanceof Keep.ByType && !text(configured).equals(text(kept))) {
      LOG.warn(
          "the store keeps {}, and not {} as --keep says; ./stoa keep changes it",
          String.join(" ", text(kept)),
          String.join(" ", text(configured)));
    }
  }

  /// Gives a store without rules those that it was opened with, if it was. Waits for the disk.
  public void adopt() {
    if (configured instanceof Keep.ByType && stored().isEmpty()) keep(configured);
  }

  /// Has the store go by other rules. Waits for the disk.
  ///
  /// @throws IllegalArgumentException when one makes no sense
  public void change(List<String> rules) {
    keep(parse(rules));
  }

  private synchronized void keep(Keep policy) {
    String text = String.join(" ", text(policy));
    if (!text.equals(String.join(" ", stored()))) {
      int turn = stoa.dictionary().after(KEEP).size() + 1;
      var _ = stoa.dictionary().idOf(KEEP + turn + " " + text);
    }
    stoa.core().keep(policy);
  }
}
