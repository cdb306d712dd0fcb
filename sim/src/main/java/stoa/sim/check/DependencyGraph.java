package stoa.sim.check;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/// The necessary order of transactions, with reasons; finds cycles. One owner.
final class DependencyGraph {
  /*
   * Nodes are numbered; the first ones are transactions, further ones stand for moments between
   * them, so that "all of these before all of those" costs as many edges as there are of both, not
   * their product.
   *
   * Components are those of Tarjan, without recursion. A search for a short cycle costs steps, of
   * which there is a limit; when it is reached, exhausted() says so.
   */
  /// The reason why one comes before the other.
  enum Why {
    /// It wrote a value that the other replaced.
    WW("wrote before"),
    /// It wrote a value that the other read.
    WR("was read by"),
    /// It read a value that the other then changed.
    RW("did not see"),
    /// It ended before the other began.
    TIME("ended before");

    final String text;

    Why(String text) {
      this.text = text;
    }
  }

  /// An edge; `key` is the list that it comes from, or empty.
  record Edge(int from, int to, Why why, String key) {}

  private static final int STARTS_MAX = 32;

  private final List<List<Edge>> out = new ArrayList<>();
  private long stepsLeft;

  DependencyGraph(int nodes, long stepsMax) {
    stepsLeft = stepsMax;
    for (int i = 0; i < nodes; i++) node();
  }

  /// Adds a node.
  int node() {
    out.add(new ArrayList<>(4));
    return out.size() - 1;
  }

  void edge(int from, int to, Why why, String key) {
    if (from != to) out.get(from).add(new Edge(from, to, why, key));
  }

  boolean exhausted() {
    return stepsLeft < 0;
  }

  /// Returns the sets of more than one node in which each node precedes every other one over such
  /// edges.
  List<BitSet> components(Set<Why> by) {
    int count = out.size();
    var result = new ArrayList<BitSet>();
    int[] index = new int[count];
    int[] low = new int[count];
    int[] next = new int[count];
    boolean[] onStack = new boolean[count];
    var stack = new ArrayDeque<Integer>();
    var path = new ArrayDeque<Integer>();
    int counter = 0;
    for (int root = 0; root < count; root++) {
      if (index[root] != 0) continue;
      path.push(root);
      while (!path.isEmpty()) {
        int node = path.element();
        if (index[node] == 0) {
          index[node] = low[node] = ++counter;
          stack.push(node);
          onStack[node] = true;
        }
        boolean deeper = false;
        var edges = out.get(node);
        while (next[node] < edges.size()) {
          Edge edge = edges.get(next[node]++);
          stepsLeft--;
          if (!by.contains(edge.why())) continue;
          if (index[edge.to()] == 0) {
            path.push(edge.to());
            deeper = true;
            break;
          }
          if (onStack[edge.to()]) low[node] = Math.min(low[node], index[edge.to()]);
        }
        if (deeper) continue;
        path.pop();
        if (!path.isEmpty()) low[path.element()] = Math.min(low[path.element()], low[node]);
        if (low[node] != index[node]) continue;
        var component = new BitSet();
        int member;
        do {
          member = stack.pop();
          onStack[member] = false;
          component.set(member);
        } while (member != node);
        if (component.cardinality() > 1) result.add(component);
      }
    }
    return result;
  }

  /// Returns a short cycle within a component; empty only when the steps are used up.
  List<Edge> cycle(BitSet component, Set<Why> by) {
    List<Edge> best = List.of();
    int starts = 0;
    for (int node = component.nextSetBit(0); node >= 0; node = component.nextSetBit(node + 1)) {
      if (starts++ == STARTS_MAX || exhausted()) break;
      for (Edge first : out.get(node)) {
        if (!by.contains(first.why()) || !component.get(first.to())) continue;
        var cycle = closed(first, component, by);
        if (!cycle.isEmpty() && (best.isEmpty() || cycle.size() < best.size())) best = cycle;
      }
    }
    return best;
  }

  /// Returns a cycle within a component that has one edge of the kind `one` and all others of `by`;
  /// empty when there is none.
  List<Edge> cycleWithOne(Why one, BitSet component, Set<Why> by) {
    var others = EnumSet.copyOf(by);
    others.remove(one);
    for (int node = component.nextSetBit(0); node >= 0; node = component.nextSetBit(node + 1)) {
      for (Edge first : out.get(node)) {
        if (first.why() != one || !component.get(first.to())) continue;
        var cycle = closed(first, component, others);
        if (!cycle.isEmpty()) return cycle;
        if (exhausted()) return List.of();
      }
    }
    return List.of();
  }

  /// Returns the shortest way back from the end of an edge to its beginning, after that edge.
  private List<Edge> closed(Edge first, BitSet component, Set<Why> by) {
    var cameBy = new Edge[out.size()];
    var queue = new ArrayDeque<Integer>();
    queue.add(first.to());
    while (!queue.isEmpty() && !exhausted()) {
      int node = queue.remove();
      for (Edge edge : out.get(node)) {
        stepsLeft--;
        int to = edge.to();
        if (!by.contains(edge.why()) || !component.get(to)) continue;
        if (to == first.from()) {
          var back = new ArrayList<Edge>();
          back.add(edge);
          for (int at = node; at != first.to(); at = back.getLast().from()) back.add(cameBy[at]);
          back.add(first);
          return back.reversed();
        }
        if (to == first.to() || cameBy[to] != null) continue;
        cameBy[to] = edge;
        queue.add(to);
      }
    }
    return List.of();
  }

  @Override
  public String toString() {
    return Arrays.toString(out.toArray());
  }
}
