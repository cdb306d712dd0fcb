package stoa.coordination;

import java.time.Duration;
import java.time.Instant;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;
import stoa.spi.Forkable;

/// A lock that one holder has at a time, for the time of a lease.
///
/// Each acquisition gets a *fencing token*, a number that is higher than all earlier ones of the
/// lock. The holder passes it to what the lock protects, which refuses a lower token than it has
/// seen. That is necessary: a holder whose program stands still does not notice the end of its
/// lease.
///
/// A lease ends at a logged time, on all replicas at the same place in the log: the first
/// acquisition whose time is past the end of the lease gets the lock. A caller that waits for the
/// lock gets it about half a second after the end of the lease, at the latest.
///
/// The token holds the lock, and no thread or session does. The lock is not reentrant.
@Shared(name = "stoa.Lock")
public class SharedLock implements Forkable<SharedLock> {
  private long token;
  private Instant end = Instant.EPOCH;

  /// For the store.
  protected SharedLock() {}

  /// Waits until no caller holds the lock, and acquires it.
  ///
  /// @param lease how long the caller holds it at most; positive
  /// @return the fencing token
  /// @throws IllegalArgumentException when the lease is not positive
  @Awaits(inOrder = true)
  public long lock(Duration lease) {
    Leases.check(lease);
    Instant now = Call.now();
    Call.await(() -> isFree(now));
    return acquire(now, lease);
  }

  /// Acquires the lock if no caller holds it.
  ///
  /// @param lease as in [#lock]
  /// @return the fencing token; 0 when another one holds the lock
  public long tryLock(Duration lease) {
    Leases.check(lease);
    Instant now = Call.now();
    return isFree(now) ? acquire(now, lease) : 0;
  }

  /// Makes the lease of a holder end later.
  ///
  /// @param lease how long the holder holds the lock from now on at most
  /// @return whether the token still held the lock; otherwise nothing has changed
  public boolean renew(long held, Duration lease) {
    Leases.check(lease);
    Instant now = Call.now();
    if (held != token || isFree(now)) return false;
    end = Leases.end(now, lease);
    return true;
  }

  /// Releases the lock.
  ///
  /// @return whether the token still held the lock; otherwise nothing has changed
  public boolean unlock(long held) {
    if (held != token || isFree(Call.now())) return false;
    end = Instant.EPOCH;
    return true;
  }

  /// Returns the token of the last acquisition; 0 before the first.
  @Accessor
  public long token() {
    return token;
  }

  /// Returns when the lease of the last acquisition ends or has ended; 1970 when it was released.
  @Accessor
  public Instant end() {
    return end;
  }

  private long acquire(Instant now, Duration lease) {
    end = Leases.end(now, lease);
    return ++token;
  }

  private boolean isFree(Instant now) {
    return !now.isBefore(end);
  }

  @Override
  public SharedLock fork() {
    var copy = new SharedLock();
    copy.token = token;
    copy.end = end;
    return copy;
  }
}
