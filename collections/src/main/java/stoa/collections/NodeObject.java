package stoa.collections;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Call;
import stoa.Mutator;
import stoa.Shared;
import stoa.spi.Forkable;
import stoa.spi.OwnState;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;

/// One node of a [stoa.SharedBTree] (vCorfu, section 5). [TreeEntries] combines nodes to a tree.
///
/// ```
/// state:  the beginning of Formats, level, count of keys, keys, items
/// ```
@Shared(name = "stoa.BTree")
class NodeObject implements Forkable<NodeObject>, OwnState {
  /*
   * A leaf has a value for each key. An inner node has one child more than keys: child i has the
   * keys from keys[i - 1] (inclusive) to keys[i] (exclusive). Children are references, so a change
   * below changes nothing here.
   *
   * Invariants:
   * (1) keys ascend.
   * (2) level is 0 in a leaf, and one more than the children's in an inner node.
   * (3) The lists never change once they are in a field: a fork shares them.
   */
  /// The direction in an inner node, or the entries in a leaf.
  enum Side {
    /// The least keys.
    FIRST,
    /// The place of a key, present or not.
    AT,
    /// The greatest key below another.
    BELOW,
    /// The greatest keys.
    LAST
  }

  /// The step from an inner node to one of its children.
  ///
  /// @param child null when this is a leaf
  /// @param level the child's level
  /// @param index the child's index
  record Step(@Nullable NodeObject child, int level, int index) {}

  /// Adjacent children of an inner node, in the order of a scan.
  ///
  /// @param children none when this is a leaf
  /// @param level the children's level
  /// @param fence the key between the last child and the next one; null when this node does not
  ///   know it
  record Run(List<Object> children, int level, @Nullable Object fence) {}

  /// The contents of a node.
  record Content(int level, List<Object> keys, List<Object> items) {
    /// Returns the index of the child that leads to a key: how many keys are at or below it.
    int above(Object key) {
      return NodeObject.above(keys, key);
    }

    /// Returns these contents with the child that a split has made.
    Content with(Object separator, NodeObject child) {
      int behind = above(separator);
      return new Content(
          level, inserted(keys, behind, separator), inserted(items, behind + 1, child));
    }

    private int index(Side side, @Nullable Object key) {
      return switch (side) {
        case FIRST -> 0;
        case LAST -> keys.size();
        case AT -> above(Objects.requireNonNull(key));
        case BELOW -> NodeObject.from(keys, Objects.requireNonNull(key));
      };
    }

    /// Returns the next step down for a scan, as [NodeObject#run] does.
    Run run(Side side, @Nullable Object key, Scan scan, int max) {
      if (level == 0) return new Run(List.of(), -1, null);
      boolean up = scan.direction() == Scan.Direction.ASCENDING;
      int most = level == 1 ? max : 1;
      var children = new ArrayList<Object>();
      for (int index = index(side, key); ; index += up ? 1 : -1) {
        children.add(items.get(index));
        int fence = up ? index : index - 1;
        if (fence < 0 || fence == keys.size()) return new Run(children, level - 1, null);
        Object between = keys.get(fence);
        if (children.size() >= most || scan.endsAt(between)) {
          return new Run(children, level - 1, between);
        }
      }
    }
  }

  /// The upper half of a node.
  ///
  /// @param separator the key between the halves
  /// @param id the id for the node of the upper half
  record Cut(Object separator, Content upper, UUID id) {}

  /// All contents of a node.
  ///
  /// @param id the id for a node with these contents
  record Drained(Content content, UUID id) {}

  /// The result of a change of one key.
  ///
  /// @param before the old value of the key
  /// @param count the number of keys of the leaf afterwards
  record Changed(@Nullable Object before, int count) {}

  /// The answer of [#fastPut] in a node that is no leaf.
  static final int NO_LEAF = -1;

  // The names of the classes with which its tree began; null in all nodes but the root.
  private @Nullable String classes;

  private int level;
  private List<Object> keys;
  private List<Object> items;

  protected NodeObject() {
    this(null, 0, List.of(), List.of());
  }

  /// Creates the root of a tree.
  protected NodeObject(String classes) {
    this(classes, 0, List.of(), List.of());
  }

