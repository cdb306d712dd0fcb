package stoa.store.past;

import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.base.Check;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Streams;
import stoa.store.leading.Moments;
import stoa.store.running.ChangeRequest;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.Loader;
import stoa.store.running.Materialized;
import stoa.store.running.Resident;
import stoa.store.running.Residents;

/// The past of keys: which version of a key is seen at a place of the log, and its state, of which
/// what was read lately is kept in memory (vCorfu, section 4.2: playback up to a position).
///
/// Thread-safe. A reader waits only for puts at or below its place that are not executed yet; it
/// never waits for another reader.
@SuppressWarnings("exports") // see the package
public final class Versions {
  /*
   * A version is seen from the log counter of the change that made it, its `from`, up to the counter
   * before the next change of the stream. How far that is need not be known: `until` is the counter
   * up to which nobody changed the key when somebody looked last.
   *
   * What a version is made from, the first that is there:
   * - a fork of the live state, when that is the version and forks cheaply;
   * - a copy of the nearest version below that is kept, and the entries between;
   * - the nearest checkpoint below, and the entries between.
   *
   * Invariants:
   * (1) Every put at or below a version that was ever made has been executed, and all that is logged
   *     about it is in the stream: its answers and verdicts do not change any more.
   * (2) What is logged about a put lies before the next put that says so (Records.Put.behind), so
   *     that reading a version costs what lies between it and its base, not what lies behind it.
   * (3) An instance of a handler has one user at a time. Nobody waits for one: a reader that finds
   *     none free makes another, because a reader may ask other keys while it has one.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Versions.class);
  private static final long BASE_BYTES = 256;

  private final VersionFinder finder;
  private final Loader loader;
  private final Residents residents;
  private final Pins pins;
  private final Moments moments;
  private final BoundedCache kept;
  private final ConcurrentHashMap<StreamId, Line> lines = new ConcurrentHashMap<>();

  /// The versions of one key that are kept.
  private static final class Line {
    /// By the counter from which they are seen.
    private final ConcurrentSkipListMap<Long, Version> versions = new ConcurrentSkipListMap<>();

    private final ReentrantLock making = new ReentrantLock();

    @Nullable Version at(long counter) {
      var found = versions.floorEntry(counter);
      return found == null ? null : found.getValue();
    }
  }

  /// @param pins says which places of the log are held
  /// @param bytesMax how much memory what is kept may take
  public Versions(
      VersionFinder finder,
      Loader loader,
      Residents residents,
      Pins pins,
      Moments moments,
      long bytesMax) {
    this.finder = finder;
    this.loader = loader;
    this.residents = residents;
    this.pins = pins;
    this.moments = moments;
    this.kept = new BoundedCache(bytesMax);
  }

  /// How much memory the versions take that are kept, in bytes.
  public long keptBytes() {
    return kept.bytes();
  }

  BoundedCache kept() {
    return kept;
  }

  /// Whether the version of a key is kept that is seen at a log counter.
  public boolean keeps(Key key, long counter) {
    return known(key, counter) != null;
  }

  /// The version of a key that is seen at a log counter, if it is kept.
  @Nullable Version known(Key key, long counter) {
    Line line = lines.get(key.stream());
    Version version = line == null ? null : line.at(counter);
    boolean known =
        version != null
            && version.isSeenAt(counter)
            && version.version() >= loader.timeline.oldest(key);
    return known ? version : null;
  }

  /// The version of a key that is seen at a log counter.
  ///
  /// @param lateTick the tick at which the reader's time is over; 0 for none
  Version at(Key key, long counter, int lateTick) {
    return Objects.requireNonNull(at(key, counter, lateTick, _ -> null).version);
  }

  /// A version, or what was found without making one.
  ///
  /// @param version the version, null when something was found instead
  /// @param found what was found
  record Found<T>(@Nullable Version version, @Nullable T found) {}

  /// The version of a key that is seen at a log counter, or what a look at the live state gives
  /// while that is the version.
  ///
  /// @param look gives null when it would have to wait, or does not want to look
  <T> Found<T> at(Key key, long counter, int lateTick, Function<Materialized, @Nullable T> look) {
    Version version = known(key, counter);
    if (version != null) return new Found<>(version, null);
    Resident resident = residents.pin(key);
    try {
      loader.health.confirm();
      Line line = lines.get(key.stream());
      Version below = line == null ? null : line.at(counter);
      long moment = moments.moment();
      long tail = resident.tail();
      if (below != null && below.isLast(tail) && tail >= loader.timeline.oldest(key)) {
        below.extend(tail, moment, tail);
        return new Found<>(below, null);
      }
      VersionFinder.Seen seen = finder.seen(resident, counter, moment, tail);
      loader.timeline.check(key, seen.version());
      if (below != null && below.from == seen.from()) {
        below.extend(seen.version(), seen.until(), seen.tail());
        return new Found<>(below, null);
      }
      long end = finder.settled(resident, seen.position(), lateTick);
      T found = resident.look(live -> live.position() == seen.position() ? look.apply(live) : null);
      if (found != null) return new Found<>(null, found);
      Version made = make(resident, seen, end, lateTick);
      loader.timeline.check(key, seen.version()); // it may have been released just now
      return new Found<>(made, null);
    } finally {
      resident.unpin();
    }
  }

  // ---- making

  /// As [VersionFinder#settled], for a reader without a time of its own.
  long settled(Key key, long position) {
    Resident resident = residents.pin(key);
    try {
      return finder.settled(resident, position, 0);
    } finally {
      resident.unpin();
    }
  }

  private Version make(Resident resident, VersionFinder.Seen seen, long end, int lateTick) {
    Line line = lines.computeIfAbsent(resident.key.stream(), _ -> new Line());
    finder.lock(line.making, resident.key, lateTick);
    try {
      Version same = line.versions.get(seen.from());
      if (same != null) {
        same.extend(seen.version(), seen.until(), seen.tail());
        return same;
      }
      Materialized.State state =
          resident.look(live -> live.position() == seen.position() ? live.cheapFork() : null);
      if (state == null) {
        try {
          state = play(resident.key, seen.position(), end, line.at(seen.from()), lateTick);
        } catch (RuntimeException failure) {
          loader.timeline.check(resident.key, seen.version()); // which tells more
          throw failure;
        }
      }
      Check.that(state.position() == seen.position(), "%s is at %s", resident.key, seen.position());
      var factory = loader.runs.factory(resident.key);
      var version = new Version(resident.key, factory, state, seen);
      keep(resident.key.stream(), version);
      return version;
    } finally {
      line.making.unlock();
    }
  }

  private Materialized.State play(
      Key key, long position, long end, @Nullable Version below, int lateTick) {
    Materialized.State base = below == null ? null : base(key, position, below);
    if (base != null) {
      Materialized played = loader.state(key).until(lateTick);
      played.begin(base);
      if (played.advance(position, end)) return played.state();
    }
    Materialized loaded = loader.state(key).until(lateTick);
    loaded.load(position, end);
    return loaded.state();
  }

  /// A copy of a version to go on from, when that is nearer than the last checkpoint. One that is
  /// marshalled may have another shape in memory, and go on in another way.
  private Materialized.@Nullable State base(Key key, long position, Version below) {
    if (below.isAbsent() || !below.forksCheaply()) return null;
    Streams.At begin = loader.streams.lastMark(key.stream(), position);
    if (begin == null || begin.address() != below.generation()) return null;
    if (loader.streams.checkpointAt(key.stream(), position) > below.position()) return null;
    return below.copy();
  }

  /// Another instance of a version whose instances are all in use.
  Handler another(Key key, Version version, int lateTick) {
    Materialized.State played = play(key, version.position(), lateTick);
    grow(version, size(version.state()));
    return Objects.requireNonNull(played.handler());
  }

  /// Gives back an instance that a reader had.
  ///
  /// @param handler null when it is in doubt
  void give(Version version, @Nullable Handler handler) {
    if (handler == null || !version.give(handler)) grow(version, -size(version.state()));
  }

  private static void grow(Version version, long bytes) {
    Version.Group group = version.group;
    if (group != null) group.grow(bytes);
  }

  /// The state of a key right after the change at an address. It is not kept.
  Version between(Key key, long position, int lateTick) {
    var factory = loader.runs.factory(key);
    var seen = new VersionFinder.Seen(position, position, 0, 0, -1);
    return new Version(key, factory, play(key, position, lateTick), seen);
  }

  private Materialized.State play(Key key, long position, int lateTick) {
    Resident resident = residents.pin(key);
    try {
      return play(key, position, finder.settled(resident, position, lateTick), null, lateTick);
    } finally {
      resident.unpin();
    }
  }

  // ---- keeping

  /// Keeps the live state, if it forks cheaply and a reader holds what is seen now, before a change
  /// that comes.
  ///
  /// @param from the log counter of the last change that it reflects
  /// @param change what comes
  /// @param address the stream address of what comes
  void keep(Resident resident, Materialized live, long from, ChangeRequest change, long address) {
    int own = change.transaction() == null ? 0 : 1; // who changes it holds it as well
    if (!pins.isHeld(from, own)) return;
    if (live.generation() == 0 || !live.forksCheaply()) return;
    Key key = resident.key;
    if (known(key, from) != null) return;
    Materialized.State state;
    try {
      state = live.cheapFork();
    } catch (RuntimeException failure) {
      // Of the class's own fork: readers make the version in another way, and the change goes on.
      LOG.warn("no fork of {} at {}: {}", key, live.position(), failure.toString());
      return;
    }
    if (state == null) return;
    HandlerFactory factory = loader.runs.factory(key);
    var seen = new VersionFinder.Seen(address - 1, state.position(), from, change.counter - 1, -1);
    keep(key.stream(), new Version(key, factory, state, seen));
  }

  private static long size(Materialized.State state) {
    return BASE_BYTES + state.stateBytes() + state.bytesSince();
  }

  private void keep(StreamId stream, Version version) {
    var added = new Added[1];
    lines.compute(
        stream,
        (_, known) -> {
          Line line = known == null ? new Line() : known;
          added[0] = add(stream, line, version);
          line.versions.put(version.from, version);
          return line;
        });
    // Outside: making room changes the map.
    if (added[0].fresh) kept.add(added[0].group, added[0].weight);
    else kept.reweigh(added[0].weight);
  }

  private record Added(Sharing group, long weight, boolean fresh) {}

  private Added add(StreamId stream, Line line, Version version) {
    Version below = line.at(version.from);
    if (below != null
        && below.group instanceof Sharing group
        && below.state().base().equals(version.state().base())) {
      long weight = group.add(version);
      if (weight >= 0) return new Added(group, weight, false);
    }
    var group = new Sharing(stream);
    return new Added(group, group.add(version), true);
  }

  /// Versions of one stream whose states share most of what they take.
  private final class Sharing implements Version.Group {
    private final StreamId stream;
    private volatile boolean used = true;
    private volatile boolean dropped;

    // Guarded by this.
    private final ConcurrentSkipListMap<Long, Version> versions = new ConcurrentSkipListMap<>();
    private long bytes;
    private long since;

    private Sharing(StreamId stream) {
      this.stream = stream;
    }

    /// Adds a version and answers what it takes; a negative number when this was dropped.
    private synchronized long add(Version version) {
      if (dropped) return -1;
      long bytesSince = version.state().bytesSince();
      long more = Math.max(0, Math.min(bytesSince, bytesSince - since));
      long weight = versions.isEmpty() ? size(version.state()) : BASE_BYTES + more;
      versions.put(version.from, version);
      version.group = this;
      since = Math.max(since, bytesSince);
      bytes += weight;
      return weight;
    }

    @Override
    public void use() {
      if (!used) used = true;
    }

    @Override
    public void grow(long more) {
      synchronized (this) {
        if (dropped) return;
        bytes += more;
      }
      kept.reweigh(more);
    }

    @Override
    public boolean wasUsed() {
      boolean was = used;
      used = false;
      return was;
    }

    @Override
    public long drop() {
      long freed;
      synchronized (this) {
        dropped = true;
        freed = bytes;
      }
      lines.computeIfPresent(
          stream,
          (_, line) -> {
            versions.forEach((from, version) -> line.versions.remove(from, version));
            return line.versions.isEmpty() && !line.making.isLocked() ? null : line;
          });
      return freed;
    }
  }
}
