package stoa.objects;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.Snapshot;
import stoa.front.Refusals;
import stoa.front.types.SharedMethod;
import stoa.objects.ObjectService.Call;
import stoa.objects.ObjectService.Container;
import stoa.store.Store;
import stoa.store.calls.KeyEntry;
import stoa.store.calls.Pace;
import stoa.store.past.Past;
import stoa.store.past.Pins;

/// The past of objects, and the snapshots that keep it readable, for the clients of a server.
/// Thread-safe; every method may take long.
public final class PastService {
  private final LocalService stoa;
  private final Store store;
  private final CallReader reader;

  PastService(LocalService stoa, CallReader reader) {
    this.stoa = stoa;
    this.store = stoa.core();
    this.reader = reader;
  }

  /// Asks an accessor as of a log address.
  public byte[] ask(Call call, LogAddress at) {
    Refusals.stream(call.container().type().shared());
    return ask(call, store.at(call.container().key(), at.counter()));
  }

  /// Asks an accessor as of a version of the object.
  public byte[] ask(Call call, long version) {
    return ask(call, store.past(call.container().key(), version));
  }

  private byte[] ask(Call call, Past past) {
    CallReader.Decoded read = reader.whole(call);
    if (read.kind() != SharedMethod.Kind.ACCESSOR) {
      throw new UnsupportedOperationException(
          call + " is not of an @Accessor; the past can only be read");
    }
    Pace pace = read.method().type().pace(read.method().method());
    return past.get(read.question().ofStore(), call.existence(), pace).encoded();
  }

  /// Keeps the versions that are readable now, or at an address.
  public Pins.Pin pin(@Nullable LogAddress at) {
    return at == null ? store.pinNow() : store.pinAt(at);
  }

  /// Returns the oldest readable version of an object.
  public long oldest(Container container) {
    return store.oldest(container.key());
  }

  /// Returns the newest version of an object.
  public long position(Container container) {
    return store.position(container.key());
  }

  /// Returns the entries of an object's stream.
  public List<KeyEntry> events(Container container, long from, long to) {
    return store.events(container.key(), from, to);
  }

  /// Releases versions of an object.
  public long trim(Container container, long before) {
    return store.trim(container.key(), before);
  }

  /// Takes a snapshot with a name.
  public Snapshot takeSnapshot(String name) {
    requireSnapshots();
    return stoa.stoa().snapshot(name);
  }

  /// Returns the snapshot of a name, or null.
  public @Nullable Snapshot findSnapshot(String name) {
    requireSnapshots();
    return stoa.stoa().findSnapshot(name).orElse(null);
  }

  /// Returns all snapshots with names.
  public List<Snapshot> snapshots() {
    requireSnapshots();
    return stoa.stoa().snapshots();
  }

  /// Deletes the snapshot of a name; returns whether there was one.
  public boolean deleteSnapshot(String name) {
    requireSnapshots();
    return stoa.stoa().deleteSnapshot(name);
  }

  private void requireSnapshots() {
    stoa.part().requireFirst("snapshots with names");
  }
}
