package stoa.objects;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.store.Key;
import stoa.store.Pins;
import stoa.store.Store;

/// The snapshots with names: a stream of its own, in which each is noted when it is taken and when
/// it is deleted. Thread-safe.
///
/// ```
/// a note:  1 u8, name text, epoch varint, counter varint     taken
///          2 u8, name text                                   deleted
/// ```
final class Snapshots {
  private static final Key KEY = Key.of("stoa", "snapshots");
  private static final int TAKEN = 1;
  private static final int DELETED = 2;
  private static final int SNAPSHOTS_MAX = 10_000;
  private static final int NAME_CHARS_MAX = 1_000;

  private record Held(ObjectSnapshot snapshot, Pins.Pin pin) {}

  private final EmbeddedStoa stoa;
  private final Store store;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Held> held = new LinkedHashMap<>(); // guarded by lock

  /// Finds the snapshots that there are, and holds them.
  Snapshots(EmbeddedStoa stoa, Store store) {
    this.stoa = stoa;
    this.store = store;
    var found = new LinkedHashMap<String, LogAddress>();
    store.scan(
        KEY,
        entry -> {
          read(entry.payload(), found);
          return true;
        });
    found.forEach((name, address) ->
        held.put(name, hold(name, address, store.pins().pin(address.counter()))));
  }

  private static void read(byte[] note, Map<String, LogAddress> found) {
    var in = new Decoder(note);
    int kind = in.u8();
    String name = in.text();
    switch (kind) {
      case TAKEN -> found.put(name, new LogAddress(in.varint(), in.varint()));
      case DELETED -> found.remove(name);
      default -> throw new Corrupt("a note about snapshot " + name + " begins with " + kind);
    }
  }

  private Held hold(String name, LogAddress address, Pins.Pin pin) {
    return new Held(
        ObjectSnapshot.named(stoa, new Place(stoa, stoa.marshaller(), address), name), pin);
  }

  /// Takes one.
  ObjectSnapshot take(String name) {
    if (name.isEmpty() || name.length() > NAME_CHARS_MAX) {
      throw new IllegalArgumentException(
          "the name of a snapshot has 1 to "
              + NAME_CHARS_MAX
              + " characters, not "
              + name.length());
    }
    lock.lock();
    try {
      if (held.containsKey(name)) throw new AlreadyExists("snapshot " + name + " exists already");
      if (held.size() >= SNAPSHOTS_MAX) {
        throw new LimitExceeded(
            "there are " + SNAPSHOTS_MAX + " snapshots with names; delete some");
      }
      Pins.Pin pin = store.pinNow();
      try {
        var address = new LogAddress(store.epoch(), pin.counter());
        var note = new Encoder(name.length() + 32).u8(TAKEN).text(name);
        var _ = store.append(KEY, note.varint(address.epoch()).varint(address.counter()).toBytes());
        Held taken = hold(name, address, pin);
        held.put(name, taken);
        return taken.snapshot;
      } catch (RuntimeException | Error failed) {
        pin.close();
        throw failed;
      }
    } finally {
      lock.unlock();
    }
  }

  /// The one of a name, or null.
  @Nullable ObjectSnapshot find(String name) {
    lock.lock();
    try {
      Held found = held.get(name);
      return found == null ? null : found.snapshot;
    } finally {
      lock.unlock();
    }
  }

  /// All, the oldest first.
  List<ObjectSnapshot> all() {
    lock.lock();
    try {
      var all = new ArrayList<ObjectSnapshot>(held.size());
      held.values().forEach(one -> all.add(one.snapshot));
      return all;
    } finally {
      lock.unlock();
    }
  }

  /// Deletes the one of a name; answers whether there was one.
  boolean delete(String name) {
    lock.lock();
    try {
      Held found = held.get(name);
      if (found == null) return false;
      var _ = store.append(KEY, new Encoder(name.length() + 8).u8(DELETED).text(name).toBytes());
      held.remove(name);
      found.pin.close();
      return true;
    } finally {
      lock.unlock();
    }
  }
}
