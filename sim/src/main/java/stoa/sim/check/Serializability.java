package stoa.sim.check;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.sim.check.DependencyGraph.Edge;
import stoa.sim.check.DependencyGraph.Why;
import stoa.sim.check.TransactionHistory.Action;
import stoa.sim.check.TransactionHistory.Outcome;
import stoa.sim.check.TransactionHistory.Recorded;

/// Decides whether transactions over append-only lists are strictly serializable: whether they have
/// an order that explains all their reads, and in which a transaction that ended before another
/// began comes first. The reads of aborted or unknown transactions must fit into that order too
/// (opacity).
///
/// No search is needed: a list shows the order of its writes, so the reads determine which
/// transaction must precede which [1, 2], and an order exists iff there is no cycle. The cost is
/// linear in the size of the history, up to the sorting of times. A check that exceeds its steps
/// has failed. Pure and stateless; safe for any number of threads.
///
/// ```java
/// Serializability.require(history.transactions());
/// ```
public final class Serializability {
  /*
   * (1) The order of a list is the longest list read; every list read is a prefix of it.
   * (2) Elements that no transaction has read come after it: were one of them before the last
   *     element read, it would have been read. So a transaction that read the longest list precedes
   *     those that wrote these elements.
   * (3) A transaction of unknown outcome happened iff another one read its writes. If none did, the
   *     check takes it for one that only read: that restrains the others least.
   * (4) The check takes aborted transactions for ones that only read.
   *
   * [1] A. Adya. Weak consistency: a generalized theory and optimistic implementations. 1999. [2]
   * K. Kingsbury, P. Alvaro. Elle: inferring isolation anomalies from experimental observations.
   * 2020.
   */

  /// The steps that [#check(List)] and [#require] allow.
  public static final long STEPS_MAX = 50_000_000;

  private static final int VIOLATIONS_MAX = 20;
  // The most edges of a printed cycle.
  private static final int EDGES_SHOWN_MAX = 30;

  private Serializability() {}

  /// The kinds of violations, in the terms of [1].
  public enum Anomaly {
    /// A transaction does not see its own writes, or sees two states of a list.
    INTERNAL,
    /// A transaction read an element that none appended.
    FOREIGN,
    /// An element is in a list twice.
    DUPLICATE,
    /// A transaction did not read an element of one that had committed before.
    LOST,
    /// Two lists were read of which neither begins with the other.
    INCOMPATIBLE,
    /// Writes of several transactions are interleaved in a circle.
    G0,
    /// A transaction read an element of an aborted transaction.
    G1A,
    /// A transaction read a state that existed only within another one.
    G1B,
    /// A circle of reads from each other and of writes.
    G1C,
    /// A circle in which one transaction did not see another: a read skew or a lost update.
    G_SINGLE,
    /// A circle in which several did not see each other: a write skew.
    G2,
    /// A circle that real time closes: a transaction saw a write too late or too early.
    REAL_TIME,
    /// The check gave up; it has checked nothing.
    UNDECIDED
  }

  /// One violation.
  ///
  /// @param anomaly its kind
  /// @param text the reads; for a circle, its transactions in order, with their actions
  public record Violation(Anomaly anomaly, String text) {
    @Override
    public String toString() {
      return anomaly + ": " + text;
    }
  }

  /// Returns the violations of a history; empty when it is strictly serializable. The list may be
  /// incomplete, and has the simplest kind of circle first.
  ///
  /// @throws IllegalArgumentException when an element is appended to a list twice
  public static List<Violation> check(List<Recorded> history) {
    return check(history, STEPS_MAX);
  }

  /// Returns the violations of a history that a limited number of steps finds.
  ///
  /// @param stepsMax the most edges between transactions to examine
  public static List<Violation> check(List<Recorded> history, long stepsMax) {
    return new Checking(history, stepsMax).run();
  }

  /// Throws unless the history is strictly serializable.
  ///
  /// @throws AssertionError with the violations
  public static void require(List<Recorded> history) {
    var violations = check(history);
    if (violations.isEmpty()) return;
    var text = new StringBuilder("not strictly serializable:");
    for (var violation : violations) text.append("\n  ").append(violation);
    throw new AssertionError(text.toString());
  }

  /// An append: its transaction, and whether it is that transaction's last to the list.
  private record Write(int by, boolean last) {}

  /// The elements that a transaction found in a list, without its own appends.
  private record Found(int by, List<String> elements) {}

  private static final class Checking {
    private final List<Recorded> history;
    private final Map<String, Map<String, Write>> writes = new LinkedHashMap<>();
    private final Map<String, List<Found>> reads = new LinkedHashMap<>();
    private final Map<String, List<String>> orders = new HashMap<>();
    private final BitSet happened = new BitSet();
    private final List<Violation> violations = new ArrayList<>();
    private final DependencyGraph graph;
    // Transactions of circles in the report.
    private final BitSet reported = new BitSet();

    Checking(List<Recorded> history, long stepsMax) {
      this.history = history;
      graph = new DependencyGraph(history.size(), stepsMax);
    }

