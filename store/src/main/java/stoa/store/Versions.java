package stoa.store;

import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Unavailable;
import stoa.base.Check;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;

/// The past of keys: which version of a key is seen at a place of the log, and its state, of which
/// what was read lately is kept in memory (vCorfu, section 4.2: playback up to a position).
///
/// Thread-safe. A reader waits only for puts at or below its place that are not executed yet; it
/// never waits for another reader.
final class Versions {
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

  private final Engine engine;
  private final Threads threads;
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

  /// Which version of a key is seen at a place of the log.
  ///
  /// @param version the last address of the stream at or below the place
  /// @param position the address of the last change at or below that; 0 when there was none
  /// @param from the log counter of that change
  /// @param until a log counter up to which there is no later change
  /// @param tail the end of the stream when there is no later change in it, -1 when there is
  record Seen(long version, long position, long from, long until, long tail) {}

  Versions(Engine engine, Threads threads, long bytesMax) {
    this.engine = engine;
    this.threads = threads;
    this.kept = new BoundedCache(bytesMax);
  }

  BoundedCache kept() {
    return kept;
  }

  /// The version of a key that is seen at a log counter, if it is kept.
  @Nullable Version known(Key key, long counter) {
    Line line = lines.get(key.stream());
    Version version = line == null ? null : line.at(counter);
    boolean known =
        version != null
            && version.isSeenAt(counter)
            && version.version() >= engine.retention().oldest(key);
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
    Resident resident = engine.residents().pin(key);
    try {
      engine.health().confirm();
      Line line = lines.get(key.stream());
      Version below = line == null ? null : line.at(counter);
      long moment = engine.moments().moment();
      long tail = resident.tail();
      if (below != null && below.isLast(tail) && tail >= engine.retention().oldest(key)) {
        below.extend(tail, moment, tail);
        return new Found<>(below, null);
      }
      Seen seen = seen(resident, counter, moment, tail);
      engine.retention().check(key, seen.version);
      if (below != null && below.from == seen.from) {
        below.extend(seen.version, seen.until, seen.tail);
        return new Found<>(below, null);
      }
      long end = settled(resident, seen.position, lateTick);
      T found = resident.look(live -> live.position() == seen.position ? look.apply(live) : null);
      if (found != null) return new Found<>(null, found);
      Version made = make(resident, seen, end, lateTick);
      engine.retention().check(key, seen.version); // it may have been released just now
      return new Found<>(made, null);
    } finally {
      resident.unpin();
    }
  }

  // ---- which version

  /// Which version of a key is seen at a log counter.
  ///
  /// @param moment a counter up to which everything is in the streams
  /// @param tail the end of the stream, as read after the moment
  Seen seen(Resident resident, long counter, long moment, long tail) {
    Check.that(counter <= moment, "%s is committed, up to %s", counter, moment);
    StreamId stream = resident.key.stream();
    // Readers look at what is recent, mostly: steps back from the end, each twice the one before.
    long low = tail;
    long high = tail + 1;
    StoredEntry behind = null;
    StoredEntry last = null;
    for (long step = 1; low > 0; step *= 2) {
      last = entry(stream, low);
      if (last == null || last.log().counter() <= counter) break;
      behind = last;
      high = low;
      low = Math.max(0, high - step);
    }
    while (high - low > 1) {
      long middle = (low + high) >>> 1;
      StoredEntry entry = entry(stream, middle);
      if (entry != null && entry.log().counter() > counter) {
        behind = entry;
        high = middle;
      } else {
        last = entry;
        low = middle;
      }
    }
    long version = low;
    if (low == 0) last = null;
    while (low > 0 && (last == null || !isChange(last))) {
      if (last == null) engine.retention().check(resident.key, low);
      last = --low == 0 ? null : entry(stream, low);
    }
    long from = last == null ? 0 : last.log().counter();
    long until = behind == null ? moment : behind.log().counter() - 1;
    return new Seen(version, low, from, until, behind == null ? tail : -1);
  }

  private @Nullable StoredEntry entry(StreamId stream, long address) {
    return engine.streams().read(stream, address);
  }

  static boolean isChange(StoredEntry entry) {
    return entry.kind() == Records.PUT || entry.kind() == Records.DELETE;
  }

  // ---- settling

  /// Waits until the put at an address, and those before, are executed and all that is logged about
  /// them is in the stream; answers an address up to which that is.
  ///
  /// @param lateTick the tick at which the reader's time is over; 0 for none
  long settled(Resident resident, long position, int lateTick) {
    if (position == 0) return 0;
    long end = settledBefore(resident.key.stream(), position, resident.tail());
    if (end >= 0) return end;
    awaitExecuted(resident, position, lateTick);
    engine.questions().barrier(resident.key);
    end = settledBefore(resident.key.stream(), position, resident.tail());
    return end >= 0 ? end : resident.tail();
  }

  /// As [#settled(Resident, long, int)], for a reader without a time of its own.
  long settled(Key key, long position) {
    Resident resident = engine.residents().pin(key);
    try {
      return settled(resident, position, 0);
    } finally {
      resident.unpin();
    }
  }

