package stoa.objects;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Change;
import stoa.Changes;
import stoa.Closed;
import stoa.DeadlineExceeded;
import stoa.Listeners;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.ObjectEvent;
import stoa.StoaException;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.base.Key;
import stoa.base.Measures;
import stoa.front.ChangeQuery;
import stoa.front.ClassNames;
import stoa.front.SharedStoa;
import stoa.front.TimerArguments;
import stoa.spi.Collections;
import stoa.spi.ListenerObjects;
import stoa.spi.ListenerObjects.PendingEvent;
import stoa.spi.ListenerObjects.Position;
import stoa.store.Store;
import stoa.store.changes.ChangeFollower;
import stoa.store.changes.LoggedChange;
import stoa.store.past.Pins;
import stoa.store.threads.Threads;

/// Delivers the changes of the store that this process leads to the listeners of objects.
/// Thread-safe.
final class Deliveries {
  /*
   * Each listener has a lane. When the log has grown, or the object that keeps the listener has
   * changed, a thread reads the changes behind the listener's position, and calls that object with
   * them. The object moves its position in the same call.
   *
   * Invariants:
   * (1) The position of the object decides: a lane that has read too far, or from the wrong place,
   *     reads again from there, and the object refuses events for another position.
   * (2) A pin at the position holds the log behind it (HeldLog), from before the caller knows that
   *     the listener has begun. Until all lanes are known, one pin holds all.
   * (3) While no change matches, a lane remembers how far it has read, and the object's position
   *     follows after many log addresses, so an idle store logs nothing.
   */
  private static final Logger LOG = LoggerFactory.getLogger(Deliveries.class);

  // The stored names of the objects that call listeners, and of those that keep tags.
  private static final String TYPE = "stoa.Delivery";
  private static final String TAGS = "stoa.Tag";

  // How many lanes run at the same time: each holds a worker while it waits for its calls.
  private static final int RUNNING_MAX = 8;

  // How often one turn calls a listener's object, so that no lane keeps others waiting.
  private static final int ROUNDS_MAX = 8;

  private static final int EVENTS_MAX = 64;
  private static final int EVENT_BYTES_MAX = 128 << 10;
  private static final int PAGES_MAX = 16;
  private static final int PAUSE_TICKS = 1_000 / Threads.TICK_MILLIS;

  // How far the position may stay behind what was read.
  private static final long LAG_MAX = 10_000;
  private static final long LAG_OF_AN_HOUR_MAX = 16;
  private static final long HOUR_MICROS = 3_600_000_000L;

  private static final long NOWHERE = -1;

  /// An event that was read, and how many bytes it takes.
  private record Ahead(PendingEvent told, int bytes) {}

  /// The delivery of events to one listener.
  private static final class Lane {
    private final byte[] key;
    private final HeldLog log;

    // Guarded by this.
    private long seen;
    private boolean running;
    private int pause;
    private long dueMicros = Long.MIN_VALUE;
    private long readTo;

    // The state of the listener at the last look; no position while there is no listener.
    private long position = NOWHERE;
    private boolean failing;

    // Of the running thread.
    private ListenerObjects.@Nullable State state;
    private @Nullable Position from;
    private @Nullable ChangeFollower follower;
    private long movedMicros;
    private boolean warned;
    private final ArrayDeque<Ahead> ahead = new ArrayDeque<>();

    // The objects with the tag, as of what was read; null before, and without a tag.
    private @Nullable Set<String> tagged;

    private Lane(byte[] key, HeldLog log) {
      this.key = key;
      this.log = log;
    }

    private void rewind() {
      ChangeFollower open = follower;
      if (open != null) open.close();
      follower = null;
      from = null;
      tagged = null;
      ahead.clear();
    }

    /// Notes the state of the listener.
    private synchronized void shows(ListenerObjects.@Nullable State now) {
      position = now == null ? NOWHERE : now.at().address().counter();
      failing = now != null && now.attempts() > 0;
    }
  }

  private final SharedStoa stoa;
  private final Store store;
  private final Dictionary dictionary;
  private final LocalChanges source;
  private final Part part;
  private final Clock clock;
  private final Threads threads;
  private final ConcurrentHashMap<String, Lane> lanes = new ConcurrentHashMap<>();
  private final AtomicInteger running = new AtomicInteger();
  private volatile boolean begun;

  // Of the ticking thread.
  private int turn;

  private volatile Pins.@Nullable Pin unknown;
  private volatile boolean loads;
  private volatile boolean loaded;

  Deliveries(
      SharedStoa stoa,
      Store store,
      Dictionary dictionary,
      LocalChanges source,
      Part part,
      Clock clock,
      Threads threads) {
    this.stoa = stoa;
    this.store = store;
    this.dictionary = dictionary;
    this.source = source;
    this.part = part;
    this.clock = clock;
    this.threads = threads;
  }

