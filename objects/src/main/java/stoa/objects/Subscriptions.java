package stoa.objects;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Corrupt;
import stoa.Gone;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.Texts;
import stoa.front.Service;
import stoa.store.Store;
import stoa.store.past.Pins;

/// The durable subscriptions to changes. A stream of its own notes where each one is. Thread-safe.
///
/// The store keeps the log behind the position of a subscription, by a pin, until the position is
/// older than the subscription may be. Of several stores with one order, home has the
/// subscriptions: a pin there holds all of the stores.
///
/// ```
/// a note:  1 u8, count varint, then each: name text, epoch varint, counter varint,
///          most age in seconds varint                              all subscriptions
/// ```
final class Subscriptions {
  /// The most subscriptions.
  static final int SUBSCRIPTIONS_MAX = 1_000;

  private static final Logger LOG = LoggerFactory.getLogger(Subscriptions.class);

  /// The stream of the notes.
  static final Key KEY = Key.of("stoa", "subscriptions");

  private static final int ALL = 1;
  private static final int NAME_CHARS_MAX = 200;
  private static final int NOTES_MAX = 1_024;
  private static final long MICROS = 1_000_000;

  // A subscription with a longer maximum age never expires.
  private static final long AGE_SECONDS_MAX = Long.MAX_VALUE / MICROS / 2;

  private record HeldSubscription(Service.Subscribed at, Pins.@Nullable Pin pin) {
    private void release() {
      if (pin != null) pin.close();
    }
  }

  // The position of an idle subscription may stay behind by one of so many parts of its maximum
  // age.
  private static final int AGE_PARTS = 4;

  private static final long NONE = -1;

  // How many ticks pass between two looks at the ages.
  private static final int TICKS = 200;

  private final Store store;
  private final boolean ordered;
  private final AtomicInteger ticks = new AtomicInteger();
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock, as is notes.
  private final SortedMap<String, HeldSubscription> all = new TreeMap<>();
  private int notes;

  // The shortest age of a subscription, in seconds.
  private volatile long shortest;

  /// Finds the subscriptions, and pins their positions. The caller creates this before the store
  /// releases any entry.
  ///
  /// @param ordered whether the store is one of several with one order
  Subscriptions(Store store, boolean ordered) {
    this.store = store;
    this.ordered = ordered;
    var found = new TreeMap<String, Service.Subscribed>();
    store.scan(
        KEY,
        entry -> {
          notes++;
          read(entry.payload(), found);
          return true;
        });
    found.forEach((name, one) ->
        all.put(name, new HeldSubscription(one, store.pins().pin(one.position().counter()))));
    shortest = shortestOf(all);
  }

  private static long shortestOf(SortedMap<String, HeldSubscription> of) {
    return of.values().stream().mapToLong(one -> one.at.ageSecondsMax()).min().orElse(NONE);
  }

  /// Returns the log counter up to which readers report the notes of subscriptions, since those
  /// notes are old; 0 for none.
  ///
  /// One of several stores cannot see whether the others have something behind a position. So the
  /// token of a reader moves on over the notes in time, and with it a position that is level.
  long oldNotesEnd() {
    long age = shortest;
    if (age == NONE) return 0;
    return store.lastBefore(Math.min(age, AGE_SECONDS_MAX) * (MICROS / AGE_PARTS));
  }

  private static void read(byte[] note, SortedMap<String, Service.Subscribed> found) {
    var in = new Decoder(note);
    int kind = in.u8();
    if (kind != ALL) throw new Corrupt("a note about subscriptions begins with " + kind);
    found.clear();
    for (int left = in.count(); left > 0; left--) {
      String name = in.text();
      var position = new LogAddress(in.varint(), in.varint());
      found.put(name, new Service.Subscribed(name, position, in.varint()));
    }
  }

  private void log(SortedMap<String, HeldSubscription> next) {
    var out = new Encoder(64 * next.size() + 8).u8(ALL).varint(next.size());
    for (HeldSubscription one : next.values()) {
      out.text(one.at.name()).varint(one.at.position().epoch()).varint(one.at.position().counter());
      out.varint(one.at.ageSecondsMax());
    }
    long address = store.append(KEY, out.toBytes());
    if (++notes >= NOTES_MAX) {
      store.forgetNotes(KEY, address);
      notes = 1;
    }
  }

  /// Logs a change of one subscription, and makes it.
  ///
  /// @param next null to end it
  private void change(String name, @Nullable HeldSubscription next) {
    var changed = new TreeMap<>(all);
    if (next == null) changed.remove(name);
    else changed.put(name, next);
    try {
      log(changed);
    } catch (RuntimeException | Error failed) {
      if (next != null) next.release();
      throw failed;
    }
    HeldSubscription before = next == null ? all.remove(name) : all.put(name, next);
    shortest = shortestOf(all);
    if (before != null) before.release();
  }