    List<Violation> run() {
      for (int i = 0; i < history.size(); i++) write(i);
      for (int i = 0; i < history.size(); i++) read(i);
      reads.forEach(this::order);
      for (int i = 0; i < history.size(); i++) {
        if (history.get(i).outcome() == Outcome.COMMITTED) happened.set(i);
      }
      orders.forEach((key, order) -> {
        for (String element : order) {
          int by = write(key, element).by();
          if (history.get(by).outcome() == Outcome.UNKNOWN) happened.set(by);
        }
      });
      writes.keySet().forEach(this::edges);
      times();
      cycles();
      if (graph.exhausted()) {
        report(Anomaly.UNDECIDED, "the steps did not suffice for " + history.size());
      }
      return violations;
    }

    private void report(Anomaly anomaly, String text) {
      if (violations.size() < VIOLATIONS_MAX) violations.add(new Violation(anomaly, text));
    }

    // ---- writes and reads

    private void write(int index) {
      Map<String, String> last = new HashMap<>();
      for (Action action : history.get(index).actions()) {
        if (action instanceof Action.Append(String key, String element)) last.put(key, element);
      }
      for (Action action : history.get(index).actions()) {
        if (!(action instanceof Action.Append(String key, String element))) continue;
        var before =
            writes
                .computeIfAbsent(key, _ -> new LinkedHashMap<>())
                .put(element, new Write(index, element.equals(last.get(key))));
        if (before == null) continue;
        throw new IllegalArgumentException(
            "%s is appended to %s by %s and %s; elements must be used once"
                .formatted(element, key, history.get(before.by()).name(), name(index)));
      }
    }

    private String name(int index) {
      return history.get(index).name();
    }

    private void read(int index) {
      Map<String, List<String>> own = new HashMap<>();
      Map<String, List<String>> found = new LinkedHashMap<>();
      for (Action action : history.get(index).actions()) {
        var mine = own.computeIfAbsent(action.key(), _ -> new ArrayList<>());
        switch (action) {
          case Action.Append(_, String element) -> mine.add(element);
          case Action.Read(String key, List<String> elements) -> {
            int rest = elements.size() - mine.size();
            if (rest < 0 || !elements.subList(rest, elements.size()).equals(mine)) {
              report(Anomaly.INTERNAL, key + " lacks what was appended before: " + text(index));
              continue;
            }
            var others = elements.subList(0, rest);
            var before = found.putIfAbsent(key, others);
            if (before != null && !before.equals(others)) {
              report(Anomaly.INTERNAL, key + " was seen in two states: " + text(index));
            }
          }
        }
      }
      found.forEach((key, elements) ->
          reads.computeIfAbsent(key, _ -> new ArrayList<>()).add(new Found(index, elements)));
    }

    private String text(int index) {
      return history.get(index).toString();
    }

    /// Finds the order of a list by (1), unless the reads contradict each other.
    private void order(String key, List<Found> founds) {
      List<String> longest = List.of();
      for (var found : founds) {
        if (found.elements().size() > longest.size()) longest = found.elements();
      }
      boolean sound = true;
      Set<String> elements = new HashSet<>();
      for (var found : founds) {
        sound &= sensible(key, found);
        if (longest.subList(0, found.elements().size()).equals(found.elements())) continue;
        sound = false;
        report(
            Anomaly.INCOMPATIBLE,
            "%s was read as %s by %s and as %s"
                .formatted(key, found.elements(), name(found.by()), longest));
      }
      for (String element : longest) {
        if (elements.add(element)) continue;
        sound = false;
        report(Anomaly.DUPLICATE, "%s is twice in %s: %s".formatted(element, key, longest));
      }
      if (sound) orders.put(key, longest);
    }

    private boolean sensible(String key, Found found) {
      var all = writes.getOrDefault(key, Map.of());
      boolean sound = true;
      for (int i = 0; i < found.elements().size(); i++) {
        String element = found.elements().get(i);
        Write write = all.get(element);
        if (write == null) {
          report(Anomaly.FOREIGN, "nobody appended %s to %s: ".formatted(element, key) + by(found));
          sound = false;
        } else if (write.by() == found.by()) {
          report(Anomaly.INTERNAL, element + " was read before it was appended: " + by(found));
          sound = false;
        } else if (history.get(write.by()).outcome() == Outcome.ABORTED) {
          report(Anomaly.G1A, element + " was read, of " + text(write.by()) + ", by " + by(found));
          sound = false;
        } else if (i == found.elements().size() - 1 && !write.last()) {
          report(Anomaly.G1B, element + " was read, of " + text(write.by()) + ", by " + by(found));
        }
      }
      return sound;
    }

    private String by(Found found) {
      return text(found.by());
    }

    private Write write(String key, String element) {
      return Objects.requireNonNull(writes.getOrDefault(key, Map.of()).get(element));
    }

    // ---- precedence