  private static ListenerObjects objects() {
    return Collections.installed().listeners();
  }

  /// Begins to tell listeners, those of earlier processes too. Call it once, when the store takes
  /// calls, and before it releases anything.
  void begin() {
    if (!dictionary.after(ClassNames.CLASS + TYPE + " ").isEmpty()) {
      unknown = store.pins().pin(0);
      loads = true;
    }
    begun = true;
    threads.every(this::tick);
  }

  /// Notes that an object which keeps a listener has changed, before the caller has its answer.
  ///
  /// @param position the log counter behind which the listener must hear everything
  void changed(Key key, long position) {
    if (!begun) return;
    lane(key.name()).log.changed(position);
  }

  private Lane lane(byte[] key) {
    return lanes.computeIfAbsent(
        objects().text("", key),
        _ -> new Lane(key, new HeldLog(counter -> store.pins().pin(counter)::close)));
  }

  private void tick() {
    if (store.isClosed()) return;
    if (loads) {
      loads = false;
      try {
        threads.answer(this::load);
      } catch (RejectedExecutionException closed) {
        return; // the store tells nothing more
      }
    }
    releaseAll();
    if (lanes.isEmpty()) return;
    long now = clock.nowMicros();
    long end = source.logged().committed();
    var all = new ArrayList<>(lanes.values());
    java.util.Collections.rotate(all, -turn++); // so that each has its turn
    for (Lane lane : all) {
      synchronized (lane) {
        if (lane.running || lane.pause-- > 0) continue;
        lane.pause = 0;
        if (lane.seen == lane.log.changes() && (now < lane.dueMicros || lane.readTo >= end))
          continue;
        if (running.incrementAndGet() > RUNNING_MAX) {
          running.decrementAndGet();
          return;
        }
        lane.running = true;
      }
      start(lane);
    }
  }

  private void load() {
    try {
      Iterator<byte[]> keys = store.list(TYPE);
      while (keys.hasNext()) {
        var _ = lane(keys.next());
      }
      loaded = true;
    } catch (RuntimeException failed) {
      LOG.debug("the listeners of objects wait for their store", failed);
      loads = true;
    }
  }

  /// Lets the lanes hold the log themselves, once each of them does.
  private void releaseAll() {
    Pins.Pin all = unknown;
    if (all == null || !loaded) return;
    for (Lane lane : lanes.values()) {
      synchronized (lane) {
        if (lane.seen == 0) return;
      }
    }
    all.close();
    unknown = null;
  }

  private void start(Lane lane) {
    try {
      threads.answer(() -> run(lane));
    } catch (RejectedExecutionException closed) {
      ran(lane, 0);
    }
  }

  private void run(Lane lane) {
    int pause = 0;
    try {
      int rounds = 0;
      while (rounds < ROUNDS_MAX && tell(lane)) rounds++;
    } catch (RuntimeException failed) {
      LOG.debug("a listener of objects waits for its store", failed);
      lane.log.looksAgain(); // what was read so far may be wrong
      pause = PAUSE_TICKS;
    } finally {
      ran(lane, pause);
    }
  }

  private void ran(Lane lane, int pause) {
    synchronized (lane) {
      lane.running = false;
      lane.pause = pause;
    }
    running.decrementAndGet();
  }

  // ---- one lane

  /// Tells the next events; returns whether there may be more.
  private boolean tell(Lane lane) {
    long changes = lane.log.changes();
    boolean changed;
    synchronized (lane) {
      changed = changes != lane.seen;
    }
    ListenerObjects.State state = lane.state;
    if (changed || state == null) {
      state = objects().state(stoa, lane.key);
      lane.state = state;
    }
    lane.shows(state);
    if (state == null) {
      lane.rewind();
      if (!lane.log.end(changes)) return true; // another one may have begun meanwhile
      synchronized (lane) {
        lane.readTo = Long.MAX_VALUE;
        lane.seen = changes;
      }
      return false;
    }
    hold(lane, state, changes);
    if (clock.nowMicros() < state.dueMicros()) {
      synchronized (lane) {
        lane.dueMicros = state.dueMicros();
        lane.readTo = 0; // there is something to tell
        lane.seen = changes;
      }
      return false;
    }
    boolean more;
    try {
      more = read(lane, state);
    } catch (TooOld released) {
      String text = "changes were released before they were told: " + released.getMessage();
      objects().fail(stoa, lane.key, state.at(), text, true);
      LOG.warn("the listener {} ends: {}", name(lane), text);
      return true;
    } catch (Unavailable | Closed | DeadlineExceeded later) {
      throw later;
    } catch (StoaException unfit) {
      lane.rewind();
      objects().fail(stoa, lane.key, state.at(), unfit.toString(), false);
      return true;
    }
    synchronized (lane) {
      lane.seen = changes;
      lane.dueMicros = Long.MIN_VALUE;
      lane.readTo = more || !lane.ahead.isEmpty() ? 0 : readTo(lane);
    }
    if (lane.ahead.isEmpty()) return moves(lane, state) || more;
    send(lane, state);
    return true;
  }

