package stoa.sim.world;

import java.time.Duration;
import java.time.Instant;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;

/// A lock as [stoa.coordination.SharedLock], of a class that operators deploy in versions
/// ([LockVersions]) and that the store cannot fork.
@Shared(name = "sim.Lock")
public class SimulatedLock {
  private long token;
  private Instant end = Instant.EPOCH;

  private long begun;

  // The version that ran last.
  private int ran;

  /// Waits until nobody holds the lock, and acquires it; returns the token.
  @Awaits(inOrder = true)
  public long lock(Duration lease) {
    ran = build();
    begun++; // in front of the wait, which undoes it
    Instant now = Call.now();
    Call.await(() -> !now.isBefore(end));
    end = now.plus(lease);
    return ++token;
  }

  /// Makes the lease of a holder end later; returns whether the token still held the lock.
  public boolean renew(long held, Duration lease) {
    ran = build();
    Instant now = Call.now();
    if (held != token || !now.isBefore(end)) return false;
    end = now.plus(lease);
    return true;
  }

  /// Releases the lock; returns whether the token still held it.
  public boolean unlock(long held) {
    ran = build();
    if (held != token || !Call.now().isBefore(end)) return false;
    end = Instant.EPOCH;
    return true;
  }

  /// Returns the token of the last acquisition.
  @Accessor
  public long token() {
    return token;
  }

  /// Returns when its lease ends.
  @Accessor
  public Instant end() {
    return end;
  }

  /// Returns how many calls of [#lock] have gone on.
  @Accessor
  public long begun() {
    return begun;
  }

  /// Returns the version that ran last.
  @Accessor
  public int ran() {
    return ran;
  }

  private static int build() {
    return 1;
  }
}
