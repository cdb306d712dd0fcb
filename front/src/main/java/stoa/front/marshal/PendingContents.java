package stoa.front.marshal;

import java.util.AbstractCollection;
import java.util.AbstractMap;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The elements of a container that a serializer has read, kept beside the container until it may
/// be filled. Fory adds to a gathering as it would to the container.
@SuppressWarnings({"unchecked", "rawtypes"}) // Justification: containers of anything
final class PendingContents {
  private PendingContents() {}

  /// The elements of a collection.
  static final class Elements extends AbstractCollection<@Nullable Object> {
    private final Collection container;
    private final List<@Nullable Object> all;

    Elements(Collection container, int size) {
      this.container = container;
      all = new ArrayList<>(size);
    }

    @Override
    public boolean add(@Nullable Object element) {
      return all.add(element);
    }

    @Override
    public Iterator<@Nullable Object> iterator() {
      return all.iterator();
    }

    @Override
    public int size() {
      return all.size();
    }

    /// Fills the collection and returns it.
    ///
    /// @param effort counts the work; null for no limit
    Collection fill(@Nullable Effort effort) {
      if (effort != null) CountedContainerSerializers.take(effort, container, all);
      container.addAll(all);
      return container;
    }
  }

  /// The entries of a map.
  static final class Entries extends AbstractMap<@Nullable Object, @Nullable Object> {
    private final Map container;
    private final List<@Nullable Object> keys;
    private final List<@Nullable Object> values;

    Entries(Map container, int size) {
      this.container = container;
      keys = new ArrayList<>(size);
      values = new ArrayList<>(size);
    }

    @Override
    public @Nullable Object put(@Nullable Object key, @Nullable Object value) {
      keys.add(key);
      values.add(value);
      return null;
    }

    @Override
    public Set<Map.Entry<@Nullable Object, @Nullable Object>> entrySet() {
      throw new UnsupportedOperationException("the map is being read");
    }

    /// Fills the map and returns it.
    ///
    /// @param effort counts the work; null for no limit
    Map fill(@Nullable Effort effort) {
      if (effort != null) CountedContainerSerializers.take(effort, container, keys);
      for (int i = 0; i < keys.size(); i++) container.put(keys.get(i), values.get(i));
      return container;
    }
  }
}
