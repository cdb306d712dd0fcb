package stoa.front;

import java.lang.ref.Cleaner;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.Snapshot;
import stoa.spi.Host;

/// A snapshot: a place in the log, and the promise that it stays readable. Thread-safe.
public final class SharedSnapshot implements Snapshot {
  private static final Cleaner CLEANER = Cleaner.create();

  /// A store that shows its objects as they were at a place.
  public interface Source extends Host {
    /// An object as it is seen at a place in the log.
    <T> T seen(T shared, Place place);
  }

  private final Source stoa;
  private final @Nullable String name;
  private final Place place;

  /// Lets go of the promise; does nothing for a snapshot that stays.
  private final Runnable release;

  private SharedSnapshot(Source stoa, @Nullable String name, Place place, Runnable release) {
    this.stoa = stoa;
    this.name = name;
    this.place = place;
    this.release = release;
  }

  /// One that is held until it is closed, or until nobody can reach its place: views of the past
  /// refer to that.
  ///
  /// @param pin the promise; refers to no place
  public static SharedSnapshot held(Source stoa, Place place, Runnable pin) {
    Cleaner.Cleanable held = CLEANER.register(place, pin);
    return new SharedSnapshot(stoa, null, place, held::clean);
  }

  /// One that stays until it is deleted.
  public static SharedSnapshot named(Source stoa, Place place, String name) {
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

  /// Where it is.
  public Place place() {
    return place;
  }

  /// Whose it is.
  public Host stoa() {
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
