package stoa.collections;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Call;
import stoa.Key;
import stoa.Mutator;
import stoa.Schedule;
import stoa.Shared;
import stoa.front.types.Keys;
import stoa.indexes.InstalledIndexes;
import stoa.spi.Entered;
import stoa.spi.Forkable;
import stoa.spi.OwnState;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;

/// The object behind a [stoa.SharedMap], and each child of a [stoa.ShardedMap].
///
/// ```
/// state:  the beginning of Formats, count, then keys, each followed by its value, by the hash of
///         the key and, where hashes are equal, by the encoding of the key; then, where the
///         beginning says so, the Expiry
/// indexed behind the count, the ids of the indexes that each value must be in, and the different
///         texts of ids; behind each value the number of its text, and its forms in these indexes
/// ```
///
/// A value in indexes is an [Indexed] here. The engine takes note of what each call changes in
/// them, see [Entered].
@Shared(name = "stoa.Map")
class MapObject extends EntriesObject implements Forkable<MapObject>, OwnState, Entered {
  private static final String TIMER = "stoa.end";

  // How many entries one run of a timer removes.
  private static final int ENDED_MAX = 1_000;

  private HashEntries entries;
  private Expiry expiry;

  // Null while no value has ever been in an index.
  private @Nullable IndexIds kept;

  // The changes of the running call; null when the engine takes no note of them.
  private @Nullable Noting noting;

  // The changes of the last call; null when they cannot be undone any more.
  private @Nullable Noting before;

  /// The indexes of the values. Immutable.
  ///
  /// @param ids those that each value must be in; an index leaves when a value is not
  record IndexIds(List<String> ids) {}

  /// The changes of a call.
  ///
  /// @param before what was held of each key; null for nothing
  /// @param lost the indexes that have left
  private record Noting(
      HashEntries entries,
      Expiry expiry,
      @Nullable IndexIds kept,
      Map<Object, Optional<Object>> before,
      List<String> lost) {
    /// Returns empty ones to be filled.
    Noting filled() {
      return new Noting(entries, expiry, kept, new LinkedHashMap<>(), new ArrayList<>());
    }
  }

  protected MapObject() {
    this(null, HashEntries.EMPTY, Expiry.NONE);
  }

  protected MapObject(String classes) {
    this(classes, HashEntries.EMPTY, Expiry.NONE);
  }

  private MapObject(@Nullable String classes, HashEntries entries, Expiry expiry) {
    super(classes);
    this.entries = entries;
    this.expiry = expiry;
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
    set(key, value);
    expiry = expiry.without(key);
  }

  // ---- indexes

  /// Sets the value of a key.
  private void set(Object key, Object value) {
    if (kept != null || value instanceof Indexed) {
      note(key);
      keep(value);
    }
    entries = entries.with(key, value);
  }

  private void unset(Object key) {
    if (kept != null) note(key);
    entries = entries.without(key);
  }

  private void note(Object key) {
    Noting to = noting;
    if (to == null || to.before.containsKey(key)) return;
    if (to.before.isEmpty()) {
      to = to.filled();
      noting = to;
    }
    to.before.put(key, Optional.ofNullable(entries.held(key)));
  }

  /// Lets the indexes leave that a value is not in.
  private void keep(Object value) {
    IndexIds known = kept;
    if (known == null) {
      kept = new IndexIds(List.of());
      return;
    }
    List<String> ids = Indexed.idsOf(value);
    if (ids.containsAll(known.ids)) return;
    var missing = new ArrayList<>(known.ids);
    missing.removeAll(ids);
    Noting to = noting;
    if (to != null) to.lost.addAll(missing);
    var rest = new ArrayList<>(known.ids);
    rest.removeAll(missing);
    kept = new IndexIds(List.copyOf(rest));
  }

  /// Begins to tell when a value is not in some indexes.
  @Mutator
  public void declare(List<String> ids) {
    var all = new TreeSet<>(ids);
    IndexIds known = kept;
    if (known != null) all.addAll(known.ids);
    kept = new IndexIds(List.copyOf(all));
  }