    private void edges(String key) {
      List<Found> founds = reads.getOrDefault(key, List.of());
      List<String> order = orders.get(key);
      if (order == null && !founds.isEmpty()) return;
      if (order == null) order = List.of();
      int[] writers = order.stream().mapToInt(element -> write(key, element).by()).toArray();
      for (int i = 1; i < writers.length; i++) graph.edge(writers[i - 1], writers[i], Why.WW, key);

      BitSet unseen = unseen(key, order, founds);
      int after = graph.node();
      if (writers.length > 0) graph.edge(writers[writers.length - 1], after, Why.WW, key);
      unseen.stream().forEach(writer -> graph.edge(after, writer, Why.WW, key));

      int direct = 0;
      for (var found : founds) {
        int length = found.elements().size();
        if (length > 0) graph.edge(writers[length - 1], found.by(), Why.WR, key);
        if (length < writers.length) {
          graph.edge(found.by(), writers[length], Why.RW, key);
        } else if (!unseen.get(found.by())) {
          graph.edge(found.by(), after, Why.RW, key);
        } else if (direct++ < 3) {
          // It wrote one of those itself. A second such transaction makes a circle already.
          unseen.stream().forEach(writer -> graph.edge(found.by(), writer, Why.RW, key));
        }
      }
    }

    /// Returns the transactions that happened and wrote elements that none has read.
    private BitSet unseen(String key, List<String> order, List<Found> founds) {
      var seen = new HashSet<>(order);
      var unseen = new BitSet();
      @Nullable Found last = null;
      for (var found : founds) {
        if (last == null || began(found) > began(last)) last = found;
      }
      for (var entry : writes.getOrDefault(key, Map.of()).entrySet()) {
        int by = entry.getValue().by();
        if (seen.contains(entry.getKey()) || !happened.get(by)) continue;
        unseen.set(by);
        if (last != null && history.get(by).ended() < began(last)) {
          report(
              Anomaly.LOST,
              "%s of %s is not in %s, read by %s"
                  .formatted(entry.getKey(), text(by), last.elements(), text(last.by())));
        }
      }
      return unseen;
    }

    private long began(Found found) {
      return history.get(found.by()).began();
    }

    /// Adds a chain of moments: a transaction that ended precedes the moment; one that begins later
    /// follows it.
    private void times() {
      var byEnd = new ArrayList<Integer>();
      for (int i = 0; i < history.size(); i++) {
        if (history.get(i).ended() != Long.MAX_VALUE) byEnd.add(i);
      }
      byEnd.sort((a, b) -> Long.compare(history.get(a).ended(), history.get(b).ended()));
      long[] ends = byEnd.stream().mapToLong(i -> history.get(i).ended()).toArray();
      int[] moments = new int[ends.length];
      for (int i = 0; i < ends.length; i++) {
        moments[i] = graph.node();
        graph.edge(byEnd.get(i), moments[i], Why.TIME, "");
        if (i > 0) graph.edge(moments[i - 1], moments[i], Why.TIME, "");
      }
      for (int i = 0; i < history.size(); i++) {
        int at = Arrays.binarySearch(ends, history.get(i).began());
        int last = at >= 0 ? at - 1 : -at - 2;
        if (last >= 0) graph.edge(moments[last], i, Why.TIME, "");
      }
    }

    // ---- circles

    private void cycles() {
      circles(EnumSet.of(Why.WW), Anomaly.G0);
      circles(EnumSet.of(Why.WW, Why.WR), Anomaly.G1C);
      var all = EnumSet.of(Why.WW, Why.WR, Why.RW);
      for (var component : fresh(all)) {
        var single = graph.cycleWithOne(Why.RW, component, all);
        if (single.isEmpty()) report(Anomaly.G2, component, graph.cycle(component, all));
        else report(Anomaly.G_SINGLE, component, single);
      }
      circles(EnumSet.allOf(Why.class), Anomaly.REAL_TIME);
    }

    private void circles(Set<Why> by, Anomaly anomaly) {
      for (var component : fresh(by)) report(anomaly, component, graph.cycle(component, by));
    }

    private List<BitSet> fresh(Set<Why> by) {
      Predicate<BitSet> known = component -> component.intersects(reported);
      return graph.components(by).stream().filter(known.negate()).toList();
    }

    private void report(Anomaly anomaly, BitSet component, List<Edge> cycle) {
      if (cycle.isEmpty()) return;
      reported.or(component);
      var text = new StringBuilder("a circle");
      int shown = 0;
      // It may begin between two transactions.
      int start = 0;
      while (cycle.get(start).from() >= history.size()) start++;
      int at = 0;
      while (at < cycle.size() && shown++ < EDGES_SHOWN_MAX) {
        Edge edge = cycle.get((start + at) % cycle.size());
        text.append("\n    ").append(text(edge.from()));
        Why why = edge.why();
        int to = edge.to();
        at++;
        while (to >= history.size()) to = cycle.get((start + at++) % cycle.size()).to();
        text.append("\n      ").append(why.text).append(' ').append(name(to));
        if (!edge.key().isEmpty()) text.append(", in ").append(edge.key());
      }
      report(anomaly, text.toString());
    }
  }
}
