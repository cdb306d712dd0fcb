package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Key;

/// A key together with a cached reference to its resident in memory. Thread-safe.
public final class Target {

  private final Residents residents;
  private final Key key;
  private volatile @Nullable Resident known;

  public Target(Residents residents, Key key) {
    this.residents = residents;
    this.key = key;
  }

  /// Returns the last address of the key's stream if this knows it without a pin; -1 otherwise.
  public long tail() {
    Resident resident = known;
    if (resident == null) return -1;
    long tail = resident.tail();
    return resident.isPresent() ? tail : -1;
  }

  /// Returns the key.
  public Key key() {
    return key;
  }

  /// Pins the key and returns it.
  public Resident pin() {
    Resident resident = known;
    if (resident != null && resident.pin()) {
      if (!resident.referenced) resident.referenced = true;
      return resident;
    }
    resident = residents.pin(key);
    known = resident;
    return resident;
  }

  /// Returns the generation in which this process executed the key last, 0 when this does not know
  /// it. The result is a hint; to get it costs nothing.
  public long generationHint() {
    Resident resident = known;
    return resident == null ? 0 : resident.generationHint();
  }
}
