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
import stoa.store.leading.ReadMoments;
import stoa.store.running.ChangeRequest;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;
import stoa.store.running.Loader;
import stoa.store.running.Materialized;
import stoa.store.running.Resident;
import stoa.store.running.Residents;

/// The past of keys: finds which version of a key a reader sees at a place of the log, and makes
/// its state. Keeps recently read states in memory (vCorfu, section 4.2: playback up to a
/// position).
///
/// Thread-safe. A reader waits only for puts at or below its place that are not executed yet; it
/// never waits for another reader.
@SuppressWarnings("exports") // see the package
public final class Versions {
  /*
   * A reader sees a version from the log counter of the change that made it, its `from`, up to the
   * counter before the next change of the stream. The end of that range need not be known: `until`
   * is the counter up to which the last look found no later change.
   *
   * A version is made from the first of these bases that is available:
   * - a fork of the live state, when the live state is that version and forks cheaply;
   * - a copy of the nearest earlier version in memory, and the entries between;
   * - the nearest earlier checkpoint, and the entries between.
   *
   * Invariants:
   * (1) Before a version is made, every put at or below it has been executed, and the stream has
   *     everything that the store logs about these puts: their answers and verdicts do not change
   *     any more.
   * (2) The entries about a put lie before the next put that says so (Records.Put.behind). To read
   *     a version therefore costs the entries between the version and its base, not those behind
   *     it.
   * (3) An instance of a handler has one user at a time. No reader waits for one: a reader that
   *     finds no free instance makes another, because a reader may ask other keys while it has one.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Versions.class);
  private static final long BASE_BYTES = 256;

  private final VersionFinder finder;
  private final Loader loader;
  private final Residents residents;
  private final Pins pins;
  private final ReadMoments moments;
  private final BoundedCache kept;
  private final ConcurrentHashMap<StreamId, Line> lines = new ConcurrentHashMap<>();

  /// The versions of one key in memory.
  private static final class Line {
    // By the counter from which readers see them.
    private final ConcurrentSkipListMap<Long, KeyVersion> versions = new ConcurrentSkipListMap<>();

    private final ReentrantLock making = new ReentrantLock();

    @Nullable KeyVersion at(long counter) {
      var found = versions.floorEntry(counter);
      return found == null ? null : found.getValue();
    }
  }

  /// @param pins tells which places of the log are pinned
  /// @param bytesMax how much memory the versions may take
  public Versions(
      VersionFinder finder,
      Loader loader,
      Residents residents,
      Pins pins,
      ReadMoments moments,
      long bytesMax) {
    this.finder = finder;
    this.loader = loader;
    this.residents = residents;
    this.pins = pins;
    this.moments = moments;
    this.kept = new BoundedCache(bytesMax);
  }

  /// Returns how many bytes of memory the versions take.
  public long keptBytes() {
    return kept.bytes();
  }

  BoundedCache kept() {
    return kept;
  }

  /// Returns whether memory has the version of a key that a reader sees at a log counter.
  public boolean keeps(Key key, long counter) {
    return known(key, counter) != null;
  }

  /// Returns the version of a key that a reader sees at a log counter, if memory has it; null
  /// otherwise.
  @Nullable KeyVersion known(Key key, long counter) {
    Line line = lines.get(key.stream());
    KeyVersion version = line == null ? null : line.at(counter);
    boolean known =
        version != null
            && version.isSeenAt(counter)
            && version.version() >= loader.timeline.oldest(key);
    return known ? version : null;
  }

  /// Returns the version of a key that a reader sees at a log counter.
  ///
  /// @param lateTick the tick at which the reader's time is over; 0 for none
  KeyVersion at(Key key, long counter, int lateTick) {
    return Objects.requireNonNull(at(key, counter, lateTick, _ -> null).version);
  }

  /// A version, or a result that made the version unnecessary.
  ///
  /// @param version the version, null when there is a result instead
  /// @param found the result
  record Found<T>(@Nullable KeyVersion version, @Nullable T found) {}

  /// Returns the version of a key that a reader sees at a log counter, or the result of a look at
  /// the live state if the live state is that version.
  ///
  /// @param look returns null when it would have to wait, or does not want to look
  <T> Found<T> at(Key key, long counter, int lateTick, Function<Materialized, @Nullable T> look) {
    KeyVersion version = known(key, counter);
    if (version != null) return new Found<>(version, null);
    Resident resident = residents.pin(key);
    try {
      loader.health.confirm();
      Line line = lines.get(key.stream());
      KeyVersion below = line == null ? null : line.at(counter);
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
      KeyVersion made = make(resident, seen, end, lateTick);
      loader.timeline.check(key, seen.version()); // it may have been released just now
      return new Found<>(made, null);
    } finally {
      resident.unpin();
    }
  }

  // ---- making

  /// Returns the result of [VersionFinder#settled] for a reader without a time limit of its own.
  long settled(Key key, long position) {
    Resident resident = residents.pin(key);
    try {
      return finder.settled(resident, position, 0);
    } finally {
      resident.unpin();
    }
  }

  private KeyVersion make(Resident resident, VersionFinder.Seen seen, long end, int lateTick) {
    Line line = lines.computeIfAbsent(resident.key.stream(), _ -> new Line());
    finder.lock(line.making, resident.key, lateTick);
    try {
      KeyVersion same = line.versions.get(seen.from());
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
      var version = new KeyVersion(resident.key, factory, state, seen);
      keep(resident.key.stream(), version);
      return version;
    } finally {
      line.making.unlock();
    }
  }

  private Materialized.State play(
      Key key, long position, long end, @Nullable KeyVersion below, int lateTick) {
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

  /// Returns a copy of an earlier version as a base, when it is nearer than the last checkpoint;
  /// null otherwise. A marshalled copy may have another shape in memory and then change in another
  /// way, so this does not use one.
  private Materialized.@Nullable State base(Key key, long position, KeyVersion below) {
    if (below.isAbsent() || !below.forksCheaply()) return null;
    Streams.At begin = loader.streams.lastMark(key.stream(), position);
    if (begin == null || begin.address() != below.generation()) return null;
    if (loader.streams.checkpointAt(key.stream(), position) > below.position()) return null;
    return below.copy();
  }

  /// Makes another instance of a version whose instances are all in use.
  Handler another(Key key, KeyVersion version, int lateTick) {
    Materialized.State played = play(key, version.position(), lateTick);
    grow(version, size(version.state()));
    return Objects.requireNonNull(played.handler());
  }

  /// Gives back an instance of a reader.
  ///
  /// @param handler null when its state is in doubt
  void give(KeyVersion version, @Nullable Handler handler) {
    if (handler == null || !version.give(handler)) grow(version, -size(version.state()));
  }

  private static void grow(KeyVersion version, long bytes) {
    KeyVersion.Group group = version.group;
    if (group != null) group.grow(bytes);
  }

  /// Makes the state of a key right after the change at an address, and does not keep it.
  KeyVersion between(Key key, long position, int lateTick) {
    var factory = loader.runs.factory(key);
    var seen = new VersionFinder.Seen(position, position, 0, 0, -1);
    return new KeyVersion(key, factory, play(key, position, lateTick), seen);
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

  /// Keeps the live state before a change, if the state forks cheaply and a reader has pinned the
  /// present.
  ///
  /// @param from the log counter of the last change that the state reflects
  /// @param change the change that comes next
  /// @param address the stream address of that change
  void keep(Resident resident, Materialized live, long from, ChangeRequest change, long address) {
    int own = change.transaction() == null ? 0 : 1; // the transaction pins it, too
    if (!pins.isHeld(from, own)) return;
    if (live.generation() == 0 || !live.forksCheaply()) return;
    if (!resident.isDurable()) return; // readers take a version from here without a wait
    Key key = resident.key;
    if (known(key, from) != null) return;
    Materialized.State state;
    try {
      state = live.cheapFork();
    } catch (RuntimeException failure) {
      // The class's own fork failed: readers make the version in another way, and the change goes
      // ahead.
      LOG.warn("no fork of {} at {}: {}", key, live.position(), failure.toString());
      return;
    }
    if (state == null) return;
    HandlerFactory factory = loader.runs.factory(key);
    var seen = new VersionFinder.Seen(address - 1, state.position(), from, change.counter - 1, -1);
    keep(key.stream(), new KeyVersion(key, factory, state, seen));
  }

  private static long size(Materialized.State state) {
    return BASE_BYTES + state.stateBytes() + state.bytesSince();
  }

  private void keep(StreamId stream, KeyVersion version) {
    var added = new Added[1];
    lines.compute(
        stream,
        (_, known) -> {
          Line line = known == null ? new Line() : known;
          added[0] = add(stream, line, version);
          line.versions.put(version.from, version);
          return line;
        });
    // This comes after the update of the map, since making room changes the map.
    if (added[0].fresh) kept.add(added[0].group, added[0].weight);
    else kept.reweigh(added[0].weight);
  }

  private record Added(Sharing group, long weight, boolean fresh) {}

  private Added add(StreamId stream, Line line, KeyVersion version) {
    KeyVersion below = line.at(version.from);
    if (below != null
        && below.group instanceof Sharing group
        && below.state().base().equals(version.state().base())) {
      long weight = group.add(version);
      if (weight >= 0) return new Added(group, weight, false);
    }
    var group = new Sharing(stream);
    return new Added(group, group.add(version), true);
  }

  /// Versions of one stream whose states share most of their memory.
  private final class Sharing implements KeyVersion.Group {
    private final StreamId stream;
    private volatile boolean used = true;
    private volatile boolean dropped;

    // Guarded by this.
    private final ConcurrentSkipListMap<Long, KeyVersion> versions = new ConcurrentSkipListMap<>();
    private long bytes;
    private long since;

    private Sharing(StreamId stream) {
      this.stream = stream;
    }

    /// Adds a version and returns how much memory it takes; a negative number when this was
    /// dropped.
    private synchronized long add(KeyVersion version) {
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
