package stoa.front;

import java.lang.ref.Cleaner;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.Snapshot;

/// A snapshot: a place in the log, and the promise that it stays readable. Thread-safe.
public final class SharedSnapshot implements Snapshot {
  private static final Cleaner CLEANER = Cleaner.create();

  private final SharedStoa stoa;
  private final @Nullable String name;
  private final Place place;

  // Lets go of the promise; does nothing for a snapshot that stays.
  private final Runnable release;

  private SharedSnapshot(SharedStoa stoa, @Nullable String name, Place place, Runnable release) {
    this.stoa = stoa;
    this.name = name;
    this.place = place;
    this.release = release;
  }

  /// One that is held until it is closed, or until nobody can reach its place: views of the past
  /// refer to that.
  ///
  /// @param pin the promise; refers to no place
  static SharedSnapshot held(SharedStoa stoa, Place place, Runnable pin) {
    Cleaner.Cleanable held = CLEANER.register(place, pin);
    return new SharedSnapshot(stoa, null, place, held::clean);
  }

  /// One that stays until it is deleted.
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

  /// Whose it is.
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
