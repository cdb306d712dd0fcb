package stoa.front.marshal;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.fory.Fory;
import org.apache.fory.context.MapRefReader;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.RefReader;
import org.apache.fory.memory.MemoryBuffer;
import org.apache.fory.serializer.collection.CollectionLikeSerializer;
import org.apache.fory.serializer.collection.MapLikeSerializer;
import org.jspecify.annotations.Nullable;

/// The table of references of the graph being read, and the collections that wait for it.
///
/// The fields of an object may lead back to the object while the codec still reads them. It has no
/// hash and no place in an order before all its fields are read. So a set or map with such a key is
/// filled only when the codec has read everything.
///
/// Used by one [ForyCodec], and so by one thread at a time.
@SuppressWarnings({"unchecked", "rawtypes"}) // Justification: collections of anything
final class Filling implements RefReader {
  /*
   * While the codec reads the fields of some object, it gathers the elements of a collection beside
   * the collection. If none of the elements led back to such an object, which is nearly always so,
   * it adds them at once: a record's constructor that copies the collection finds it full. Under an
   * effort, it always gathers the elements first, to count their cost before it adds them.
   */
  /// Reads the elements of a collection into another.
  interface Reading {
    void read(ReadContext context, Collection into, int size);
  }

  private final MapRefReader known = new MapRefReader();

  // The objects whose fields the codec is reading, outermost first.
  private final List<Object> open = new ArrayList<>();

  // Fill the waiting collections when the codec has read everything; inner ones first.
  private final List<Runnable> late = new ArrayList<>();

  // How often the elements led back to such an object.
  private int hits;

  // Whether a value that may have parts was referred to again.
  private boolean shared;

  // The limit of filling collections; null for none.
  private @Nullable Effort effort;

  /// Sets the limit of filling; null for none.
  void effort(@Nullable Effort most) {
    effort = most;
  }

  /// Returns whether the graph, as far as it was read, refers twice to a value that may have parts.
  boolean isShared() {
    return shared;
  }

  /// Notes that the fields of an object follow, until [#close].
  void open(Object object) {
    open.add(object);
  }

  /// Notes that all fields of the innermost object are read.
  void close() {
    open.removeLast();
  }

  /// Fills the waiting collections, when the codec has read everything.
  void finish() {
    for (Runnable fill : late) fill.run();
    late.clear();
  }

  /// Reads a collection and its elements.
  Collection read(CollectionLikeSerializer as, ReadContext context, Reading reading) {
    Collection made = as.newCollection(context, false);
    int size = as.getAndClearNumElements();
    Effort most = effort;
    if (open.isEmpty() && most == null) {
      if (size != 0) reading.read(context, made, size);
      return made;
    }
    int before = hits;
    var elements = new PendingContents.Elements(made, size);
    if (size != 0) reading.read(context, elements, size);
    fill(before, () -> elements.fill(most));
    return made;
  }

  /// Reads a map and its entries.
  Map read(MapLikeSerializer as, ReadContext context) {
    Map made = as.newMap(context, false);
    int size = as.getAndClearNumElements();
    Effort most = effort;
    if (open.isEmpty() && most == null) {
      as.readElements(context, size, made);
      return made;
    }
    int before = hits;
    var entries = new PendingContents.Entries(made, size);
    as.readElements(context, size, entries);
    fill(before, () -> entries.fill(most));
    return made;
  }

  private void fill(int before, Runnable fill) {
    if (hits == before) fill.run();
    else late.add(fill);
  }

  // ---- references

  @SuppressWarnings("ReferenceEquality") // Justification: equal objects are different ones
  private void met(byte head) {
    if (head != Fory.REF_FLAG) return;
    Object object = known.getReadRef();
    if (!isSingle(object)) shared = true;
    for (Object one : open) {
      if (one == object) hits++;
    }
  }

  /// Returns whether an object has no parts, and a hash that takes no time: it costs nothing to
  /// refer to it often, as the values of a request do to the constants of an enum.
  private static boolean isSingle(@Nullable Object object) {
    return object instanceof Enum<?> || object instanceof UUID || object instanceof Instant;
  }

  @Override
  public byte readRefOrNull(MemoryBuffer buffer) {
    byte head = known.readRefOrNull(buffer);
    met(head);
    return head;
  }

  @Override
  public int tryPreserveRefId(MemoryBuffer buffer) {
    int id = known.tryPreserveRefId(buffer);
    if (id < 0) met((byte) id);
    return id;
  }

  @Override
  public int preserveRefId() {
    return known.preserveRefId();
  }

  @Override
  public int preserveRefId(int id) {
    return known.preserveRefId(id);
  }

  @Override
  public int lastPreservedRefId() {
    return known.lastPreservedRefId();
  }

  @Override
  public boolean hasPreservedRefId() {
    return known.hasPreservedRefId();
  }

  @Override
  public void reference(Object object) {
    known.reference(object);
  }

  @Override
  public @Nullable Object getReadRef(int id) {
    return known.getReadRef(id);
  }

  @Override
  public @Nullable Object getReadRef() {
    return known.getReadRef();
  }

  @Override
  public void setReadRef(int id, Object object) {
    known.setReadRef(id, object);
  }

  @Override
  public void reset() {
    known.reset();
    open.clear();
    late.clear();
    hits = 0;
    shared = false;
  }
}
