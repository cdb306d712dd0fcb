package stoa.store;

import java.util.Iterator;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import stoa.base.Check;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Streams;
import stoa.store.leading.Health;

/// The keys in memory, bounded by the encoded size of their states. Thread-safe.
///
/// Idle keys beyond the bound leave by the clock rule: a hand goes round, and takes whoever was not
/// used since it last passed. Nothing is written for that; a key comes back from its last
/// checkpoint and the entries behind it (CRESON, section III-D, calls this passivation).
final class Residents {
  /// What a key takes in memory beside its state.
  private static final long BASE_BYTES = 512;

  private final Health health;
  private final Streams streams;
  private final Function<Key, Resident> maker;
  private final long bytesMax;
  private final Tally tally;
  private final ConcurrentHashMap<StreamId, Resident> residents = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, Resident> directories = new ConcurrentHashMap<>();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicBoolean evicting = new AtomicBoolean();
  private Iterator<Resident> hand = residents.values().iterator();

  /// @param maker brings a key into memory
  Residents(Health health, Streams streams, Function<Key, Resident> maker, long bytesMax, Tally tally) {
    this.health = health;
    this.streams = streams;
    this.maker = maker;
    this.bytesMax = bytesMax;
    this.tally = tally;
  }

  /// The key in memory, pinned.
  Resident pin(Key key) {
    while (true) {
      Resident resident = residents.get(key.stream());
      if (resident == null) {
        health.confirm(); // may wait for other servers: not within the map's lock
        // Reads the tail of the stream within the map's lock: nobody can use the key in between.
        var pinned = new Resident[1];
        resident =
            residents.computeIfAbsent(
                key.stream(),
                _ -> {
                  health.checkSound();
                  Resident made = maker.apply(key);
                  Check.that(made.pin(), "%s is new", key);
                  pinned[0] = made;
                  return made;
                });
        if (pinned[0] != null) {
          resident.referenced = true;
          tally.loaded();
          reweigh(BASE_BYTES);
          return resident;
        }
      }
      if (resident.pin()) {
        if (resident.key.isStream() != key.isStream()) {
          resident.unpin();
          throw mixed(key);
        }
        resident.referenced = true;
        return resident;
      }
      residents.remove(key.stream(), resident);
    }
  }

  /// The stream that lists the keys of a space; it stays in memory.
  Resident directory(String space) {
    Resident known = directories.get(space);
    if (known != null) return known;
    Resident pinned = pin(Key.of("stoa/directory", space));
    Resident first = directories.putIfAbsent(space, pinned);
    if (first == null) return pinned;
    pinned.unpin();
    return first;
  }

  /// The last committed address of a stream, which need not be in memory.
  long tail(StreamId stream) {
    Resident resident = residents.get(stream);
    if (resident != null) return resident.tail();
    long last = streams.last(stream);
    // What is under way into the stream has it in memory, and then the end is not what was read.
    resident = residents.get(stream);
    if (resident != null) return resident.tail();
    health.confirm();
    return last;
  }

  /// What a user's stream and a key of the store are told that have one id.
  static IllegalArgumentException mixed(Key key) {
    return new IllegalArgumentException(
        key.isStream()
            ? key + " is an object's or the store's own; it can be read, and not appended to"
            : key + " cannot be: its stream " + key.stream() + " was appended to as a stream");
  }

  /// Fails whatever still waits, when the store is closed.
  void end(RuntimeException cause) {
    residents.values().forEach(resident -> resident.end(cause));
  }

  /// Visits the keys in memory.
  void visit(Consumer<Resident> visitor) {
    residents.values().forEach(visitor);
  }

  /// Goes round the keys in memory.
  Iterator<Resident> iterator() {
    return residents.values().iterator();
  }

  /// How many keys are in memory.
  int size() {
    return residents.size();
  }

  /// How many bytes the keys in memory take, about.
  long bytes() {
    return bytes.get();
  }

  /// How many bytes they may take.
  long bytesMax() {
    return bytesMax;
  }

  /// Accounts for a change of size, and makes room when there is too much.
  void reweigh(long change) {
    if (bytes.addAndGet(change) > bytesMax && evicting.compareAndSet(false, true)) {
      try {
        evict();
      } finally {
        evicting.set(false);
      }
    }
  }

  private void evict() {
    long goal = bytesMax - bytesMax / 16;
    for (long steps = 2L * residents.size(); steps > 0 && bytes.get() > goal; steps--) {
      if (!hand.hasNext()) {
        hand = residents.values().iterator();
        if (!hand.hasNext()) return;
      }
      Resident resident = hand.next();
      if (resident.referenced) {
        resident.referenced = false;
      } else if (resident.evict()) {
        residents.remove(resident.key.stream(), resident);
        tally.evicted();
        bytes.addAndGet(-BASE_BYTES - resident.weight());
      }
    }
  }
}
