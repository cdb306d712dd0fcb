package stoa.collections;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Call1;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.spi.Host;

/// The calls on a B-tree: each is a transaction over the nodes on its way. Thread-safe.
final class TreeEntries implements SortedEntries, ConsistentAccess.Composed {
  /*
   * The root never moves. When it overflows, its contents go to two new nodes below it; when one
   * child is left, it takes in that child's contents. So each descent begins at a name, and no base
   * object has to be read. The references in parents lead to all other nodes.
   *
   * A change descends to a leaf, and repairs nodes upwards along its way, as long as a node has too
   * many or too few keys. It touches nothing above otherwise.
   *
   * Invariants, between transactions:
   * (1) Every node but the root has KEYS_MIN to KEYS_MAX keys.
   * (2) All leaves have the same distance from the root.
   * (3) The contents of a node fit into one call, so that it can be split and merged: no entry
   *     takes more than its part of callBytesMax.
   * (4) A node to which no node refers is the root. The change that removed another one has deleted
   *     it, or left it empty inside a Transaction that the program holds.
   */
  static final int KEYS_MAX = 64;
  static final int KEYS_MIN = 16;

  // About how many keys a leaf has, so that a scan asks enough leaves at once: those of a split
  // leaf.
  private static final int LEAF_KEYS = KEYS_MAX / 2;

  // How many remembered ways a put tries before it finds its way in a transaction.
  private static final int WAYS_MAX = 4;

  // The most entries that one call moves between nodes: all contents of a node, and their framing.
  private static final int MOVED_MAX = KEYS_MAX + 8;

  private final ConsistentAccess access;
  private final String name;
  private final NodeObject liveRoot;
  private final NodeObject root;
  private final RememberedNodes remembered;
  private final GatheredPuts gathered = new GatheredPuts();

  TreeEntries(ConsistentAccess access, String name) {
    this(access, name, access.stoa().get(NodeObject.class, NodeKey.root(name)));
  }

  /// Creates the calls.
  ///
  /// @param liveRoot the root, with its constructor's arguments, before any lens
  TreeEntries(ConsistentAccess access, String name, NodeObject liveRoot) {
    this.access = access;
    this.name = name;
    this.liveRoot = liveRoot;
    this.root = access.seen(liveRoot);
    this.remembered = new RememberedNodes(access.stoa());
  }

  @Override
  public ConsistentAccess access() {
    return access;
  }

  @Override
  public TreeEntries through(UnaryOperator<Object> lens) {
    return new TreeEntries(access.through(lens), name, liveRoot);
  }

  /// Returns the same calls through local or cached views.
  TreeEntries copied(UnaryOperator<Object> view) {
    return new TreeEntries(access.copied(view), name, liveRoot);
  }

  NodeObject root() {
    return root;
  }

  private NodeObject node(String key) {
    return seen(access.stoa().get(NodeObject.class, key));
  }

  private NodeObject seen(NodeObject node) {
    return access.seen(node);
  }

  private NodeObject made(UUID id, NodeObject.Content content) {
    NodeObject node = node(NodeKey.of(name, id));
    node.fill(content);
    return node;
  }

  // ---- descent

  /// A node on the way, and the index of the next child.
  private record Turn(NodeObject node, int index) {}

  /// A leaf, and the way to it.
  ///
  /// @param way from its parent up to the root
  private record Found(NodeObject leaf, Deque<Turn> way) {}

  private Found at(Object key) {
    NodeObject node = root();
    var way = new ArrayDeque<Turn>();
    while (true) {
      NodeObject.Step step = node.step(key);
      NodeObject child = step.child();
      if (child == null) return new Found(node, way);
      way.push(new Turn(node, step.index()));
      node = seen(child);
      if (step.level() == 0) return new Found(node, way);
    }
  }

