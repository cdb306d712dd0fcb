package stoa.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;
import stoa.objects.CodeService;
import stoa.objects.CodeService.Finding;
import stoa.objects.CodeService.Kind;
import stoa.objects.CodeService.ReplayedCalls;
import stoa.programs.Words;

/// The effect that other classes would have on the objects of a store, of all its groups together.
/// One owner uses it.
final class CodeFindings {
  private final Map<String, Finding> byType = new LinkedHashMap<>();

  // By group.
  private final List<Set<String>> superfluous = new ArrayList<>();

  CodeFindings() {}

  /// Takes in what a group found.
  void add(CodeService.Result found) {
    for (Finding one : found.findings()) byType.merge(one.type(), one, CodeFindings::both);
    superfluous.add(found.superfluous());
  }

  /// Returns the accepted losses that a group does not have. The groups are those that were added,
  /// in their order.
  Set<String> superfluous(int group) {
    return superfluous.get(group);
  }

  /// Returns the accepted losses that no group has.
  private Set<String> superfluous() {
    var nowhere = new TreeSet<String>();
    superfluous.forEach(nowhere::addAll);
    superfluous.forEach(nowhere::retainAll);
    return nowhere;
  }

  private static Finding both(Finding one, Finding other) {
    return new Finding(
        one.type(),
        worse(one.kind(), other.kind()),
        one.objects() + other.objects(),
        one.unfit() + other.unfit(),
        one.reason().isEmpty() ? other.reason() : one.reason(),
        both(one.calls(), other.calls()));
  }

  private static ReplayedCalls both(ReplayedCalls one, ReplayedCalls other) {
    return new ReplayedCalls(
        one.compared() + other.compared(),
        one.different() + other.different(),
        one.first().isEmpty() ? other.first() : one.first());
  }

  /// The kinds are in this order: what one group alone has is what the store has.
  private static Kind worse(Kind one, Kind other) {
    return one.compareTo(other) >= 0 ? one : other;
  }

  /// Returns whether all classes fit, and every accepted loss is one.
  boolean fit() {
    return superfluous().isEmpty() && byType.values().stream().allMatch(Finding::fits);
  }

  /// Prints a line for each type, and for each accepted loss that is none.
  void print(PrintWriter out) {
    int width = byType.keySet().stream().mapToInt(String::length).max().orElse(1);
    byType
        .values()
        .forEach(finding -> {
          String type = finding.type();
          out.println(type + " ".repeat(width - type.length()) + "  " + words(finding));
        });
    for (String loss : superfluous()) out.println("REFUSED: " + words(loss));
    out.flush();
  }

  private static String words(String superfluous) {
    return "\"" + superfluous + "\" is accepted, and the classes do not lose it";
  }

  @Override
  public String toString() {
    var text = new StringJoiner("; ");
    byType.values().forEach(finding -> text.add(finding.type() + " " + words(finding)));
    superfluous().forEach(loss -> text.add(words(loss)));
    return text.toString();
  }

  private static String words(Finding finding) {
    String tried = Words.count(finding.objects(), "object");
    if (finding.kind() == Kind.REFUSED) return "REFUSED: " + finding.reason();
    if (finding.unfit() > 0) {
      return "REFUSED: %s of %s do not fit; the first is %s"
          .formatted(Words.count(finding.unfit()), tried, finding.reason());
    }
    return switch (finding.kind()) {
      case NEW -> "new";
      case ACTIVE -> "same";
      case CHANGED, REFUSED -> "changed: " + tried + " tried" + words(finding.calls());
    };
  }

  private static String words(ReplayedCalls calls) {
    if (calls.compared() == 0) return "";
    String compared = Words.count(calls.compared(), "call");
    if (calls.different() == 0) return "; " + compared + " replayed, which come to the same";
    return "; %d of %s replayed come to something else; the first is %s"
        .formatted(calls.different(), compared, calls.first());
  }
}