  /// Enters a value in its indexes, which it has already.
  @Mutator
  public void enter(@Key Object key, Indexed value) {
    if (entries.held(key) != null) set(key, value);
  }

  /// Returns keys whose values are not in all of some indexes.
  ///
  /// @param from null for the beginning
  @Accessor
  public Page lacking(List<String> ids, @Nullable Object from, int max) {
    return entries.lacking(ids, (Integer) from, max);
  }

  /// Returns the keys that are in an index, each followed by the form of its value there.
  ///
  /// @param from null for the beginning
  @Accessor
  public Page forms(String id, @Nullable Object from, int max) {
    return entries.forms(id, (Integer) from, max);
  }

  /// Returns those of some keys that the map has, each followed by its value.
  @Accessor
  public List<Object> found(List<Object> keys) {
    var found = new ArrayList<Object>(2 * keys.size());
    for (Object key : keys) {
      Object value = entries.get(key);
      if (value == null) continue;
      found.add(key);
      found.add(value);
    }
    return found;
  }

  @Override
  public void beginChanges() {
    before = null;
    noting = new Noting(entries, expiry, kept, Map.of(), List.of()); // most calls change no index
  }

  @Override
  public Changes endChanges() {
    Noting noted = noting;
    noting = null;
    if (noted == null || noted.before.isEmpty()) return Changes.NONE;
    before = noted;
    var changes = new ArrayList<Change>();
    noted.before.forEach((key, held) -> {
      Object was = held.orElse(null);
      Object is = entries.held(key);
      if (!(was instanceof Indexed) && !(is instanceof Indexed)) return;
      addChanges(InstalledIndexes.text(Keys.encode(key)), was, is, changes);
    });
    return new Changes(changes, List.copyOf(noted.lost));
  }

  private static void addChanges(
      String entry, @Nullable Object was, @Nullable Object is, List<Change> changes) {
    for (String id : Indexed.idsOf(is)) {
      String value = Objects.requireNonNull(Indexed.formOf(is, id));
      if (!value.equals(Indexed.formOf(was, id))) changes.add(new Change(id, value, true, entry));
    }
    for (String id : Indexed.idsOf(was)) {
      String value = Objects.requireNonNull(Indexed.formOf(was, id));
      if (!value.equals(Indexed.formOf(is, id))) changes.add(new Change(id, value, false, entry));
    }
  }

  @Override
  public void keepChanges() {
    before = null;
  }

  @Override
  public void undoChanges() {
    Noting noted = before;
    before = null;
    if (noted == null) return;
    entries = noted.entries;
    expiry = noted.expiry;
    kept = noted.kept;
  }

  @Override
  public String owner(@Nullable Object key) {
    return key instanceof ShardKey(String map, int _)
        ? IndexedMap.ownerOf(IndexedMap.SHARDED, map)
        : IndexedMap.ownerOf(IndexedMap.SINGLE, String.valueOf(key));
  }

  // ---- calls

  /// Puts a value for a time.
  @Nullable Object put(@Key Object key, Object value, long micros) {
    Expiry ends = scheduled(expiry.with(key, nowMicros() + micros));
    Object held = get(key);
    set(key, value);
    expiry = ends;
    return held;
  }

  /// Removes the entries whose time is over. The map's timer calls it.
  void end() {
    expiry = expiry.timer(Expiry.NEVER);
    for (Object key : expiry.ended(nowMicros(), ENDED_MAX)) {
      unset(key);
      expiry = expiry.without(key);
    }
    expiry = scheduled(expiry);
  }

  /// Has a timer for the first end. One that is earlier finds nothing to do, and looks further.
  private Expiry scheduled(Expiry ends) {
    long first = ends.firstMicros();
    // A timer of the past may have been lost, as by an operator who cancelled its call.
    boolean isTimed = first >= ends.timerMicros() && ends.timerMicros() > nowMicros();
    if (isTimed || first == Expiry.NEVER) return ends;
    Instant at = Instant.EPOCH.plus(first, ChronoUnit.MICROS);
    Call.schedule(TIMER, Schedule.at(at), this).end();
    return ends.timer(first);
  }