  private NodeObject(@Nullable String classes, int level, List<Object> keys, List<Object> items) {
    this.classes = classes;
    this.level = level;
    this.keys = keys;
    this.items = items;
  }

  // ---- reading

  /// Returns the names of the classes with which its tree began; null in all nodes but the root.
  @Accessor
  @Nullable String classes() {
    return classes;
  }

  @Accessor
  int level() {
    return level;
  }

  /// Returns the number of keys.
  @Accessor
  int count() {
    return keys.size();
  }

  /// Returns the next step down to a key.
  @Accessor
  Step step(Object key) {
    if (level == 0) return new Step(null, -1, 0);
    int index = above(key);
    return new Step(child(index), level - 1, index);
  }

  /// Returns the next step down for a scan; when that leads to leaves, the next leaves in its
  /// range, up to `max` of them.
  ///
  /// @param key null for [Side#FIRST] and [Side#LAST]
  @Accessor
  Run run(Side side, @Nullable Object key, Scan scan, int max) {
    return new Content(level, keys, items).run(side, key, scan, max);
  }

  private NodeObject child(int index) {
    return (NodeObject) items.get(index);
  }

  /// Returns the value of a key in a leaf.
  @Accessor
  @Nullable Object find(Object key) {
    int index = from(key);
    return has(index, key) ? items.get(index) : null;
  }

  /// Returns entries of a leaf, each key followed by its value, up to `max` of them.
  @Accessor
  List<Object> entries(Scan scan, int max) {
    int from = from(scan.span());
    int to = to(scan.span());
    var found = new ArrayList<Object>();
    boolean up = scan.direction() == Scan.Direction.ASCENDING;
    for (int n = 0; n < Math.min(max, to - from); n++) {
      int index = up ? from + n : to - 1 - n;
      found.add(keys.get(index));
      found.add(items.get(index));
    }
    return found;
  }

  /// Returns the children of an inner node.
  @Accessor
  List<Object> children() {
    return level == 0 ? List.of() : new ArrayList<>(items);
  }

  /// Returns the contents of an inner node; of a leaf, the level alone.
  @Accessor
  Content inner() {
    return level == 0
        ? new Content(0, List.of(), List.of())
        : new Content(level, new ArrayList<>(keys), new ArrayList<>(items));
  }

  /// Returns two adjacent children and the key between them.
  @Accessor
  List<Object> pair(int index) {
    return new ArrayList<>(List.of(items.get(index), items.get(index + 1), keys.get(index)));
  }

  @Accessor
  boolean hasValue(Object value) {
    for (Object item : items) if (Same.as(item, value)) return true;
    return false;
  }

  /// The index of the first key of a range, or of what follows the range.
  private int from(Span span) {
    if (span.low() == null) return 0;
    return span.lowInclusive() ? from(span.low()) : above(span.low());
  }

  /// The index behind the last key of a range.
  private int to(Span span) {
    if (span.high() == null) return keys.size();
    return span.highInclusive() ? above(span.high()) : from(span.high());
  }

  private int from(Object key) {
    return from(keys, key);
  }

  private int above(Object key) {
    return above(keys, key);
  }

