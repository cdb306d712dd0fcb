package stoa.collections;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.Ref;
import stoa.Stoa;
import stoa.spi.Host;

/// The inner nodes of a B-tree as this process read them last: they may have changed since.
/// Thread-safe.
final class RememberedNodes {
  private static final int BYTES_MAX = 4 << 20;

  // About so many bytes of memory takes a child, beside the keys.
  private static final int CHILD_BYTES = 256;

  /// The contents of a node.
  ///
  /// @param bytes how many bytes of memory they take, about
  private record Node(NodeObject.Content content, int bytes) {}

  private final Stoa stoa;

  // The one that was used last comes last; guarded by this.
  private final Map<Ref<?>, Node> nodes = new LinkedHashMap<>(16, 0.75f, true);

  private long bytes; // guarded by this

  RememberedNodes(Stoa stoa) {
    this.stoa = stoa;
  }

  /// Remembers the contents of a node, and forgets those that were not used for longest.
  void put(NodeObject node, NodeObject.Content content) {
    int size = ((Host) stoa).bytes(content.keys()) + CHILD_BYTES * content.items().size();
    synchronized (this) {
      var _ = forget(node);
      nodes.put(stoa.ref(node), new Node(content, size));
      bytes += size;
      var eldest = nodes.values().iterator();
      while (bytes > BYTES_MAX) {
        bytes -= eldest.next().bytes();
        eldest.remove();
      }
    }
  }

  /// Forgets a node that has changed; returns its contents, null when they were not remembered.
  synchronized NodeObject.@Nullable Content forget(NodeObject node) {
    Node known = nodes.remove(stoa.ref(node));
    if (known == null) return null;
    bytes -= known.bytes();
    return known.content();
  }

  /// Returns the way to a key: the nodes from the root to a leaf; none when a node is not
  /// remembered.
  synchronized List<NodeObject> way(NodeObject root, Object key) {
    var way = new ArrayList<NodeObject>();
    NodeObject next = root;
    while (true) {
      way.add(next);
      @Nullable Node node = nodes.get(stoa.ref(next));
      if (node == null) return List.of();
      NodeObject.Content content = node.content();
      if (content.level() == 0) return way;
      next = (NodeObject) content.items().get(content.above(key));
      if (content.level() > 1) continue;
      way.add(next);
      return way;
    }
  }

  /// The way of a scan to adjacent leaves.
  ///
  /// @param nodes the inner nodes on it, from the root down; none when a node is not remembered
  /// @param runs the children that it takes of each; those of the last node are the leaves
  record ScanWay(List<NodeObject> nodes, List<NodeObject.Run> runs) {
    /// Returns the leaves.
    List<NodeObject> leaves() {
      return runs.getLast().children().stream().map(NodeObject.class::cast).toList();
    }
  }

  /// Returns the way of a scan, as [NodeObject#run] describes each step.
  ///
  /// @param max the most leaves
  synchronized ScanWay way(
      NodeObject root, NodeObject.Side side, @Nullable Object key, Scan scan, int max) {
    var inner = new ArrayList<NodeObject>();
    var runs = new ArrayList<NodeObject.Run>();
    NodeObject next = root;
    while (true) {
      @Nullable Node node = nodes.get(stoa.ref(next));
      if (node == null || node.content().level() == 0) return new ScanWay(List.of(), List.of());
      NodeObject.Run run = node.content().run(side, key, scan, max);
      inner.add(next);
      runs.add(run);
      if (run.level() == 0) return new ScanWay(inner, runs);
      next = (NodeObject) run.children().getFirst();
    }
  }
}
