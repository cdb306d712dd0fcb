package stoa.collections;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// The calls on a sharded map. A call on one key goes to its child, any other call to all children
/// in a transaction. Thread-safe.
final class ShardedEntries implements Entries, ConsistentAccess.Composed {
  /// The beginning of a page: after a hash in a child.
  private record Place(int child, @Nullable Object from) {}

  private final ConsistentAccess access;
  private final String name;
  private final int shards;
  private final Permutation permutation;

  // Created at the first use: a map that is only passed on needs none.
  private volatile @Nullable AtomicReferenceArray<@Nullable MapObject> children;

  ShardedEntries(ConsistentAccess access, String name, int shards) {
    this.access = access;
    this.name = name;
    this.shards = shards;
    this.permutation = Permutation.named(name);
  }

  @Override
  public ConsistentAccess access() {
    return access;
  }

  @Override
  public ShardedEntries through(UnaryOperator<Object> lens) {
    return new ShardedEntries(access.through(lens), name, shards);
  }

  /// Returns the same calls through local or cached views.
  ShardedEntries copied(UnaryOperator<Object> view) {
    return new ShardedEntries(access.copied(view), name, shards);
  }

  int shards() {
    return shards;
  }

  private int index(Object key) {
    return permutation.child(KeyHash.of(key), shards);
  }

  private MapObject of(Object key) {
    return child(index(key));
  }

  MapObject child(int index) {
    AtomicReferenceArray<@Nullable MapObject> all = children();
    MapObject known = all.get(index);
    if (known == null) {
      known = access.seen(access.stoa().get(MapObject.class, new ShardKey(name, index)));
      all.set(index, known);
    }
    return known;
  }

  private AtomicReferenceArray<@Nullable MapObject> children() {
    AtomicReferenceArray<@Nullable MapObject> made = children;
    if (made == null) {
      made = new AtomicReferenceArray<>(shards);
      children = made; // who makes another one meanwhile asks a child once more
    }
    return made;
  }

  // ---- one key

  @Override
  public @Nullable Object get(Object key) {
    return of(key).get(key);
  }

  @Override
  public boolean containsKey(Object key) {
    return of(key).containsKey(key);
  }

  @Override
  public @Nullable Object put(Object key, Object value) {
    return of(key).put(key, value);
  }

  /// Puts a value for a time.
  @Nullable Object put(Object key, Object value, long micros) {
    return of(key).put(key, value, micros);
  }

  @Override
  public void fastPut(Object key, Object value) {
    of(key).fastPut(key, value);
  }

  @Override
  public @Nullable Object putIfAbsent(Object key, Object value) {
    return of(key).putIfAbsent(key, value);
  }

  @Override
  public @Nullable Object remove(Object key) {
    return of(key).remove(key);
  }

  @Override
  public void fastRemove(Object key) {
    of(key).fastRemove(key);
  }

  @Override
  public boolean removeExactly(Object key, Object value) {
    return of(key).removeExactly(key, value);
  }

  @Override
  public @Nullable Object replace(Object key, Object value) {
    return of(key).replace(key, value);
  }

  @Override
  public boolean replaceExactly(Object key, Object before, Object value) {
    return of(key).replaceExactly(key, before, value);
  }

  // ---- the whole map

  private List<MapObject> all() {
    return IntStream.range(0, shards).mapToObj(this::child).toList();
  }

  @Override
  public int size() {
    return access.read(() -> {
      long total = 0;
      for (int size : access.all(all(), MapObject::size)) total += size;
      return (int) Math.min(total, Integer.MAX_VALUE);
    });
  }

  /// Returns whether no child has an entry.
  boolean isEmpty() {
    return access.read(() -> {
      for (int i = 0; i < shards; i++) if (child(i).size() > 0) return false;
      return true;
    });
  }

  @Override
  public boolean containsValue(Object value) {
    return access.read(() -> {
      for (int i = 0; i < shards; i++) if (child(i).containsValue(value)) return true;
      return false;
    });
  }

  @Override
  public void clear() {
    access.write(() -> {
      List<Integer> sizes = access.all(all(), MapObject::size);
      var full = new ArrayList<MapObject>();
      for (int i = 0; i < shards; i++) if (sizes.get(i) > 0) full.add(child(i));
      var _ =
          access.all(
              full,
              child -> {
                child.clear();
                return true;
              });
      return true;
    });
  }

  @Override
  public void putAll(List<Object> entries) {
    Map<Integer, List<Object>> parts = new TreeMap<>();
    for (int i = 0; i < entries.size(); i += 2) {
      List<Object> part = parts.computeIfAbsent(index(entries.get(i)), _ -> new ArrayList<>());
      part.add(entries.get(i));
      part.add(entries.get(i + 1));
    }
    access.write(() -> {
      parts.forEach((child, part) -> child(child).putAll(part));
      return true;
    });
  }

  /// Returns a page: from one child, or from several small ones. Called inside a transaction.
  @Override
  public Page page(long version, @Nullable Object from, int max) {
    Place place = from == null ? new Place(0, null) : (Place) from;
    var items = new ArrayList<Object>();
    while (true) {
      Page part = child(place.child()).page(ANY, place.from(), max - items.size() / 2);
      if (part == null) throw new IllegalStateException("any version is one");
      items.addAll(part.items());
      if (part.next() != null) place = new Place(place.child(), part.next());
      else if (place.child() + 1 < shards) place = new Place(place.child() + 1, null);
      else return new Page(ANY, items, null);
      if (items.size() >= 2 * max) return new Page(ANY, items, place);
    }
  }
}
