package stoa.store.past;

import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.leading.Moments;
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
  private final Moments moments;
  private final Observed observed;

  public Playback(
      Versions versions,
      VersionFinder finder,
      Loader loader,
      Streams streams,
      Moments moments,
      Observed observed) {
    this.versions = versions;
    this.finder = finder;
    this.loader = loader;
    this.streams = streams;
    this.moments = moments;
    this.observed = observed;
  }

  /// The versions that are kept.
  Versions versions() {
    return versions;
  }

  /// Which versions are seen.
  VersionFinder finder() {
    return finder;
  }

  /// What runs handlers.
  public Runs runs() {
    return loader.runs;
  }

  /// The log counters that can be read.
  Moments moments() {
    return moments;
  }

  /// What this process has seen.
  public Observed observed() {
    return observed;
  }

  /// The state of a key, not loaded yet.
  Materialized state(Key key) {
    return loader.state(key);
  }

  /// Refuses when the store is closed.
  public void checkOpen() {
    loader.health.checkOpen();
  }

  /// Returns when this process shows all that was acknowledged before.
  public void confirm() {
    loader.health.confirm();
  }

  /// A key as of a place in the log. Nothing is read here.
  ///
  /// @throws IllegalArgumentException when nothing is committed there yet
  public Past at(Key key, long counter) {
    moments.reach(counter);
    observed.advance(counter);
    return new Past(this, key, counter, counter, 0, 0);
  }

  /// A key as it was right after what is at an address of its stream, and others as they were when
  /// the last put up to there had ended.
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
          // A transaction may have changed the key more than once under its one log address.
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
