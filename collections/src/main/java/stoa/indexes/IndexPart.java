package stoa.indexes;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.pcollections.TreePMap;
import org.pcollections.TreePSet;
import stoa.Accessor;
import stoa.Commutes;
import stoa.Key;
import stoa.Mutator;
import stoa.Shared;
import stoa.spi.Forkable;
import stoa.spi.Indexes;
import stoa.spi.OwnState;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;

/// A part of an index: the values whose hash chooses it, each with its objects.
///
/// Values and objects are texts, see [stoa.spi.Indexes]; the order of the texts is that of the
/// values. It calls no other object, so a call on it closes no circle.
///
/// ```
/// state:  1, the number of values, then each value, the number of its objects, and these, in order
/// ```
@Shared(name = IndexPart.NAME)
class IndexPart implements Forkable<IndexPart>, OwnState {
  /// The stored name of the class.
  static final String NAME = "stoa.Index";

  private static final int FORMAT = 1;

  // For each value one object, as a text, or a set of several.
  private TreePMap<String, Object> entries;

  /// For the store: an empty part.
  protected IndexPart() {
    entries = TreePMap.empty();
  }

  private IndexPart(TreePMap<String, Object> entries) {
    this.entries = entries;
  }

  /// Adds an object to those of a value.
  @Mutator
  @Commutes
  public void add(@Key String value, String object) {
    entries = entries.plus(value, with(entries.get(value), object));
  }

  /// Removes an object from those of a value.
  @Mutator
  @Commutes
  public void remove(@Key String value, String object) {
    Object known = entries.get(value);
    if (known instanceof TreePSet<?> several) {
      TreePSet<String> rest = texts(several).minus(object);
      entries = entries.plus(value, rest.size() == 1 ? (Object) rest.first() : rest);
    } else if (object.equals(known)) {
      entries = entries.minus(value);
    }
  }

  /// Adds an object to those of a value, unless another one has it; returns that one, or null.
  public @Nullable String claim(@Key String value, String object) {
    Object known = entries.get(value);
    if (known == null) {
      entries = entries.plus(value, object);
      return null;
    }
    String first = known instanceof TreePSet<?> several ? texts(several).first() : (String) known;
    return first.equals(object) ? null : first;
  }

  /// Makes changes in their order, see [Indexes#CHANGES].
  @Mutator
  @Commutes
  public void change(List<String> changes) {
    for (int i = 0; i < changes.size(); i += 2) {
      String value = changes.get(i).substring(1);
      if (changes.get(i).charAt(0) == Indexes.ENTERS) add(value, changes.get(i + 1));
      else remove(value, changes.get(i + 1));
    }
  }

  private static Object with(@Nullable Object known, String object) {
    if (known instanceof TreePSet<?> several) return texts(several).plus(object);
    if (known == null || known.equals(object)) return object;
    return TreePSet.<String>empty().plus((String) known).plus(object);
  }

  @SuppressWarnings("unchecked") // Justification: sets of entries have texts
  private static TreePSet<String> texts(TreePSet<?> several) {
    return (TreePSet<String>) several;
  }

  private static int count(@Nullable Object known) {
    if (known == null) return 0;
    return known instanceof TreePSet<?> several ? several.size() : 1;
  }

  /// Returns the objects of a value, in their order.
  ///
  /// @param after only those behind this one; null for all
  @Accessor
  public List<String> find(@Key String value, @Nullable String after, int max) {
    var found = new ArrayList<String>();
    addObjects(entries.get(value), after, Order.ASCENDING, max, found);
    return List.copyOf(found); // what a caller in the same process may share
  }

  /// Returns the number of objects of a value.
  @Accessor
  public int count(@Key String value) {
    return count(entries.get(value));
  }