  /// Descends like [#at], and remembers the inner nodes.
  private Found learn(Object key) {
    NodeObject node = root();
    var way = new ArrayDeque<Turn>();
    while (true) {
      NodeObject.Content content = node.inner();
      remembered.put(node, content);
      if (content.level() == 0) return new Found(node, way);
      int index = content.above(key);
      way.push(new Turn(node, index));
      node = seen((NodeObject) content.items().get(index));
      if (content.level() == 1) return new Found(node, way);
    }
  }

  int height() {
    return access.read(() -> root().level() + 1);
  }

  // ---- one key

  @Override
  public @Nullable Object get(Object key) {
    return access.<@Nullable Object>read(() -> found(key));
  }

  /// Returns the value of a key, within a transaction or behind a lens.
  private @Nullable Object found(Object key) {
    if (!access.isTransacting()) return at(key).leaf().find(key);
    List<NodeObject> way = remembered.way(root(), key);
    if (way.size() > 1) {
      try {
        return along(way, List.of(key), List.of(finding(key))).answer();
      } catch (Elsewhere | Gone _) {
        // The nodes have changed since they were remembered.
      }
    }
    return learn(key).leaf().find(key);
  }

  @SuppressWarnings("NullAway") // Justification: it takes what any Call1 returns for non-null
  private static Call1<NodeObject, @Nullable Object> finding(Object key) {
    return leaf -> leaf.find(key);
  }

  @Override
  public boolean containsKey(Object key) {
    return get(key) != null;
  }

  @Override
  public @Nullable Object put(Object key, Object value) {
    return access.<@Nullable Object>write(() -> placed(key, value));
  }

  /// Puts an entry, within a transaction; answers the value that the key had.
  private @Nullable Object placed(Object key, Object value) {
    checkSize(key, value);
    Found found = at(key);
    NodeObject.Changed changed = found.leaf().put(key, value);
    mendLarge(found.leaf(), found.way(), changed.count());
    return changed.before();
  }

  @Override
  public void fastPut(Object key, Object value) {
    checkSize(key, value);
    if (!access.isLive()) {
      fastPlaced(key, value);
      return;
    }
    if (access.isTransacting()) {
      if (havePut(List.of(new GatheredPuts.Waiting(key, value)))) return;
    } else {
      for (int i = 0; i < WAYS_MAX; i++) {
        List<NodeObject> way = remembered.way(root(), key);
        if (way.isEmpty()) {
          access.read(() -> learn(key));
        } else if (gathered.put(access.stoa().ref(way.getLast()), key, value, this::havePut)) {
          return;
        }
      }
    }
    access.write(() -> {
      fastPlaced(key, value);
      return true;
    });
  }

  private void fastPlaced(Object key, Object value) {
    Found found = access.isLive() ? learn(key) : at(key);
    mendLarge(found.leaf(), found.way(), found.leaf().fastPut(key, value));
  }

  /// Puts entries into one leaf, along the way that this process remembers.
  ///
  /// @return false when nothing happened: no way is remembered, it leads to several leaves, or a
  ///   node leads elsewhere now
  private boolean havePut(List<GatheredPuts.Waiting> puts) {
    var keys = new ArrayList<>(puts.stream().map(GatheredPuts.Waiting::key).toList());
    keys.sort(Orders.natural());
    // A leaf with the lowest and the highest key has all keys between them.
    Object low = keys.getFirst();
    Object high = keys.getLast();
    List<NodeObject> way = remembered.way(root(), low);
    if (way.isEmpty()) return false;
    List<NodeObject> other = remembered.way(root(), high);
    if (other.isEmpty() || !isSame(way.getLast(), other.getLast())) return false;
    try {
      Grown grown =
          access.<@Nullable Grown>write(() -> {
            var calls = new ArrayList<Call1<NodeObject, ? extends @Nullable Object>>();
            for (GatheredPuts.Waiting put : puts) {
              calls.add(leaf -> leaf.fastPut(put.key(), put.value()));
            }
            Reached reached =
                along(way, keys.size() == 1 ? List.of(low) : List.of(low, high), calls);
            int count = (int) Objects.requireNonNull(reached.answer());
            if (count == NodeObject.NO_LEAF) throw new Elsewhere();
            return mendLarge(way.getLast(), reached.way(), count);
          });
      if (grown != null) remembered.put(grown.node(), grown.content());
      return true;
    } catch (Elsewhere | Gone _) {
      for (NodeObject node : way) {
        var _ = remembered.forget(node);
      }
      return false;
    }
  }

