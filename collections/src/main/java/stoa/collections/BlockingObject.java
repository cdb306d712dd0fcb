package stoa.collections;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.pcollections.TreePVector;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;

/// The object behind a [stoa.SharedBlockingDeque] and the queue of its name: a list with a
/// capacity, for whose elements and places callers wait.
///
/// ```
/// state:  that of ListObject, capacity
/// ```
@Shared(name = "stoa.BlockingList")
class BlockingObject extends ListObject {
  private int capacity;

  protected BlockingObject() {
    this(Integer.MAX_VALUE, null, TreePVector.empty());
  }

  protected BlockingObject(int capacity, String classes) {
    this(capacity, classes, TreePVector.empty());
  }

  private BlockingObject(int capacity, @Nullable String classes, TreePVector<Object> elements) {
    super(classes, elements);
    this.capacity = capacity;
  }

  @Accessor
  int capacity() {
    return capacity;
  }

  @Accessor
  int remaining() {
    return capacity - elements.size();
  }

  @Awaits
  void putFirst(Object element) {
    Call.await(this::hasPlace);
    elements = elements.plus(0, element);
  }

  @Awaits
  void putLast(Object element) {
    Call.await(this::hasPlace);
    elements = elements.plus(element);
  }

  @Awaits
  Object takeFirst() {
    Call.await(this::hasElement);
    return removeAt(0);
  }

  @Awaits
  Object takeLast() {
    Call.await(this::hasElement);
    return removeAt(elements.size() - 1);
  }

  boolean offerFirst(Object element) {
    if (!hasPlace()) return false;
    elements = elements.plus(0, element);
    return true;
  }

  boolean offerLast(Object element) {
    if (!hasPlace()) return false;
    elements = elements.plus(element);
    return true;
  }

  /// Adds all elements at the end, or none when there is no place for all.
  boolean offerAll(List<Object> more) {
    if (more.size() > capacity - elements.size()) return false;
    elements = elements.plusAll(more);
    return true;
  }

  /// Removes the first elements.
  List<Object> drain(int max) {
    var drained = new ArrayList<Object>(part(0, Math.min(max, elements.size())));
    removeRange(0, drained.size());
    return drained;
  }

  private boolean hasPlace() {
    return elements.size() < capacity;
  }

  private boolean hasElement() {
    return !elements.isEmpty();
  }

  @Override
  public BlockingObject fork() {
    return new BlockingObject(capacity, classes, elements);
  }

  @Override
  public void store(StateOutput out) {
    super.store(out);
    out.number(capacity);
  }

  @Override
  public void restore(StateInput in) {
    super.restore(in);
    capacity = (int) in.number();
  }
}
