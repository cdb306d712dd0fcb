package stoa.store.blobs;

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
import stoa.UnknownOutcome;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.Texts;
import stoa.store.Store;
import stoa.store.past.Pins;

/// The named snapshots. A stream of its own notes when each is taken and deleted. Thread-safe.
///
/// Of several stores with one order, home has the named snapshots. A pin there holds all of the
/// stores, see [Addresses#horizon], so no other store needs a note when one is taken or deleted.
///
/// ```
/// a note:  1 u8, name text, epoch varint, counter varint     taken
///          2 u8, name text                                   deleted
/// ```
public final class Snapshots {
  private static final Key KEY = Key.of("stoa", "snapshots");
  private static final int TAKEN = 1;
  private static final int DELETED = 2;
  private static final int SNAPSHOTS_MAX = 10_000;
  private static final int NAME_CHARS_MAX = 1_000;

  /// A snapshot.
  ///
  /// @param name unique among the existing snapshots
  /// @param address the log address as of which it shows all keys
  public record Named(String name, LogAddress address) {}

  private record Pinned(Named snapshot, Pins.Pin pin) {}

  private final Store store;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Pinned> all = new LinkedHashMap<>(); // guarded by lock

  /// Finds the existing snapshots, and pins them. The caller creates this before the store releases
  /// any entry.
  public Snapshots(Store store) {
    this.store = store;
    var found = new LinkedHashMap<String, LogAddress>();
    store.scan(
        KEY,
        entry -> {
          read(entry.payload(), found);
          return true;
        });
    found.forEach((name, address) -> {
      Pins.Pin pin = store.pins().pin(address.counter());
      all.put(name, new Pinned(new Named(name, address), pin));
    });
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

  /// Takes a snapshot of the present; durable when this returns.
  ///
  /// @throws IllegalArgumentException when the name is empty or too long, or holds half of a
  ///   surrogate pair
  /// @throws AlreadyExists when there is a snapshot with that name
  /// @throws LimitExceeded when there are too many snapshots
  public Named take(String name) {
    Texts.check(name, "the snapshot name");
    if (name.isEmpty() || name.length() > NAME_CHARS_MAX) {
      throw new IllegalArgumentException(
          "the name of a snapshot has 1 to "
              + NAME_CHARS_MAX
              + " characters, not "
              + name.length());
    }
    lock.lock();
    try {
      if (all.containsKey(name)) throw new AlreadyExists("snapshot " + name + " exists already");
      if (all.size() >= SNAPSHOTS_MAX) {
        throw new LimitExceeded(
            "there are " + SNAPSHOTS_MAX + " snapshots with names; delete some");
      }
      Pins.Pin pin = store.pinNow();
      var taken = new Named(name, new LogAddress(store.epoch(), pin.counter()));
      note(taken, pin);
      all.put(name, new Pinned(taken, pin));
      return taken;
    } finally {
      lock.unlock();
    }
  }

  private void note(Named taken, Pins.Pin pin) {
    LogAddress at = taken.address;
    var note = new Encoder(taken.name.length() + 32).u8(TAKEN).text(taken.name);
    try {
      var _ = store.append(KEY, note.varint(at.epoch()).varint(at.counter()).toBytes());
    } catch (UnknownOutcome unknown) {
      throw unknown; // the pin stays until the next opening of the log, which knows the outcome
    } catch (RuntimeException | Error failed) {
      pin.close();
      throw failed;
    }
  }

  /// Returns the snapshot with a name, or null.
  public @Nullable Named find(String name) {
    Texts.check(name, "the snapshot name");
    Pinned found;
    lock.lock();
    try {
      found = all.get(name);
    } finally {
      lock.unlock();
    }
    store.checkUsable(); // another owner may have others
    return found == null ? null : found.snapshot;
  }

  /// Returns all snapshots, the oldest first.
  public List<Named> all() {
    var list = new ArrayList<Named>();
    lock.lock();
    try {
      all.values().forEach(one -> list.add(one.snapshot));
    } finally {
      lock.unlock();
    }
    store.checkUsable();
    return list;
  }

  /// Deletes the snapshot with a name, durably; returns whether there was one.
  public boolean delete(String name) {
    Texts.check(name, "the snapshot name");
    lock.lock();
    try {
      Pinned found = all.get(name);
      if (found == null) {
        store.checkUsable();
        return false;
      }
      var _ = store.append(KEY, new Encoder(name.length() + 8).u8(DELETED).text(name).toBytes());
      all.remove(name);
      found.pin.close();
      return true;
    } finally {
      lock.unlock();
    }
  }
}