  /// Returns how many keys are below a key.
  private static int from(List<Object> keys, Object key) {
    int low = 0;
    int high = keys.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Orders.natural().compare(keys.get(middle), key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /// Returns how many keys are at or below a key.
  private static int above(List<Object> keys, Object key) {
    int index = from(keys, key);
    return has(keys, index, key) ? index + 1 : index;
  }

  private boolean has(int index, Object key) {
    return has(keys, index, key);
  }

  private static boolean has(List<Object> keys, int index, Object key) {
    return index < keys.size() && Orders.natural().compare(keys.get(index), key) == 0;
  }

  // ---- changes of a leaf

  Changed put(Object key, Object value) {
    Orders.check(Orders.natural(), key);
    int index = from(key);
    if (has(index, key)) {
      Object before = items.get(index);
      items = with(items, index, value);
      return new Changed(before, keys.size());
    }
    keys = inserted(keys, index, key);
    items = inserted(items, index, value);
    return new Changed(null, keys.size());
  }

  /// Puts as [#put], without returning the old value.
  ///
  /// @return the number of keys afterwards; [#NO_LEAF] when this is no leaf, and nothing changes
  int fastPut(Object key, Object value) {
    return level > 0 ? NO_LEAF : put(key, value).count();
  }

  Changed remove(Object key) {
    int index = from(key);
    if (!has(index, key)) return new Changed(null, keys.size());
    Object before = items.get(index);
    keys = removed(keys, index);
    items = removed(items, index);
    return new Changed(before, keys.size());
  }

  /// Removes the entries of a range.
  ///
  /// @return how many keys are left
  int clear(Span span) {
    int from = from(span);
    int to = to(span);
    if (from < to) {
      keys = without(keys, from, to);
      items = without(items, from, to);
    }
    return keys.size();
  }

  // ---- changes of the shape

  /// Removes and returns the upper half.
  Cut cut() {
    int middle = keys.size() / 2;
    Object separator = keys.get(middle);
    // A leaf keeps the separator as the upper half's least key; an inner node removes it.
    int upper = level == 0 ? middle : middle + 1;
    var half = new Content(level, part(keys, upper, keys.size()), part(items, upper, items.size()));
    keys = part(keys, 0, middle);
    items = part(items, 0, upper);
    return new Cut(separator, half, Call.uuid());
  }

  /// Removes and returns everything.
  Drained drain() {
    var all = new Content(level, keys, items);
    level = 0;
    keys = List.of();
    items = List.of();
    return new Drained(all, Call.uuid());
  }

  /// Replaces the contents.
  @Mutator
  void fill(Content content) {
    level = content.level();
    keys = List.copyOf(content.keys());
    items = List.copyOf(content.items());
  }

  /// Adds the contents of its right neighbor.
  ///
  /// @param separator the key between them
  @Mutator
  void absorb(Object separator, Content right) {
    var allKeys = new ArrayList<>(keys);
    if (level > 0) allKeys.add(separator);
    allKeys.addAll(right.keys());
    var allItems = new ArrayList<>(items);
    allItems.addAll(right.items());
    keys = List.copyOf(allKeys);
    items = List.copyOf(allItems);
  }

  /// Inserts a child after another.
  ///
  /// @return the number of keys afterwards
  int addChild(int behind, Object separator, NodeObject child) {
    keys = inserted(keys, behind, separator);
    items = inserted(items, behind + 1, child);
    return keys.size();
  }

  /// Removes the child after another.
  ///
  /// @return the number of remaining keys
  int removeChild(int behind) {
    keys = removed(keys, behind);
    items = removed(items, behind + 1);
    return keys.size();
  }

  /// Replaces the key between two children.
  @Mutator
  void separate(int behind, Object separator) {
    keys = with(keys, behind, separator);
  }

  private static List<Object> part(List<Object> list, int from, int to) {
    return List.copyOf(list.subList(from, to));
  }

  private static List<Object> with(List<Object> list, int index, Object element) {
    var copy = new ArrayList<>(list);
    copy.set(index, element);
    return List.copyOf(copy);
  }

  private static List<Object> inserted(List<Object> list, int index, Object element) {
    var copy = new ArrayList<>(list);
    copy.add(index, element);
    return List.copyOf(copy);
  }

  private static List<Object> without(List<Object> list, int from, int to) {
    var copy = new ArrayList<>(list);
    copy.subList(from, to).clear();
    return List.copyOf(copy);
  }

  private static List<Object> removed(List<Object> list, int index) {
    var copy = new ArrayList<>(list);
    copy.remove(index);
    return List.copyOf(copy);
  }

  // ---- for the engine

  @Override
  public NodeObject fork() {
    return new NodeObject(classes, level, keys, items);
  }

  @Override
  public void store(StateOutput out) {
    Formats.begin(out, classes);
    out.number(level);
    out.number(keys.size());
    keys.forEach(out::value);
    out.number(items.size());
    items.forEach(out::value);
  }

  @Override
  public void restore(StateInput in) {
    classes = Formats.begun(in);
    level = (int) in.number();
    keys = values(in);
    items = values(in);
  }

  private static List<Object> values(StateInput in) {
    int count = in.count();
    var values = new ArrayList<Object>();
    for (int i = 0; i < count; i++) values.add(Objects.requireNonNull(in.value()));
    return List.copyOf(values);
  }
}
