package stoa.collections;

import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Call;
import stoa.Key;
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
class MapObject extends EntriesObject implements Forkable<MapObject>, OwnState {
  private HashEntries entries;

  protected MapObject() {
    this(null, HashEntries.EMPTY);
  }

  protected MapObject(String classes) {
    this(classes, HashEntries.EMPTY);
  }

  private MapObject(@Nullable String classes, HashEntries entries) {
    super(classes);
    this.entries = entries;
  }

  @Override
  @Accessor
  public @Nullable Object get(@Key Object key) {
    return entries.get(key);
  }

  @Override
  @Accessor
  public boolean containsKey(@Key Object key) {
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
  @Mutator
  public void fastPut(@Key Object key, Object value) {
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
  @Mutator
  public void fastRemove(@Key Object key) {
    entries = entries.without(key);
  }

  // Calls of different keys do not conflict: how many entries there are does not depend on their
  // order, and neither does the encoding.

  @Override
  public @Nullable Object put(@Key Object key, Object value) {
    return super.put(key, value);
  }

  @Override
  public @Nullable Object putIfAbsent(@Key Object key, Object value) {
    return super.putIfAbsent(key, value);
  }

  @Override
  public @Nullable Object remove(@Key Object key) {
    return super.remove(key);
  }

  @Override
  public boolean removeExactly(@Key Object key, Object value) {
    return super.removeExactly(key, value);
  }

  @Override
  public @Nullable Object replace(@Key Object key, Object value) {
    return super.replace(key, value);
  }

  @Override
  public boolean replaceExactly(@Key Object key, Object before, Object value) {
    return super.replaceExactly(key, before, value);
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
