package stoa.collections;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.pcollections.TreePVector;
import stoa.Accessor;
import stoa.Call;
import stoa.Commutes;
import stoa.Mutator;
import stoa.Shared;
import stoa.spi.Forkable;
import stoa.spi.OwnState;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;

/// The object behind a [stoa.SharedList], and the queue and the stack of its name.
///
/// ```
/// state:  the beginning of Formats, count, the elements in order
/// ```
@Shared(name = "stoa.List")
class ListObject implements Paged, Forkable<ListObject>, OwnState {
  // The names of the classes with which it began; null when they are unknown.
  @Nullable String classes;

  TreePVector<Object> elements;

  protected ListObject() {
    this(null, TreePVector.empty());
  }

  protected ListObject(String classes) {
    this(classes, TreePVector.empty());
  }

  ListObject(@Nullable String classes, TreePVector<Object> elements) {
    this.classes = classes;
    this.elements = elements;
  }

  /// Returns the names of the classes with which it began; null when they are unknown.
  @Accessor
  @Nullable String classes() {
    return classes;
  }

  @Accessor
  int size() {
    return elements.size();
  }

  @Accessor
  Object get(int index) {
    Objects.checkIndex(index, elements.size());
    return elements.get(index);
  }

  /// The element at an index, null when there is none.
  @Accessor
  @Nullable Object peek(int index) {
    return index >= 0 && index < elements.size() ? elements.get(index) : null;
  }

  @Accessor
  @Nullable Object peekLast() {
    return peek(elements.size() - 1);
  }

  @Accessor
  int indexOf(Object element) {
    int index = 0;
    for (Object here : elements) {
      if (here.equals(element)) return index;
      index++;
    }
    return -1;
  }

  @Accessor
  int lastIndexOf(Object element) {
    int found = -1;
    int index = 0;
    for (Object here : elements) {
      if (here.equals(element)) found = index;
      index++;
    }
    return found;
  }

  /// The elements between two indices.
  @Accessor
  List<Object> part(int from, int to) {
    Objects.checkFromToIndex(from, to, elements.size());
    var part = new ArrayList<Object>(to - from);
    for (int i = from; i < to; i++) part.add(elements.get(i));
    return part;
  }

  Object set(int index, Object element) {
    Object before = get(index);
    elements = (TreePVector<Object>) elements.with(index, element);
    return before;
  }

  /// Replaces the element at an index if it equals the given one.
  boolean setExactly(int index, Object before, Object element) {
    Object here = peek(index);
    if (here == null || !Same.as(here, before)) return false;
    elements = (TreePVector<Object>) elements.with(index, element);
    return true;
  }

  @Mutator
  @Commutes
  void add(Object element) {
    elements = elements.plus(element);
  }

  @Mutator
  void addAt(int index, Object element) {
    checkPlace(index);
    elements = elements.plus(index, element);
  }

  @Mutator
  void addAll(int index, List<Object> more) {
    checkPlace(index);
    elements = elements.plusAll(index, more);
  }

  @Mutator
  @Commutes
  void addLast(List<Object> more) {
    elements = elements.plusAll(more);
  }

  private void checkPlace(int index) {
    if (index < 0 || index > elements.size()) {
      throw new IndexOutOfBoundsException(
          "index " + index + " of a list of " + elements.size() + " elements");
    }
  }

  Object removeAt(int index) {
    Object before = get(index);
    elements = elements.minus(index);
    return before;
  }

  /// Removes the element at an index if it equals the given one.
  boolean removeExactly(int index, Object before) {
    Object here = peek(index);
    if (here == null || !Same.as(here, before)) return false;
    elements = elements.minus(index);
    return true;
  }

  @Mutator
  void removeRange(int from, int to) {
    Objects.checkFromToIndex(from, to, elements.size());
    TreePVector<Object> rest = elements;
    for (int i = to - 1; i >= from; i--) rest = rest.minus(i);
    elements = rest;
  }

  boolean removeFirst(Object element) {
    int index = indexOf(element);
    if (index >= 0) elements = elements.minus(index);
    return index >= 0;
  }

  boolean removeLast(Object element) {
    int index = lastIndexOf(element);
    if (index >= 0) elements = elements.minus(index);
    return index >= 0;
  }

  @Nullable Object pollFirst() {
    if (elements.isEmpty()) return null;
    return removeAt(0);
  }

  @Nullable Object pollLast() {
    if (elements.isEmpty()) return null;
    return removeAt(elements.size() - 1);
  }

  /// Removes the elements that are, or are not, among the given ones.
  boolean removeAll(List<Object> others, boolean among) {
    var set = new HashSet<>(others);
    List<Object> rest = new ArrayList<>();
    for (Object element : elements) if (set.contains(element) != among) rest.add(element);
    if (rest.size() == elements.size()) return false;
    elements = TreePVector.from(rest);
    return true;
  }

  /// Replaces all elements by others.
  @Mutator
  void setAll(List<Object> others) {
    elements = TreePVector.from(others);
  }

  @Mutator
  void clear() {
    elements = TreePVector.empty();
  }

  @Override
  @Accessor
  public @Nullable Page page(long version, @Nullable Object from, int max) {
    long here = Call.version();
    if (version != ANY && version != here) return null;
    int begin = from == null ? 0 : (Integer) from;
    int step = begin >= 0 ? 1 : -1;
    int index = begin >= 0 ? begin : Math.min(~begin, elements.size() - 1);
    var items = new ArrayList<Object>();
    while (index >= 0 && index < elements.size() && items.size() < max) {
      items.add(elements.get(index));
      index += step;
    }
    boolean more = index >= 0 && index < elements.size();
    return new Page(here, items, more ? from(index, step) : null);
  }

  /// Returns the beginning of a page: an index, or the complement of one for a page backwards.
  static Integer from(int index, int step) {
    return step > 0 ? index : ~index;
  }

  // ---- for the engine

  @Override
  public ListObject fork() {
    return new ListObject(classes, elements);
  }

  @Override
  public void store(StateOutput out) {
    Formats.begin(out, classes);
    out.number(elements.size());
    for (Object element : elements) out.value(element);
  }

  @Override
  public void restore(StateInput in) {
    classes = Formats.begun(in);
    int count = in.count();
    var read = new ArrayList<Object>(Math.min(count, 1 << 16));
    for (int i = 0; i < count; i++) read.add(Objects.requireNonNull(in.value()));
    elements = TreePVector.from(read);
  }
}