  private static long nowMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, Call.now());
  }

  @Override
  @Mutator
  public void putAll(List<Object> more) {
    for (int i = 0; i < more.size(); i += 2) {
      set(more.get(i), more.get(i + 1));
      expiry = expiry.without(more.get(i));
    }
  }

  @Override
  @Mutator
  public void fastRemove(@Key Object key) {
    unset(key);
    expiry = expiry.without(key);
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
    if (kept != null && noting != null) {
      entries.forEach(chain -> {
        for (HashEntries.Cell cell : chain) note(cell.key());
      });
    }
    entries = HashEntries.EMPTY;
    expiry = Expiry.NONE.timer(expiry.timerMicros());
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
    var fork = new MapObject(classes, entries, expiry);
    fork.kept = kept;
    return fork;
  }

  @Override
  public void store(StateOutput out) {
    IndexIds known = kept;
    Formats.begin(out, classes, !expiry.isEmpty(), known != null);
    out.number(entries.size());
    var texts = new TreeSet<String>();
    if (known != null) {
      entries.forEach(chain -> {
        for (HashEntries.Cell cell : chain) {
          if (cell.value() instanceof Indexed indexed) texts.add(indexed.indexes());
        }
      });
      store(known.ids, out);
      store(List.copyOf(texts), out);
    }
    entries.forEach(chain -> {
      if (chain.size() > 1) chain.sort((a, b) -> out.compare(a.key(), b.key()));
      for (HashEntries.Cell cell : chain) {
        out.value(cell.key());
        out.value(Indexed.plain(cell.value()));
        if (known != null) storeForms(cell.value(), texts, out);
      }
    });
    if (!expiry.isEmpty()) expiry.store(out);
  }

  private static void store(List<String> texts, StateOutput out) {
    out.number(texts.size());
    for (String text : texts) out.value(text);
  }

  private static List<String> restored(StateInput in) {
    var texts = new ArrayList<String>();
    for (int left = in.count(); left > 0; left--) {
      texts.add((String) Objects.requireNonNull(in.value()));
    }
    return List.copyOf(texts);
  }

  private static void storeForms(Object held, SortedSet<String> texts, StateOutput out) {
    if (!(held instanceof Indexed indexed)) {
      out.number(0);
      return;
    }
    out.number(1 + texts.headSet(indexed.indexes()).size());
    for (String form : indexed.forms()) out.value(form);
  }

  private static Object withForms(Object value, List<String> texts, StateInput in) {
    int number = (int) in.number();
    if (number == 0) return value;
    String indexes = texts.get(number - 1);
    var forms = new ArrayList<String>();
    for (int left = Indexed.idsIn(indexes).size(); left > 0; left--) {
      forms.add((String) Objects.requireNonNull(in.value()));
    }
    return new Indexed(value, indexes, List.copyOf(forms));
  }

  @Override
  public void restore(StateInput in) {
    Formats.Begun begun = Formats.began(in);
    classes = begun.classes();
    int count = in.count();
    kept = begun.indexed() ? new IndexIds(restored(in)) : null;
    List<String> texts = begun.indexed() ? restored(in) : List.of();
    var chains = new TreeMap<Integer, HashEntries.Cell>();
    for (int i = 0; i < count; i++) {
      Object key = Objects.requireNonNull(in.value());
      Object value = Objects.requireNonNull(in.value());
      if (begun.indexed()) value = withForms(value, texts, in);
      int hash = KeyHash.of(key);
      chains.put(hash, new HashEntries.Cell(key, value, chains.get(hash)));
    }
    entries = HashEntries.of(chains, count);
    expiry = begun.ends() ? Expiry.restored(in) : Expiry.NONE;
  }
}