  /// The last address before the first put that says that another one was settled; -1 when none
  /// says so.
  private long settledBefore(StreamId stream, long position, long tail) {
    var found = new long[] {-1};
    engine
        .streams()
        .scan(
            stream,
            position + 1,
            tail,
            entry -> {
              boolean says =
                  entry.kind() == Records.PUT
                      && entry.address() - Records.behind(entry.payload()) >= position;
              if (says) found[0] = entry.address() - 1;
              return !says;
            });
    return found[0];
  }

  /// Waits until the put at an address is executed.
  private void awaitExecuted(Resident resident, long position, int lateTick) {
    for (int spins = 0; !resident.hasExecuted(position); spins++) {
      engine.health().confirm();
      engine.deadlines().checkTime(resident.key, lateTick);
      if (!resident.isBusy() && !resident.hasExecuted(position)) {
        // Nobody is about to execute it: an earlier process left it, or its run could not go on.
        long reached = engine.questions().position(resident.key, lateTick);
        if (resident.hasExecuted(position)) return;
        throw new Unavailable(
            resident.key + " is at " + reached + ", and " + position + " cannot be executed");
      }
      if (engine.leader().lead(null)) continue;
      if (resident.isScheduled() && threads.mayRunLong()) {
        resident.runUntil(null);
      } else {
        threads.pause(spins);
      }
    }
  }

  // ---- making

  private Version make(Resident resident, Seen seen, long end, int lateTick) {
    Line line = lines.computeIfAbsent(resident.key.stream(), _ -> new Line());
    lock(line.making, resident.key, lateTick);
    try {
      Version same = line.versions.get(seen.from);
      if (same != null) {
        same.extend(seen.version, seen.until, seen.tail);
        return same;
      }
      Materialized.State state =
          resident.look(live -> live.position() == seen.position ? live.cheapFork() : null);
      if (state == null) {
        try {
          state = play(resident.key, seen.position, end, line.at(seen.from), lateTick);
        } catch (RuntimeException failure) {
          engine.retention().check(resident.key, seen.version); // which tells more
          throw failure;
        }
      }
      Check.that(state.position() == seen.position, "%s is at %s", resident.key, seen.position);
      var factory = engine.spaces().factory(resident.key.space());
      var version =
          new Version(resident.key, factory, state, seen.version, seen.from, seen.until, seen.tail);
      keep(resident.key.stream(), version);
      return version;
    } finally {
      line.making.unlock();
    }
  }

  /// Waits for a lock under which states are made, as long as the reader has time.
  void lock(ReentrantLock making, Key key, int lateTick) {
    if (lateTick == 0) {
      making.lock();
      return;
    }
    while (!making.tryLock()) {
      engine.deadlines().checkTime(key, lateTick);
      threads.pause();
    }
  }

  private Materialized.State play(
      Key key, long position, long end, @Nullable Version below, int lateTick) {
    Materialized.State base = below == null ? null : base(key, position, below);
    if (base != null) {
      var played =
          new Materialized(engine, key, engine.spaces().factory(key.space())).until(lateTick);
      played.begin(base);
      if (played.advance(position, end)) return played.state();
    }
    var loaded =
        new Materialized(engine, key, engine.spaces().factory(key.space())).until(lateTick);
    loaded.load(position, end);
    return loaded.state();
  }

  /// A copy of a version to go on from, when that is nearer than the last checkpoint. One that is
  /// marshalled may have another shape in memory, and go on in another way.
  private Materialized.@Nullable State base(Key key, long position, Version below) {
    if (below.isAbsent() || !below.forksCheaply()) return null;
    Streams.At begin = engine.streams().lastMark(key.stream(), position);
    if (begin == null || begin.address() != below.generation()) return null;
    if (engine.streams().checkpointAt(key.stream(), position) > below.position()) return null;
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

  /// The state of a key right after the change at an address, which nobody keeps.
  Version between(Key key, long position, int lateTick) {
    var factory = engine.spaces().factory(key.space());
    return new Version(key, factory, play(key, position, lateTick), position, 0, 0, -1);
  }

  private Materialized.State play(Key key, long position, int lateTick) {
    Resident resident = engine.residents().pin(key);
    try {
      return play(key, position, settled(resident, position, lateTick), null, lateTick);
    } finally {
      resident.unpin();
    }
  }

  // ---- keeping

  /// Keeps the live state, if it forks cheaply and somebody holds what is seen now, before a change
  /// that comes.
  ///
  /// @param from the log counter of the last change that it reflects
  /// @param change what comes
  /// @param address the stream address of what comes
  void keep(Resident resident, Materialized live, long from, ChangeRequest change, long address) {
    int own = change.transaction() == null ? 0 : 1; // who changes it holds it as well
    if (!engine.retention().pins().isHeld(from, own)) return;
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
    HandlerFactory factory = engine.spaces().factory(key.space());
    keep(key.stream(), new Version(key, factory, state, address - 1, from, change.counter - 1, -1));
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