  /// A leaf that a remembered way led to.
  ///
  /// @param answer of the call on the leaf
  /// @param way from its parent up to the root
  private record Reached(@Nullable Object answer, Deque<Turn> way) {}

  /// Makes calls on a leaf: asks all nodes on the remembered way to it at once whether they still
  /// lead there, and makes the calls at the same time. Called within a transaction.
  ///
  /// @param way the nodes from the root to the leaf
  /// @param keys those that must lead there
  /// @return with the answer of the last call
  /// @throws Elsewhere when a node leads elsewhere now
  private Reached along(
      List<NodeObject> way,
      List<Object> keys,
      List<? extends Call1<NodeObject, ? extends @Nullable Object>> onLeaf) {
    var calls = new ArrayList<Host.OneCall<NodeObject>>();
    for (Object key : keys) {
      for (NodeObject node : way.subList(0, way.size() - 1)) {
        calls.add(new Host.OneCall<>(node, one -> one.step(key)));
      }
    }
    for (var call : onLeaf) calls.add(new Host.OneCall<>(way.getLast(), call));
    List<@Nullable Object> answers = access.all(calls);
    var turns = new ArrayDeque<Turn>();
    for (int i = 0; i < calls.size() - onLeaf.size(); i++) {
      int at = i % (way.size() - 1);
      var step = (NodeObject.Step) Objects.requireNonNull(answers.get(i));
      if (!isSame(step.child(), way.get(at + 1))) throw new Elsewhere();
      if (i == at) turns.push(new Turn(way.get(at), step.index()));
    }
    return new Reached(answers.getLast(), turns);
  }

  private boolean isSame(@Nullable NodeObject a, NodeObject b) {
    return a != null && access.stoa().ref(a).equals(access.stoa().ref(b));
  }

