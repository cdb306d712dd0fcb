package stoa.collections;

import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Call;
import stoa.Mutator;
import stoa.Shared;
import stoa.spi.Forkable;
import stoa.spi.OwnState;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;

/// The object behind a [stoa.SharedMap], and each child of a [stoa.ShardedMap].
///
/// ```
/// state:  the beginning of Formats, count, then keys, each followed by its value, by the hash of
///         the key and, where hashes are equal, by the encoding of the key
/// ```
@Shared(name = "stoa.Map")
class MapObject implements Entries, Forkable<MapObject>, OwnState {
  // The names of the classes with which it began; null when they are unknown.
  private @Nullable String classes;

  private HashEntries entries;

  protected MapObject() {
    this(null, HashEntries.EMPTY);
  }

  protected MapObject(String classes) {
    this(classes, HashEntries.EMPTY);
  }

  private MapObject(@Nullable String classes, HashEntries entries) {
    this.classes = classes;
    this.entries = entries;
  }

  /// Returns the names of the classes with which it began; null when they are unknown.
  @Accessor
  @Nullable String classes() {
    return classes;
  }

  @Override
  @Accessor
  public @Nullable Object get(Object key) {
    return entries.get(key);
  }

  @Override
  @Accessor
  public boolean containsKey(Object key) {
    return entries.get(key) != null;
  }

  @Override
  @Accessor
  public boolean containsValue(Object value) {
    return entries.hasValue(value);
  }

  @Override
  @Accessor
  public int size() {
    return entries.size();
  }

  @Override
  public @Nullable Object put(Object key, Object value) {
    Object before = entries.get(key);
    entries = entries.with(key, value);
    return before;
  }

  @Override
  @Mutator
  public void fastPut(Object key, Object value) {
    entries = entries.with(key, value);
  }

  @Override
  @Mutator
  public void putAll(List<Object> more) {
    HashEntries all = entries;
    for (int i = 0; i < more.size(); i += 2) all = all.with(more.get(i), more.get(i + 1));
    entries = all;
  }

  @Override
  public @Nullable Object putIfAbsent(Object key, Object value) {
    Object before = entries.get(key);
    if (before == null) entries = entries.with(key, value);
    return before;
  }

  @Override
  public @Nullable Object remove(Object key) {
    Object before = entries.get(key);
    if (before != null) entries = entries.without(key);
    return before;
  }

  @Override
  @Mutator
  public void fastRemove(Object key) {
    entries = entries.without(key);
  }

  @Override
  public boolean removeExactly(Object key, Object value) {
    Object before = entries.get(key);
    if (before == null || !Same.as(before, value)) return false;
    entries = entries.without(key);
    return true;
  }

  @Override
  public @Nullable Object replace(Object key, Object value) {
    Object before = entries.get(key);
    if (before != null) entries = entries.with(key, value);
    return before;
  }

  @Override
  public boolean replaceExactly(Object key, Object before, Object value) {
    Object found = entries.get(key);
    if (found == null || !Same.as(found, before)) return false;
    entries = entries.with(key, value);
    return true;
  }

  @Override
  @Mutator
  public void clear() {
    entries = HashEntries.EMPTY;
  }

  @Override
  @Accessor
  public @Nullable Page page(long version, @Nullable Object from, int max) {
    long here = Call.version();
    if (version != ANY && version != here) return null;
    return entries.page(here, (Integer) from, max);
  }

  // ---- for the engine

  @Override
  public MapObject fork() {
    return new MapObject(classes, entries);
  }

  @Override
  public void store(StateOutput out) {
    Formats.begin(out, classes);
    out.number(entries.size());
    entries.forEach(chain -> {
      if (chain.size() > 1) chain.sort((a, b) -> out.compare(a.key(), b.key()));
      for (HashEntries.Cell cell : chain) {
        out.value(cell.key());
        out.value(cell.value());
      }
    });
  }

  @Override
  public void restore(StateInput in) {
    classes = Formats.begun(in);
    int count = in.count();
    var chains = new TreeMap<Integer, HashEntries.Cell>();
    for (int i = 0; i < count; i++) {
      Object key = Objects.requireNonNull(in.value());
      Object value = Objects.requireNonNull(in.value());
      int hash = KeyHash.of(key);
      chains.put(hash, new HashEntries.Cell(key, value, chains.get(hash)));
    }
    entries = HashEntries.of(chains, count);
  }
}
