package stoa.front.marshal;

import java.util.ArrayList;
import java.util.List;
import org.apache.fory.context.MapRefWriter;
import org.apache.fory.context.RefWriter;
import org.apache.fory.memory.MemoryBuffer;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;

/// The table of references of the graph being written. It refuses a value that contains itself and
/// whose reader creates it after all its parts, as a constructor creates a record, or as
/// `Collections.unmodifiableList` wraps a list. The reader would find null, or an unusable object,
/// in the place of the reference.
///
/// Used by one [ForyCodec], and so by one thread at a time.
final class OpenRefs implements RefWriter {
  private final MapRefWriter known;

  // The values with parts in progress whose readers create them after their parts; outermost first.
  private final List<Object> open = new ArrayList<>();

  OpenRefs(float loadFactor) {
    known = new MapRefWriter(loadFactor);
  }

  /// Notes that the parts of a value follow, until [#close].
  void open(Object value) {
    open.add(value);
  }

  /// Notes that all parts of the innermost value are written.
  void close() {
    open.removeLast();
  }

  @Override
  public boolean writeRefOrNull(MemoryBuffer buffer, @Nullable Object value) {
    boolean written = known.writeRefOrNull(buffer, value);
    if (written && value != null) check(value);
    return written;
  }

  @Override
  public boolean writeRefValueFlag(MemoryBuffer buffer, Object value) {
    boolean fresh = known.writeRefValueFlag(buffer, value);
    if (!fresh) check(value);
    return fresh;
  }

  @SuppressWarnings("ReferenceEquality") // Justification: equal values are different objects
  private void check(Object value) {
    for (Object one : open) {
      if (one != value) continue;
      throw new NotShareable(
          "a "
              + value.getClass().getName()
              + " holds itself, directly or in what it holds, so that it could not be made again; break"
              + " the circle, or put an object of a class of your own in its place");
    }
  }

  @Override
  public boolean writeNullFlag(MemoryBuffer buffer, @Nullable Object value) {
    return known.writeNullFlag(buffer, value);
  }

  @Override
  public void replaceRef(Object original, Object replacement) {
    known.replaceRef(original, replacement);
  }

  @Override
  public void reset() {
    known.reset();
    open.clear();
  }
}
