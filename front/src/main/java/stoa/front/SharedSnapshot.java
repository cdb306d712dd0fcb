package stoa.front;

import java.lang.ref.Cleaner;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.Snapshot;

/// A snapshot: a place in the log that the store keeps readable. Thread-safe.
public final class SharedSnapshot implements Snapshot {
  private static final Cleaner CLEANER = Cleaner.create();

  private final SharedStoa stoa;
  private final @Nullable String name;
  private final Place place;

  // Releases the place; does nothing for a snapshot with a name.
  private final Runnable release;

  private SharedSnapshot(SharedStoa stoa, @Nullable String name, Place place, Runnable release) {
    this.stoa = stoa;
    this.name = name;
    this.place = place;
    this.release = release;
  }

  /// Returns a snapshot that lasts until the program closes it, or until its place is unreachable:
  /// views of the past refer to the place.
  ///
  /// @param pin releases the place in the store; refers to no [Place]
  static SharedSnapshot held(SharedStoa stoa, Place place, Runnable pin) {
    Cleaner.Cleanable held = CLEANER.register(place, pin);
    return new SharedSnapshot(stoa, null, place, held::clean);
  }

  /// Returns a snapshot that lasts until the program deletes it.
  static SharedSnapshot named(SharedStoa stoa, Place place, String name) {
    return new SharedSnapshot(stoa, name, place, () -> {});
  }

  @Override
  public LogAddress address() {
    return place.address();
  }

  @Override
  public Optional<String> name() {
    return Optional.ofNullable(name);
  }

  @Override
  public <T> T on(T shared) {
    return stoa.seen(shared, place);
  }

  /// Returns its store.
  SharedStoa stoa() {
    return stoa;
  }

  @Override
  public void close() {
    release.run();
  }

  @Override
  public String toString() {
    return "snapshot " + (name == null ? "" : name + " ") + "at " + address();
  }
}
