package stoa.indexes;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import stoa.Condition;
import stoa.front.types.IndexedMember;

/// Chooses the index by which a query is answered. Immutable.
///
/// @param type the name under which the indexes are kept
/// @param indexes one at least
/// @param tests all of which hold
record Planner(String type, List<IndexedMember> indexes, List<Test> tests) {
  /// The ranges of an index in which the objects are.
  ///
  /// @param used the tests that they decide
  private record Path(IndexedMember member, List<Span> spans, List<Test> used) {
    int rank() {
      int rank = 0;
      for (Span span : spans) rank = Math.max(rank, span.rank());
      return rank;
    }
  }

  /// Returns the way to an answer.
  ///
  /// @param ordered what the rows are ordered by; null for the index
  Plan plan(@Nullable IndexedMember ordered, Plan.Window part, Plan.Result result, String shown) {
    Path best = null;
    for (IndexedMember member : indexes) {
      Path path = path(member);
      boolean isBetter =
          best == null
              || path.rank() < best.rank()
              || (path.rank() == best.rank() && isOrder(path, ordered) && !isOrder(best, ordered));
      if (isBetter) best = path;
    }
    Path chosen = Objects.requireNonNull(best, "the class has an index");
    var rest = new ArrayList<>(tests);
    rest.removeAll(chosen.used);
    return new Plan(
        type,
        chosen.member.id(),
        chosen.spans,
        rest.isEmpty() ? Test.TRUE : new Test.All(List.copyOf(rest)),
        ordered == null || isOrder(chosen, ordered) ? "" : ordered.name(),
        part,
        result,
        shown);
  }

  private static boolean isOrder(Path path, @Nullable IndexedMember ordered) {
    return ordered != null && path.member.name().equals(ordered.name());
  }

  private Path path(IndexedMember member) {
    var used = new ArrayList<Test>();
    Span span = Span.ALL;
    List<Span> points = null;
    for (Test test : tests) {
      if (test instanceof Test.Of of && of.member().equals(member.name())) {
        span = span.and(Span.of(of.comparison(), of.value()));
        used.add(test);
      } else if (points == null && test instanceof Test.Any any) {
        points = points(member, any);
        if (points != null) used.add(test);
      }
    }
    if (points == null) return new Path(member, List.of(span), used);
    var within = new ArrayList<Span>();
    for (Span point : points) {
      String value = Objects.requireNonNull(point.point());
      boolean isIn =
          (span.from() == null || value.compareTo(span.from()) >= 0)
              && (span.to() == null || value.compareTo(span.to()) < 0);
      if (isIn) within.add(point);
    }
    return new Path(member, within, used);
  }

  /// Returns the values of which a test asks for one; null when it asks for something else.
  private static @Nullable List<Span> points(IndexedMember member, Test.Any any) {
    var points = new LinkedHashSet<Span>();
    for (Test test : any.tests()) {
      boolean isPoint =
          test instanceof Test.Of of
              && of.member().equals(member.name())
              && of.comparison() == Condition.Comparison.EQUAL;
      if (!isPoint) return null;
      points.add(Span.of(Condition.Comparison.EQUAL, ((Test.Of) test).value()));
    }
    return List.copyOf(points);
  }

  // ---- words

  /// Returns a plan as a text for people.
  ///
  /// @param what the word for what is found
  /// @param incomplete the ids of the indexes that lack some
  static String explained(Plan plan, String what, List<String> incomplete) {
    var text = new StringBuilder(plan.type()).append(" by its ").append(plan.index());
    int rank = 0;
    for (Span span : plan.spans()) rank = Math.max(rank, span.rank());
    String all = what.equals("entry") ? "entries" : "objects";
    text.append(
        switch (rank) {
          case 0 -> ": " + plan.spans().size() + (plan.spans().size() == 1 ? " value" : " values");
          case 1, 2 -> ": a range of values in " + InstalledIndexes.PARTS + " parts";
          default -> ": all " + all + ", in " + InstalledIndexes.PARTS + " parts";
        });
    var members = new LinkedHashSet<String>();
    plan.rest().addMembers(members);
    if (!members.isEmpty()) {
      text.append("; compares ").append(shown(members)).append(" in each ").append(what);
    }
    if (!plan.order().isEmpty()) text.append("; sorts by ").append(shown(List.of(plan.order())));
    if (!incomplete.isEmpty()) {
      text.append("; the first answer enters existing ").append(all).append(" in ");
      text.append(incomplete);
    }
    return text.toString();
  }

  private static String shown(Collection<String> members) {
    var names = new StringJoiner(", ");
    for (String member : members) {
      String id = IndexedMember.idIn(member);
      names.add(id == null ? member : id);
    }
    return names.toString();
  }
}
