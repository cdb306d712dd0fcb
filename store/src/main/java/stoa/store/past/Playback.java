package stoa.store.past;

import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.leading.ReadMoments;
import stoa.store.records.Records;
import stoa.store.running.Loader;
import stoa.store.running.Materialized;
import stoa.store.running.Runs;
import stoa.store.watching.Observed;

/// Keys as they were at places of the log (vCorfu, section 4.2: playback). Thread-safe.
@SuppressWarnings("exports") // see the package
public final class Playback {
  private final Versions versions;
  private final VersionFinder finder;
  private final Loader loader;
  private final Streams streams;
  private final ReadMoments moments;
  private final Observed observed;

  public Playback(
      Versions versions,
      VersionFinder finder,
      Loader loader,
      Streams streams,
      ReadMoments moments,
      Observed observed) {
    this.versions = versions;
    this.finder = finder;
    this.loader = loader;
    this.streams = streams;
    this.moments = moments;
    this.observed = observed;
  }

  /// Returns the versions in memory.
  Versions versions() {
    return versions;
  }

  /// Returns the finder of versions.
  VersionFinder finder() {
    return finder;
  }

  /// Returns the parts that run handlers.
  public Runs runs() {
    return loader.runs;
  }

  /// Returns the log counters that can be read.
  ReadMoments moments() {
    return moments;
  }

  /// Returns how much of the log the callers of this process have seen.
  public Observed observed() {
    return observed;
  }

  /// Returns the state of a key, not loaded yet.
  Materialized state(Key key) {
    return loader.state(key);
  }

  /// Throws when the store is closed.
  public void checkOpen() {
    loader.health.checkOpen();
  }

  /// Returns when this process shows everything that was acknowledged before.
  public void confirm() {
    loader.health.confirm();
  }

  /// Returns a key as of a place in the log. This reads nothing yet.
  ///
  /// @throws IllegalArgumentException when the log is not committed up to that place
  public Past at(Key key, long counter) {
    moments.reach(counter);
    observed.advance(counter);
    return new Past(this, key, counter, counter, 0, 0);
  }

  /// Returns a key as it was right after the entry at an address of its stream. Its handler sees
  /// other keys as they were when the last put up to that address had ended.
  public Past after(Key key, long address) {
    long position = address;
    StoredEntry entry = entry(key, position);
    if (entry == null) return new Past(this, key, 0, 0, 0, 0);
    long counter = entry.log().counter();
    while (entry != null && !Records.isChange(entry)) entry = entry(key, --position);
    if (entry == null) return new Past(this, key, counter, counter, 0, 0);
    long put = position;
    var others = new long[] {counter};
    var within = new long[1];
    streams.scan(
        key.stream(),
        position + 1,
        versions.settled(key, position),
        next -> {
          long nextCounter = next.log().counter();
          // A transaction may have changed the key more than once at its one log address.
          if (next.address() > address && nextCounter == counter && Records.isChange(next)) {
            within[0] = put;
          }
          boolean answered =
              next.kind() == Records.ANSWERED && Records.answered(next.payload()).call() == put;
          if (answered) others[0] = Math.max(others[0], nextCounter);
          return true;
        });
    return new Past(this, key, counter, others[0], within[0], 0);
  }

  private @Nullable StoredEntry entry(Key key, long address) {
    return address == 0 ? null : streams.read(key.stream(), address);
  }
}
