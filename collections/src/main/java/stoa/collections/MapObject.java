package stoa.collections;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Call;
import stoa.Key;
import stoa.Mutator;
import stoa.Schedule;
import stoa.Shared;
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
/// ```
@Shared(name = "stoa.Map")
class MapObject extends EntriesObject implements Forkable<MapObject>, OwnState {
  private static final String TIMER = "stoa.end";

  // How many entries one run of a timer removes.
  private static final int ENDED_MAX = 1_000;

  private HashEntries entries;
  private Expiry expiry;

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
    entries = entries.with(key, value);
    expiry = expiry.without(key);
  }

  /// Puts a value for a time.
  @Nullable Object put(@Key Object key, Object value, long micros) {
    Expiry ends = scheduled(expiry.with(key, nowMicros() + micros));
    Object before = get(key);
    entries = entries.with(key, value);
    expiry = ends;
    return before;
  }

  /// Removes the entries whose time is over. The map's timer calls it.
  void end() {
    expiry = expiry.timer(Expiry.NEVER);
    for (Object key : expiry.ended(nowMicros(), ENDED_MAX)) {
      entries = entries.without(key);
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
    HashEntries all = entries;
    for (int i = 0; i < more.size(); i += 2) {
      all = all.with(more.get(i), more.get(i + 1));
      expiry = expiry.without(more.get(i));
    }
    entries = all;
  }

  @Override
  @Mutator
  public void fastRemove(@Key Object key) {
    entries = entries.without(key);
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
    return new MapObject(classes, entries, expiry);
  }

  @Override
  public void store(StateOutput out) {
    Formats.begin(out, classes, !expiry.isEmpty());
    out.number(entries.size());
    entries.forEach(chain -> {
      if (chain.size() > 1) chain.sort((a, b) -> out.compare(a.key(), b.key()));
      for (HashEntries.Cell cell : chain) {
        out.value(cell.key());
        out.value(cell.value());
      }
    });
    if (!expiry.isEmpty()) expiry.store(out);
  }

  @Override
  public void restore(StateInput in) {
    Formats.Begun begun = Formats.began(in);
    classes = begun.classes();
    int count = in.count();
    var chains = new TreeMap<Integer, HashEntries.Cell>();
    for (int i = 0; i < count; i++) {
      Object key = Objects.requireNonNull(in.value());
      Object value = Objects.requireNonNull(in.value());
      int hash = KeyHash.of(key);
      chains.put(hash, new HashEntries.Cell(key, value, chains.get(hash)));
    }
    entries = HashEntries.of(chains, count);
    expiry = begun.ends() ? Expiry.restored(in) : Expiry.NONE;
  }
}