  /// Takes back a change that was made along a way that is out of date.
  private static final class Elsewhere extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Elsewhere() {
      super("a node leads elsewhere", null, false, false);
    }
  }

  @Override
  public @Nullable Object putIfAbsent(Object key, Object value) {
    return change(key, (_, before) -> before == null ? value : before);
  }

  @Override
  public @Nullable Object remove(Object key) {
    return change(key, (_, _) -> null);
  }

  @Override
  public void fastRemove(Object key) {
    remove(key);
  }

  @Override
  public boolean removeExactly(Object key, Object value) {
    Object before =
        change(key, (_, found) -> found != null && Same.as(found, value) ? null : found);
    return before != null && Same.as(before, value);
  }

  @Override
  public @Nullable Object replace(Object key, Object value) {
    return change(key, (_, before) -> before == null ? null : value);
  }

  @Override
  public boolean replaceExactly(Object key, Object before, Object value) {
    Object found = change(key, (_, here) -> here != null && Same.as(here, before) ? value : here);
    return found != null && Same.as(found, before);
  }

  /// Changes the value of a key.
  ///
  /// @param next maps a key and its value to the new value; null for none; the same value leaves it
  /// @return the old value
  @SuppressWarnings("ReferenceEquality") // Justification: the very value that was given, or another
  private @Nullable Object change(
      Object key, BiFunction<Object, @Nullable Object, @Nullable Object> next) {
    return written(gone -> {
      Found found = at(key);
      Object before = found.leaf().find(key);
      Object value = next.apply(key, before);
      if (value == before) return before;
      if (value == null) {
        mendSmall(found.way(), found.leaf().remove(key).count(), gone);
      } else {
        checkSize(key, value);
        mendLarge(found.leaf(), found.way(), found.leaf().put(key, value).count());
      }
      return before;
    });
  }

  /// Refuses an entry that is too large to move together with others.
  private void checkSize(Object key, Object value) {
    var host = (Host) access.stoa();
    int max = host.callBytesMax() / MOVED_MAX;
    int keyBytes = host.bytes(key);
    int valueBytes = host.bytes(value);
    if ((long) keyBytes + valueBytes <= max) return;
    throw new LimitExceeded(
        "%s in B-tree %s: a key of %,d bytes and a value of %,d; together they may have %,d, 1/%d of callBytesMax, so that nodes can be split; raise it, or keep large values in objects or blobs and refer to them"
            .formatted(MessageText.of(key), name, keyBytes, valueBytes, max, MOVED_MAX));
  }

  /// Runs a change, and deletes the nodes that it removed.
  private @Nullable Object written(Change change) {
    return access.<@Nullable Object>write(() -> {
      var gone = new ArrayList<NodeObject>();
      Object result = change.run(gone);
      if (access.isLive()) access.delete(gone);
      return result;
    });
  }

  /// A change that removes nodes from the tree.
  private interface Change {
    @Nullable Object run(List<NodeObject> gone);
  }

  // ---- splits

  /// A node that has got a child.
  ///
  /// @param content as this process may remember it when the change is durable
  private record Grown(NodeObject node, NodeObject.Content content) {}

  /// Splits a node that has become too large, and those above it that become so.
  ///
  /// @return the last one that has got a child; null when there is none, or this process did not
  ///   remember it
  private @Nullable Grown mendLarge(NodeObject node, Deque<Turn> way, int keys) {
    NodeObject current = node;
    int count = keys;
    Grown grown = null;
    while (count > KEYS_MAX) {
      NodeObject.Cut cut = current.cut();
      NodeObject upper = made(cut.id(), cut.upper());
      if (way.isEmpty()) {
        var _ = remembered.forget(current);
        NodeObject.Drained lower = current.drain();
        NodeObject left = made(lower.id(), lower.content());
        int level = lower.content().level() + 1;
        current.fill(new NodeObject.Content(level, List.of(cut.separator()), List.of(left, upper)));
        return null;
      }
      Turn turn = way.pop();
      NodeObject.Content known = remembered.forget(turn.node());
      count = turn.node().addChild(turn.index(), cut.separator(), upper);
      current = turn.node();
      // The process may remember this node as a leaf, which has no child.
      grown =
          known == null || known.level() == 0
              ? null
              : new Grown(current, known.with(cut.separator(), upper));
    }
    return grown;
  }

  // ---- merges

  private void mendSmall(Deque<Turn> way, int keys, List<NodeObject> gone) {
    int count = keys;
    while (count < KEYS_MIN && !way.isEmpty()) {
      Turn turn = way.pop();
      NodeObject parent = turn.node();
      int index = Math.max(0, turn.index() - 1);
      List<Object> pair = parent.pair(index);
      NodeObject left = seen((NodeObject) pair.get(0));
      NodeObject right = seen((NodeObject) pair.get(1));
      Object separator = pair.get(2);
      int together = left.count() + right.count();
      left.absorb(separator, right.drain().content());
      if (together < KEYS_MAX) {
        gone.add(right);
        count = parent.removeChild(index);
        if (count == 0) raise(parent, left, gone);
      } else {
        NodeObject.Cut cut = left.cut();
        right.fill(cut.upper());
        parent.separate(index, cut.separator());
        return;
      }
    }
  }

  /// Replaces a parent by its only child. Only the root ever has a single child.
  private static void raise(NodeObject parent, NodeObject child, List<NodeObject> gone) {
    parent.fill(child.drain().content());
    gone.add(child);
  }

  // ---- scans

  /// The entries of adjacent leaves that belong to a scan.
  ///
  /// @param entries in the order of the scan: keys, each followed by its value
  /// @param isCut whether the last leaf may have more of them
  /// @param fence the key between the last leaf and the next one; null at the end
  private record Leaves(List<Object> entries, boolean isCut, @Nullable Object fence) {}

  /// Returns entries of a range, each key followed by its value: at least `min` of them if it has
  /// so many. Called within a transaction or behind a lens.
  private List<Object> scan(Scan scan, int min) {
    var found = new ArrayList<Object>();
    boolean up = scan.direction() == Scan.Direction.ASCENDING;
    Scan rest = scan;
    Object from = up ? scan.span().low() : scan.span().high();
    boolean inclusive = up ? scan.span().lowInclusive() : scan.span().highInclusive();
    NodeObject.Side side =
        from == null
            ? up ? NodeObject.Side.FIRST : NodeObject.Side.LAST
            : up || inclusive ? NodeObject.Side.AT : NodeObject.Side.BELOW;
    while (true) {
      Leaves some = leaves(side, from, rest, min - found.size() / 2);
      found.addAll(some.entries());
      if (found.size() >= 2 * min) return found;
      if (some.isCut()) {
        from = found.get(found.size() - 2);
        rest = scan.behind(from);
      } else {
        from = some.fence();
        if (from == null || scan.endsAt(from)) return found;
      }
      side = up ? NodeObject.Side.AT : NodeObject.Side.BELOW;
    }
  }

  /// Returns the next entries of a scan. Asks all nodes at once when this process remembers the way
  /// to the leaves; otherwise asks one after the other.
  private Leaves leaves(NodeObject.Side side, @Nullable Object key, Scan scan, int min) {
    if (access.isTransacting()) {
      RememberedNodes.ScanWay way = remembered.way(root(), side, key, scan, leavesFor(min));
      if (!way.nodes().isEmpty()) {
        try {
          return along(way, side, key, scan, min);
        } catch (Elsewhere | Gone _) {
          // The nodes have changed since they were remembered.
        }
      }
    }
    return descended(side, key, scan, min);
  }

  /// Returns about how many leaves have some entries, of which the first leaf may have one.
  private static int leavesFor(int entries) {
    return 1 + Math.ceilDiv(entries - 1, LEAF_KEYS);
  }

  /// Asks all nodes on the remembered way of a scan at once whether they still lead there, and
  /// reads the leaves at the same time.
  ///
  /// @throws Elsewhere when a node leads elsewhere now
  private Leaves along(
      RememberedNodes.ScanWay way, NodeObject.Side side, @Nullable Object key, Scan scan, int min) {
    List<NodeObject> leaves = way.leaves();
    int max = leavesFor(min);
    int last = leaves.size() == 1 ? min : min - LEAF_KEYS * (leaves.size() - 2);
    var calls = new ArrayList<Host.OneCall<NodeObject>>();
    for (NodeObject node : way.nodes()) {
      calls.add(new Host.OneCall<>(node, one -> one.run(side, key, scan, max)));
    }
    for (int i = 0; i < leaves.size(); i++) {
      int most = i < leaves.size() - 1 ? min : last;
      calls.add(new Host.OneCall<>(leaves.get(i), one -> one.entries(scan, most)));
    }
    List<@Nullable Object> answers = access.all(calls);
    Object fence = null;
    for (int i = 0; i < way.runs().size(); i++) {
      var run = (NodeObject.Run) Objects.requireNonNull(answers.get(i));
      if (!isSame(run, way.runs().get(i))) throw new Elsewhere();
      if (run.fence() != null) fence = run.fence();
    }
    var entries = new ArrayList<Object>();
    int added = 0;
    for (Object answer : answers.subList(way.runs().size(), answers.size())) {
      if (entries.size() >= 2 * min) break; // the leaf before may have more
      List<?> some = (List<?>) Objects.requireNonNull(answer);
      entries.addAll(some);
      added = some.size();
    }
    return new Leaves(entries, added == 2 * last, fence);
  }

  private boolean isSame(NodeObject.Run a, NodeObject.Run b) {
    if (a.level() != b.level() || !isSameFence(a.fence(), b.fence())) return false;
    if (a.children().size() != b.children().size()) return false;
    for (int i = 0; i < a.children().size(); i++) {
      if (!isSame((NodeObject) a.children().get(i), (NodeObject) b.children().get(i))) return false;
    }
    return true;
  }

  private static boolean isSameFence(@Nullable Object fence, @Nullable Object other) {
    if (fence == null || other == null) return Objects.equals(fence, other);
    return Orders.natural().compare(fence, other) == 0;
  }

  /// Reads leaves until there are enough entries, and remembers the inner nodes of the present.
  private Leaves descended(NodeObject.Side side, @Nullable Object key, Scan scan, int min) {
    NodeObject node = root();
    Object fence = null;
    List<NodeObject> leaves = null;
    while (leaves == null) {
      NodeObject.Run run = run(node, side, key, scan, 1 + min / KEYS_MIN);
      if (run.fence() != null) fence = run.fence();
      List<NodeObject> children =
          run.children().stream().map(child -> seen((NodeObject) child)).toList();
      if (children.isEmpty()) leaves = List.of(node);
      else if (run.level() == 0) leaves = children;
      else node = children.getFirst();
    }
    var entries = new ArrayList<Object>();
    for (NodeObject leaf : leaves) {
      entries.addAll(leaf.entries(scan, min - entries.size() / 2));
      if (entries.size() >= 2 * min) break;
    }
    return new Leaves(entries, false, fence);
  }

  private NodeObject.Run run(
      NodeObject node, NodeObject.Side side, @Nullable Object key, Scan scan, int max) {
    if (!access.isTransacting()) return node.run(side, key, scan, max);
    NodeObject.Content content = node.inner();
    remembered.put(node, content);
    return content.run(side, key, scan, max);
  }

  @Override
  public Page page(long version, @Nullable Object from, int max) {
    Scan scan = from == null ? Scan.ALL : (Scan) from;
    List<Object> items = scan(scan, max);
    boolean more = items.size() >= 2 * max;
    return new Page(ANY, items, more ? scan.behind(items.get(items.size() - 2)) : null);
  }

  @Override
  public @Nullable Pair edge(Scan scan) {
    return access.<@Nullable Pair>read(() -> first(scan));
  }

  private @Nullable Pair first(Scan scan) {
    List<Object> found = scan(scan, 1);
    return found.isEmpty() ? null : new Pair(found.get(0), found.get(1));
  }

  @Override
  public @Nullable Pair poll(Scan scan) {
    return access.<@Nullable Pair>write(() -> {
      Pair edge = first(scan);
      if (edge != null) {
        var _ = remove(edge.key());
      }
      return edge;
    });
  }

  // ---- the whole tree, or large parts of it

  @Override
  public int size() {
    return access.read(() -> {
      long total = 0;
      for (int count : access.all(levels().getLast(), NodeObject::count)) total += count;
      return (int) Math.min(Integer.MAX_VALUE, total);
    });
  }

  /// Returns all nodes by their levels: first the root, last the leaves.
  private List<List<NodeObject>> levels() {
    var levels = new ArrayList<List<NodeObject>>();
    List<NodeObject> level = List.of(root());
    while (true) {
      levels.add(level);
      List<NodeObject.Content> contents = access.all(level, NodeObject::inner);
      int height = contents.getFirst().level();
      if (height == 0) return levels;
      level =
          contents.stream()
              .flatMap(content -> content.items().stream())
              .map(child -> seen((NodeObject) child))
              .toList();
      if (height > 1) continue;
      levels.add(level);
      return levels;
    }
  }

  @Override
  public int sizeOf(Span span) {
    return access.read(() -> {
      Scan rest = new Scan(span, Scan.Direction.ASCENDING);
      int size = 0;
      while (true) {
        List<Object> found = scan(rest, KEYS_MAX);
        size += found.size() / 2;
        if (found.size() < 2 * KEYS_MAX) return size;
        rest = rest.behind(found.get(found.size() - 2));
      }
    });
  }

  @Override
  public boolean containsValue(Object value) {
    return hasValue(Span.ALL, value);
  }

  @Override
  public boolean hasValue(Span span, Object value) {
    return access.read(() -> {
      Scan rest = new Scan(span, Scan.Direction.ASCENDING);
      while (true) {
        List<Object> found = scan(rest, KEYS_MAX);
        for (int i = 1; i < found.size(); i += 2) {
          if (Same.as(found.get(i), value)) return true;
        }
        if (found.size() < 2 * KEYS_MAX) return false;
        rest = rest.behind(found.get(found.size() - 2));
      }
    });
  }

  @Override
  public void putAll(List<Object> entries) {
    access.write(() -> {
      for (int i = 0; i < entries.size(); i += 2) placed(entries.get(i), entries.get(i + 1));
      return true;
    });
  }

  @Override
  public void clear() {
    var _ =
        written(gone -> {
          levels().stream().skip(1).forEach(gone::addAll);
          var nothing = new NodeObject.Content(0, List.of(), List.of());
          root().fill(nothing);
          if (access.isLive()) return null;
          // No other code deletes nodes that a lens shows.
          return access.all(
              gone,
              node -> {
                node.fill(nothing);
                return true;
              });
        });
  }

  @Override
  public void clearAll(Span span) {
    var _ =
        written(gone -> {
          Scan all = new Scan(span, Scan.Direction.ASCENDING);
          List<Object> next = scan(all, 1);
          while (!next.isEmpty()) {
            Found found = at(next.getFirst());
            mendSmall(found.way(), found.leaf().clear(span), gone);
            next = scan(all, 1);
          }
          return null;
        });
  }

  /// Checks the invariants of the whole tree, as of one moment.
  ///
  /// @return the number of nodes
  int check() {
    return access.read(() -> checkUnder(root(), true, root().level(), null, null));
  }

  private int checkUnder(
      NodeObject node, boolean isRoot, int level, @Nullable Object low, @Nullable Object high) {
    int keys = node.count();
    require(node.level() == level, node, "is on another level than its neighbours");
    require(keys <= KEYS_MAX && (isRoot || keys >= KEYS_MIN), node, "has " + keys + " keys");
    int nodes = 1;
    if (level == 0) {
      Object before = null;
      List<Object> entries = node.entries(Scan.ALL, Integer.MAX_VALUE);
      for (int i = 0; i < entries.size(); i += 2) {
        Object key = entries.get(i);
        require(
            before == null || Orders.natural().compare(before, key) < 0, node, "is out of order");
        require(low == null || Orders.natural().compare(low, key) <= 0, node, "has too low a key");
        require(
            high == null || Orders.natural().compare(key, high) < 0, node, "has too high a key");
        before = key;
      }
      return nodes;
    }
    List<Object> children = node.children();
    require(children.size() == keys + 1, node, "has " + children.size() + " children");
    Object from = low;
    for (int i = 0; i < children.size(); i++) {
      Object to = i == keys ? high : node.pair(i).get(2);
      nodes += checkUnder(seen((NodeObject) children.get(i)), false, level - 1, from, to);
      from = to;
    }
    return nodes;
  }

  private static void require(boolean holds, NodeObject node, String problem) {
    if (!holds) throw new IllegalStateException(Objects.toString(node) + " " + problem);
  }
}