  private static String name(Lane lane) {
    return objects().text("", lane.key).strip();
  }

  private static long readTo(Lane lane) {
    return Objects.requireNonNull(lane.follower).reached().counter() - 1;
  }

  /// Pins the position of a listener, while its object takes events.
  ///
  /// @param changes how many changes of the object there were before the state was read
  private void hold(Lane lane, ListenerObjects.State state, long changes) {
    long counter = state.at().address().counter();
    boolean failsForLong =
        state.attempts() > 0 && counter < store.lastBefore(Listeners.AGE_MAX.toNanos() / 1_000);
    if (failsForLong && !lane.warned) {
      lane.warned = true;
      LOG.warn(
          "the listener {} has failed for {}: the store keeps the log for it no longer",
          name(lane),
          Listeners.AGE_MAX);
    }
    if (failsForLong) {
      var _ = lane.log.end(changes); // what changed meanwhile is looked at next
    } else {
      lane.log.hold(counter);
    }
    if (state.attempts() == 0) lane.warned = false;
  }

  /// Reads events ahead; returns whether there may be more.
  private boolean read(Lane lane, ListenerObjects.State state) {
    Position at = state.at();
    if (!at.equals(lane.from)) {
      lane.rewind();
      lane.from = at;
    }
    ChangeFollower follower = lane.follower;
    if (follower == null) {
      LogAddress first = at.index() == Integer.MAX_VALUE ? behind(at.address()) : at.address();
      follower = source.logged().follow(first, asked(state.heard()), PAGES_MAX);
      lane.follower = follower;
    }
    while (lane.ahead.size() < EVENTS_MAX && bytes(lane) < EVENT_BYTES_MAX) {
      LoggedChange.Slot slot = follower.poll();
      if (slot == null) return follower.reached().counter() <= source.logged().committed();
      add(lane, state, slot);
    }
    return true;
  }

  private static int bytes(Lane lane) {
    int bytes = 0;
    for (Ahead one : lane.ahead) bytes += one.bytes();
    return bytes;
  }

  private static LogAddress behind(LogAddress address) {
    return new LogAddress(address.epoch(), address.counter() + 1);
  }

  private static LoggedChange.ChangeQuery asked(ListenerObjects.Selection heard) {
    return LocalChanges.asked(
        new ChangeQuery(heard.type(), heard.key(), Changes.Detail.CALLS, heard.passUntil()),
        Set.of()); // the tags, too
  }

  private void add(Lane lane, ListenerObjects.State state, LoggedChange.Slot slot) {
    List<LoggedChange> changes = slot.changes().stream().filter(LocalChanges::isOfState).toList();
    String tag = state.heard().tag();
    Set<String> members = tag == null ? null : members(lane, state, tag, changes);
    var heard = new ArrayList<Integer>();
    for (int i = 0; i < changes.size(); i++) {
      if (members == null || members.contains(text(changes.get(i).key()))) heard.add(i);
    }
    Position at = state.at();
    for (int i = 0; i < heard.size(); i++) {
      int index = heard.get(i);
      if (slot.address().equals(at.address()) && index <= at.index()) continue;
      byte[] encoded = encoded(changes.get(index), i, heard.size());
      boolean last = i == heard.size() - 1;
      var behind = new Position(at.begun(), slot.address(), last ? Integer.MAX_VALUE : index);
      lane.ahead.add(new Ahead(new PendingEvent(behind, encoded), encoded.length));
    }
  }

  private byte[] encoded(LoggedChange change, int index, int size) {
    try {
      return TimerArguments.encode(event(source.decoded(change, index, size)));
    } catch (StoaException unfit) {
      throw unfit;
    } catch (RuntimeException | LinkageError broken) {
      throw new NotShareable(
          "the change of " + change.key() + " cannot be read: " + broken.getClass().getName(),
          broken);
    }
  }

  private static ObjectEvent event(Change<?> change) {
    ObjectEvent.Kind kind =
        switch (change) {
          case Change.Called<?> call ->
              call.creates() ? ObjectEvent.Kind.CALLED_FIRST : ObjectEvent.Kind.CALLED;
          case Change.Created<?> _ -> ObjectEvent.Kind.CREATED;
          case Change.Deleted<?> _ -> ObjectEvent.Kind.DELETED;
          case Change.Changed<?> _, Change.Present<?> _ -> ObjectEvent.Kind.CHANGED;
        };
    boolean called = change instanceof Change.Called<?>;
    Change.At at = change.at();
    Instant time = at.time();
    return new ObjectEvent(
        at.object(),
        at.version(),
        at.address(),
        at.index(),
        at.size(),
        time,
        kind,
        called ? ((Change.Called<?>) change).method() : null,
        called ? ((Change.Called<?>) change).arguments() : List.of(),
        List.of());
  }

