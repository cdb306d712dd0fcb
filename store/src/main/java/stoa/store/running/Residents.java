package stoa.store.running;

import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.base.Check;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Streams;
import stoa.store.leading.Admission;
import stoa.store.leading.Health;
import stoa.store.leading.Tally;

/// The keys in memory, bounded by the encoded size of their states. Thread-safe.
///
/// When the states exceed the bound, idle keys leave memory by the clock rule: a hand goes round
/// and evicts each key that no request has used since the hand last passed it. Eviction writes
/// nothing. A key comes back from its last checkpoint and the entries behind it (CRESON, section
/// III-D, calls this passivation).
@SuppressWarnings("exports") // see the package
public final class Residents {
  // The memory that a key takes beside its state.
  private static final long BASE_BYTES = 512;

  private final Health health;
  private final Admission admission;
  private final Streams streams;
  private final long bytesMax;
  private final Tally tally;
  private final ConcurrentHashMap<StreamId, Resident> residents = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<String, Resident> directories = new ConcurrentHashMap<>();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicBoolean evicting = new AtomicBoolean();
  private @Nullable Function<Key, Resident> maker;
  private Iterator<Resident> hand = residents.values().iterator();

  public Residents(
      Health health, Admission admission, Streams streams, long bytesMax, Tally tally) {
    this.health = health;
    this.admission = admission;
    this.streams = streams;
    this.bytesMax = bytesMax;
    this.tally = tally;
  }

  /// Sets the function that brings a key into memory. Called once, before any key is used; keys use
  /// other keys.
  public void makeWith(Function<Key, Resident> newMaker) {
    maker = newMaker;
  }

  /// Pins a key for a request of a caller and returns it.
  ///
  /// @throws stoa.LimitExceeded when too many requests are in progress
  /// @throws stoa.Closed when the store is closed
  public Resident pinAccepted(Key key) {
    return admission.accepted(() -> pin(key));
  }

  /// Pins a key for a request of an operation in progress and returns it.
  public Resident pinBegun(Key key) {
    Resident resident = pin(key);
    admission.begun();
    return resident;
  }

  /// Pins a key that is in memory, for a request of an operation in progress.
  public Resident pinBegun(Resident resident) {
    Check.that(resident.pin(), "%s stays in memory while it is used", resident.key);
    admission.begun();
    return resident;
  }

  /// Returns the generation in which this process executed a key last, 0 when it does not know it.
  public long generationHint(Key key) {
    Resident resident = pin(key);
    try {
      return resident.generationHint();
    } finally {
      resident.unpin();
    }
  }

  /// Pins a key and returns it.
  public Resident pin(Key key) {
    while (true) {
      Resident resident = residents.get(key.stream());
      if (resident == null) {
        health.confirm(); // may wait for other servers: not within the map's lock
        // Reads the tail of the stream within the map's lock, so that no thread uses the key in
        // between.
        var pinned = new Resident[1];
        resident =
            residents.computeIfAbsent(
                key.stream(),
                _ -> {
                  health.checkSound();
                  Resident made = Objects.requireNonNull(maker, "a maker").apply(key);
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

  /// Returns the key of the stream that lists the keys of a space.
  public static Key directoryOf(String space) {
    return Key.of("stoa/directory", space);
  }

  /// Returns the stream that lists the keys of a space; it stays in memory.
  public Resident directory(String space) {
    Resident known = directories.get(space);
    if (known != null) return known;
    Resident pinned = pin(directoryOf(space));
    Resident first = directories.putIfAbsent(space, pinned);
    if (first == null) return pinned;
    pinned.unpin();
    return first;
  }

  /// Returns the last address of a stream, which need not be in memory, nor durable.
  public long tail(StreamId stream) {
    Resident resident = residents.get(stream);
    if (resident != null) return resident.tail();
    long last = streams.last(stream);
    // An append in progress has the stream in memory, and the end that was just read is then wrong.
    resident = residents.get(stream);
    if (resident != null) return resident.tail();
    health.confirm();
    return last;
  }

  /// Returns the error for a user's stream and a key of the store that have the same id.
  public static IllegalArgumentException mixed(Key key) {
    return new IllegalArgumentException(
        key.isStream()
            ? key + " is an object's or the store's own; it can be read, and not appended to"
            : key + " cannot be: its stream " + key.stream() + " was appended to as a stream");
  }

  /// Fails all waiting requests when the store closes.
  public void end(RuntimeException cause) {
    residents.values().forEach(resident -> resident.end(cause));
  }

  /// Passes each key in memory to a visitor.
  public void visit(Consumer<Resident> visitor) {
    residents.values().forEach(visitor);
  }

  /// Returns an iterator over the keys in memory.
  public Iterator<Resident> iterator() {
    return residents.values().iterator();
  }

  /// Returns how many keys are in memory.
  public int size() {
    return residents.size();
  }

  /// Returns about how many bytes the keys in memory take.
  public long bytes() {
    return bytes.get();
  }

  /// Returns how many bytes the keys in memory may take.
  public long bytesMax() {
    return bytesMax;
  }

  /// Accounts for a change of size, and evicts keys when they exceed the bound.
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