  private static void addObjects(
      @Nullable Object known, @Nullable String beyond, Order order, int max, List<String> found) {
    if (known instanceof TreePSet<?> several) {
      TreePSet<String> rest = texts(several);
      boolean up = order == Order.ASCENDING;
      if (beyond != null) rest = up ? rest.tailSet(beyond, false) : rest.headSet(beyond, false);
      for (String object : up ? rest : rest.descendingSet()) {
        if (found.size() >= max) return;
        found.add(object);
      }
    } else if (known != null && found.size() < max) {
      String one = (String) known;
      boolean isBeyond =
          beyond == null
              || (order == Order.ASCENDING ? one.compareTo(beyond) > 0 : one.compareTo(beyond) < 0);
      if (isBeyond) found.add(one);
    }
  }

  /// The direction of a walk through an index.
  enum Order {
    ASCENDING,
    DESCENDING
  }

  private TreePMap<String, Object> within(@Nullable String from, @Nullable String to) {
    if (from != null && to != null && from.compareTo(to) >= 0) return TreePMap.empty();
    TreePMap<String, Object> part = entries;
    if (from != null) part = part.tailMap(from, true);
    if (to != null) part = part.headMap(to, false);
    return part;
  }

  /// Returns values of a range with their objects, in order: value, object, value, object.
  ///
  /// @param from the first value; null for all
  /// @param to the first value behind the range; null for none
  /// @param order `1` for ascending, `-1` for descending
  /// @param value only what is beyond this value and object, in the order; null for all
  @Accessor
  public List<String> range(
      @Nullable String from,
      @Nullable String to,
      int order,
      @Nullable String value,
      @Nullable String object,
      int max) {
    Order direction = order < 0 ? Order.DESCENDING : Order.ASCENDING;
    var rows = new ArrayList<String>();
    String first = from;
    String end = to;
    if (value != null && direction == Order.ASCENDING) first = value;
    if (value != null && direction == Order.DESCENDING) end = value + "\0"; // the next text
    TreePMap<String, Object> part = within(first, end);
    if (direction == Order.DESCENDING) part = part.descendingMap();
    for (Map.Entry<String, Object> entry : part.entrySet()) {
      if (rows.size() / 2 >= max) break;
      var found = new ArrayList<String>();
      String beyond = entry.getKey().equals(value) ? object : null;
      addObjects(entry.getValue(), beyond, direction, max - rows.size() / 2, found);
      for (String one : found) {
        rows.add(entry.getKey());
        rows.add(one);
      }
    }
    return rows;
  }

  /// Returns the number of objects of each value of a range, in the order of the values: value,
  /// number, value, number.
  @Accessor
  public List<String> counts(@Nullable String from, @Nullable String to) {
    var counts = new ArrayList<String>();
    within(from, to)
        .forEach((value, known) -> {
          counts.add(value);
          counts.add(Integer.toString(count(known)));
        });
    return counts;
  }

  // ---- for the engine

  @Override
  public IndexPart fork() {
    return new IndexPart(entries);
  }

  @Override
  public void store(StateOutput out) {
    out.number(FORMAT);
    out.number(entries.size());
    for (Map.Entry<String, Object> entry : entries.entrySet()) {
      out.value(entry.getKey());
      var objects = new ArrayList<String>();
      addObjects(entry.getValue(), null, Order.ASCENDING, Integer.MAX_VALUE, objects);
      out.number(objects.size());
      for (String object : objects) out.value(object);
    }
  }

  @Override
  public void restore(StateInput in) {
    if (in.number() != FORMAT) throw new stoa.Corrupt("an index of an unknown format");
    var sorted = new TreeMap<String, Object>();
    for (int left = in.count(); left > 0; left--) {
      String value = (String) Objects.requireNonNull(in.value());
      int count = in.count();
      var objects = new TreeSet<String>();
      for (int i = 0; i < count; i++) objects.add((String) Objects.requireNonNull(in.value()));
      sorted.put(value, count == 1 ? (Object) objects.first() : TreePSet.fromSortedSet(objects));
    }
    entries = TreePMap.fromSortedMap(sorted);
  }
}
