package stoa.store.running;

import org.jspecify.annotations.Nullable;
import stoa.base.Key;

/// A key with a short way to where it is in memory. Thread-safe.
public final class Target {

  private final Residents residents;
  private final Key key;
  private volatile @Nullable Resident known;

  public Target(Residents residents, Key key) {
    this.residents = residents;
    this.key = key;
  }

  /// The last address of the key's stream, when that is known without a pin; -1 otherwise.
  public long tail() {
    Resident resident = known;
    if (resident == null) return -1;
    long tail = resident.tail();
    return resident.isPresent() ? tail : -1;
  }

  /// The key.
  public Key key() {
    return key;
  }

  /// The key in memory, pinned.
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

  /// The generation of the key when it was last executed in this process, 0 when that is not known:
  /// a hint that costs nothing.
  public long generationHint() {
    Resident resident = known;
    return resident == null ? 0 : resident.generationHint();
  }
}