  /// Returns the subscription of a name, or begins one at the present.
  ///
  /// @param ageSecondsMax how old its position may become; replaces the earlier one
  /// @throws IllegalArgumentException when the name is empty or too long
  /// @throws LimitExceeded when there are too many
  Service.Subscribed subscribe(String name, long ageSecondsMax) {
    check(name);
    lock.lock();
    try {
      HeldSubscription known = all.get(name);
      store.checkUsable();
      if (known != null && known.at.ageSecondsMax() == ageSecondsMax) return known.at;
      if (known == null && all.size() >= SUBSCRIPTIONS_MAX) {
        throw new LimitExceeded(
            "there are %,d subscriptions; delete some".formatted(SUBSCRIPTIONS_MAX));
      }
      Pins.Pin pin =
          known == null ? store.pinNow() : store.pins().pin(known.at.position().counter());
      LogAddress position =
          known == null ? new LogAddress(store.epoch(), pin.counter()) : known.at.position();
      var next = new Service.Subscribed(name, position, ageSecondsMax);
      change(name, new HeldSubscription(next, pin));
      return next;
    } finally {
      lock.unlock();
    }
  }

  private static void check(String name) {
    Texts.check(name, "the name of the subscription");
    if (name.isEmpty() || name.length() > NAME_CHARS_MAX) {
      throw new IllegalArgumentException(
          "the name of a subscription has 1 to "
              + NAME_CHARS_MAX
              + " characters, not "
              + name.length());
    }
  }

  /// Moves a subscription forward, durably. One that is there or further stays where it is.
  ///
  /// @throws Gone when there is none of that name
  /// @throws IllegalArgumentException when the log has not reached that address
  void acknowledge(String name, LogAddress position) {
    lock.lock();
    try {
      HeldSubscription known = all.get(name);
      store.checkUsable();
      if (known == null) {
        throw new Gone("there is no subscription " + name + "; it was deleted, or never made");
      }
      if (position.compareTo(known.at.position()) <= 0) return;
      var next = new Service.Subscribed(name, position, known.at.ageSecondsMax());
      change(name, new HeldSubscription(next, store.pinAt(position)));
    } finally {
      lock.unlock();
    }
  }

  /// Returns all subscriptions, by name.
  List<Service.Subscribed> all() {
    lock.lock();
    try {
      store.checkUsable();
      var found = new ArrayList<Service.Subscribed>(all.size());
      for (HeldSubscription one : all.values()) found.add(one.at);
      return found;
    } finally {
      lock.unlock();
    }
  }

  /// Ends a subscription, durably; returns whether there was one.
  boolean unsubscribe(String name) {
    lock.lock();
    try {
      store.checkUsable();
      if (!all.containsKey(name)) return false;
      change(name, null);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /// Notes a tick; at some of them, looks for positions that are too old.
  void tick() {
    if (ticks.incrementAndGet() % TICKS != 0 || store.isClosed()) return;
    // Its holder may wait for the log. The thread of the ticks must not.
    if (!lock.tryLock()) return;
    try {
      expire();
    } catch (RuntimeException failed) {
      LOG.warn("the ages of subscriptions were not looked at: {}", failed.toString());
    } finally {
      lock.unlock();
    }
  }

  /// Returns whether the log has something between a position and a counter that is not about
  /// subscriptions themselves.
  private boolean isBehind(long position, long oldest) {
    if (position >= oldest) return false;
    if (ordered) return true; // the other stores may have something
    var found = new boolean[1];
    store
        .userStreams()
        .visitLog(
            position + 1,
            oldest,
            item -> {
              found[0] = item.places().stream().anyMatch(at -> !at.stream().equals(KEY.stream()));
              return !found[0];
            });
    return found[0];
  }

  /// Releases the pins of subscriptions whose positions are too old.
  void expire() {
    lock.lock();
    try {
      for (HeldSubscription one : List.copyOf(all.values())) {
        if (one.pin == null) continue;
        long oldest = store.lastBefore(Math.min(one.at.ageSecondsMax(), AGE_SECONDS_MAX) * MICROS);
        if (!isBehind(one.at.position().counter(), oldest)) continue;
        LOG.warn(
            "subscription {} has acknowledged nothing behind {} for {} s: the store keeps the log"
                + " for it no longer",
            one.at.name(),
            one.at.position(),
            one.at.ageSecondsMax());
        one.release();
        all.put(one.at.name(), new HeldSubscription(one.at, null));
      }
    } finally {
      lock.unlock();
    }
  }
}
