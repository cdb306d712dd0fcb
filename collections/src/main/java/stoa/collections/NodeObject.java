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

/// One node of a [stoa.SharedBTree] (vCorfu, section 5). [TreeEntries] puts them together.
///
/// ```
/// state:  what Formats begins with, level, count of keys, keys, items
/// ```
@Shared(name = "stoa.BTree")
class NodeObject implements Forkable<NodeObject>, OwnState {
  /*
   * A leaf has a value for each key. An inner node has a child more than keys: child i holds the
   * keys from keys[i - 1] up to, without, keys[i]. Children are references, so that a change below
   * changes nothing here.
   *
   * Invariants:
   * (1) keys rise.
   * (2) level is 0 in a leaf, and one more than the children's in an inner node.
   * (3) The lists are never changed once they are in a field: a fork shares them.
   */
  /// Which way to take in an inner node, or which entries in a leaf.
  enum Side {
    /// To the least keys.
    FIRST,
    /// To where a key is, or would be.
    AT,
    /// To the greatest key below another.
    BELOW,
    /// To the greatest keys.
    LAST
  }

  /// The way from an inner node to one of its children.
  ///
  /// @param child null when this is a leaf
  /// @param level of the child
  /// @param index the child's
  record Step(@Nullable NodeObject child, int level, int index) {}

  /// Children of an inner node that are next to each other, in the order in which a scan meets
  /// them.
  ///
  /// @param children none when this is a leaf
  /// @param level of the children
  /// @param fence the key between the last one and what follows it; null when this node does not
  ///   say
  record Run(List<Object> children, int level, @Nullable Object fence) {}

  /// What a node holds.
  record Content(int level, List<Object> keys, List<Object> items) {}

  /// The upper half of a node.
  ///
  /// @param separator the key that tells the halves apart
  /// @param id for the node that is to hold it
  record Cut(Object separator, Content upper, UUID id) {}

  /// All that a node held.
  ///
  /// @param id for a node that is to hold it
  record Drained(Content content, UUID id) {}

  /// What became of a change of one key.
  ///
  /// @param before the value that the key had
  /// @param count how many keys the leaf has now
  record Changed(@Nullable Object before, int count) {}

  /// The names of the classes that its tree was begun with; null in all nodes but the root.
  private @Nullable String classes;

  private int level;
  private List<Object> keys;
  private List<Object> items;

  protected NodeObject() {
    this(null, 0, List.of(), List.of());
  }

  /// The root of a tree.
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

  /// The names of the classes that its tree was begun with; null in all nodes but the root.
  @Accessor
  @Nullable String classes() {
    return classes;
  }

  @Accessor
  int level() {
    return level;
  }

  /// How many keys there are.
  @Accessor
  int count() {
    return keys.size();
  }

  /// The next step down to a key.
  @Accessor
  Step step(Object key) {
    if (level == 0) return new Step(null, -1, 0);
    int index = above(key);
    return new Step(child(index), level - 1, index);
  }

  private int index(Side side, @Nullable Object key) {
    return switch (side) {
      case FIRST -> 0;
      case LAST -> keys.size();
      case AT -> above(Objects.requireNonNull(key));
      case BELOW -> from(Objects.requireNonNull(key));
    };
  }

  /// The next step down for a scan, and when that is to leaves, the leaves that follow in its
  /// range, up to `max` of them.
  ///
  /// @param key null for [Side#FIRST] and [Side#LAST]
  @Accessor
  Run run(Side side, @Nullable Object key, Scan scan, int max) {
    if (level == 0) return new Run(List.of(), -1, null);
    boolean up = scan.direction() == Scan.Direction.ASCENDING;
    int most = level == 1 ? max : 1;
    var children = new ArrayList<Object>();
    for (int index = index(side, key); ; index += up ? 1 : -1) {
      children.add(child(index));
      int fence = up ? index : index - 1;
      if (fence < 0 || fence == keys.size()) return new Run(children, level - 1, null);
      Object between = keys.get(fence);
      if (children.size() >= most || scan.endsAt(between)) {
        return new Run(children, level - 1, between);
      }
    }
  }

  private NodeObject child(int index) {
    return (NodeObject) items.get(index);
  }

  /// The value of a key in a leaf.
  @Accessor
  @Nullable Object find(Object key) {
    int index = from(key);
    return has(index, key) ? items.get(index) : null;
  }

  /// Entries of a leaf, each key followed by its value, up to `max` of them.
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

  /// The children of an inner node.
  @Accessor
  List<Object> children() {
    return level == 0 ? List.of() : new ArrayList<>(items);
  }

  /// Two neighbouring children and the key between them.
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

  /// How many keys are below a key.
  private int from(Object key) {
    int low = 0;
    int high = keys.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Orders.natural().compare(keys.get(middle), key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /// How many keys are at or below a key.
  private int above(Object key) {
    int index = from(key);
    return has(index, key) ? index + 1 : index;
  }

  private boolean has(int index, Object key) {
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

  /// Takes the upper half away.
  Cut cut() {
    int middle = keys.size() / 2;
    Object separator = keys.get(middle);
    // A leaf keeps the separator as the upper half's least key; an inner node gives it up.
    int upper = level == 0 ? middle : middle + 1;
    var half = new Content(level, part(keys, upper, keys.size()), part(items, upper, items.size()));
    keys = part(keys, 0, middle);
    items = part(items, 0, upper);
    return new Cut(separator, half, Call.uuid());
  }

  /// Takes everything away.
  Drained drain() {
    var all = new Content(level, keys, items);
    level = 0;
    keys = List.of();
    items = List.of();
    return new Drained(all, Call.uuid());
  }

  /// Becomes what is given.
  @Mutator
  void fill(Content content) {
    level = content.level();
    keys = List.copyOf(content.keys());
    items = List.copyOf(content.items());
  }

  /// Takes in what its right neighbour held.
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

  /// Takes in a child behind another.
  ///
  /// @return how many keys there are now
  int addChild(int behind, Object separator, NodeObject child) {
    keys = inserted(keys, behind, separator);
    items = inserted(items, behind + 1, child);
    return keys.size();
  }

  /// Gives up the child behind another.
  ///
  /// @return how many keys are left
  int removeChild(int behind) {
    keys = removed(keys, behind);
    items = removed(items, behind + 1);
    return keys.size();
  }

  /// Puts another key between two children.
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