  private void send(Lane lane, ListenerObjects.State state) {
    var events = new ArrayList<PendingEvent>();
    int bytes = 0;
    for (Ahead one : lane.ahead) {
      // After a failure one at a time, so that a repeat carries no more than it needs.
      if (!events.isEmpty() && (bytes + one.bytes() > EVENT_BYTES_MAX || state.attempts() > 0)) {
        break;
      }
      if (events.size() == EVENTS_MAX) break;
      events.add(one.told());
      bytes += one.bytes();
    }
    Position to = events.getLast().at();
    objects().tell(stoa, lane.key, state.at(), events, to);
    long changes = lane.log.changes();
    ListenerObjects.State after = objects().state(stoa, lane.key);
    lane.state = after;
    lane.shows(after);
    if (after == null || !after.at().equals(to)) {
      lane.rewind(); // it has failed, or began anew
      return;
    }
    for (PendingEvent _ : events) lane.ahead.remove();
    lane.from = to;
    lane.movedMicros = clock.nowMicros();
    hold(lane, after, changes);
  }

  /// Moves the position when it is far behind what was read in vain; returns whether it did.
  private boolean moves(Lane lane, ListenerObjects.State state) {
    LogAddress reached = Objects.requireNonNull(lane.follower).reached();
    long lag = reached.counter() - 1 - state.at().address().counter();
    long now = clock.nowMicros();
    if (lane.movedMicros == 0) lane.movedMicros = now;
    boolean far =
        lag >= LAG_MAX || (lag >= LAG_OF_AN_HOUR_MAX && now - lane.movedMicros >= HOUR_MICROS);
    if (!far) return false;
    var to =
        new Position(
            state.at().begun(),
            new LogAddress(reached.epoch(), reached.counter() - 1),
            Integer.MAX_VALUE);
    objects().tell(stoa, lane.key, state.at(), List.of(), to);
    lane.state = null;
    lane.from = to;
    lane.movedMicros = now;
    return true;
  }

  // ---- measurements

  /// Returns how the listeners are.
  ListenerCounts counts() {
    long end = source.logged().committed();
    long count = 0;
    long failing = 0;
    long lag = 0;
    for (Lane lane : lanes.values()) {
      synchronized (lane) {
        if (lane.position == NOWHERE) continue;
        count++;
        if (lane.failing) failing++;
        lag = Math.max(lag, end - Math.max(lane.position, lane.readTo));
      }
    }
    return new ListenerCounts(count, failing, lag);
  }

  /// Reports the measurements.
  void measure(Measures out) {
    ListenerCounts now = counts();
    out.gauge(
        "stoa.listeners",
        Measures.NO_UNIT,
        "Listeners of objects that the group tells its changes.",
        (double) now.count());
    out.gauge(
        "stoa.listeners.failing",
        Measures.NO_UNIT,
        "Listeners that have failed at the event that they get next.",
        (double) now.failing());
    out.gauge(
        "stoa.listeners.lag",
        Measures.NO_UNIT,
        "By how many log addresses the last listener is behind the log of the group.",
        (double) now.lag());
  }

  // ---- tags

  /// Returns the objects with a tag, as of the end of a transaction.
  private Set<String> members(
      Lane lane, ListenerObjects.State state, String tag, List<LoggedChange> changes) {
    int group = part.group();
    Set<String> members = lane.tagged;
    if (members == null) {
      LogAddress at = state.at().address();
      members = new HashSet<>(objects().tagged(stoa, this::group, group, tag, at));
      lane.tagged = members;
    }
    byte[] keeper = null;
    for (LoggedChange change : changes) {
      if (!change.key().space().equals(TAGS)) continue;
      if (keeper == null) keeper = objects().keeper(this::group, group, tag);
      if (!Arrays.equals(keeper, change.key().name())) continue;
      if (!(source.decoded(change, 0, 1) instanceof Change.Called<?> call)) continue;
      String object = (String) call.arguments().getFirst();
      if (call.method().startsWith("remove(")) members.remove(object);
      else if (members.size() < Listeners.TAGGED_MAX) members.add(object);
    }
    return members;
  }

  private static String text(Key key) {
    return objects().text(key.space(), key.name());
  }

  private int group(String type, byte[] key) {
    return part.groupOf(new Key(type, key, type));
  }
}
