package stoa.coordination;

import java.time.Duration;
import java.time.Instant;
import java.util.TreeMap;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;
import stoa.spi.Forkable;

/// A lock that either one writer has or several readers have, each for the time of a lease
/// ([java.util.concurrent.locks.ReadWriteLock]).
///
/// Each acquisition of either kind gets a *fencing token*, a number that is higher than all earlier
/// ones of the lock. The protected object refuses a change with a lower token than it has seen, as
/// with [SharedLock].
///
/// Callers that wait get the lock in the order of their arrival: a reader that comes while a writer
/// waits comes behind the writer, so neither kind starves. [#tryReadLock] and [#tryWriteLock] pass
/// those that wait. A lease ends at a logged time: the first acquisition past the end of the lease
/// no longer counts its holder. A caller that waits notices that within about half a second.
///
/// The token holds the lock, and no thread or session does. The lock is not reentrant, and a holder
/// cannot change the kind of its lock.
@Shared(name = "stoa.ReadWriteLock")
public class SharedReadWriteLock implements Forkable<SharedReadWriteLock> {
  /// How many readers hold the lock at most at the same time.
  public static final int READERS_MAX = 10_000;

  private long token;
  private long writer;
  private Instant writerEnd = Instant.EPOCH;

  // The ends of the readers' leases, by their tokens.
  private TreeMap<Long, Instant> readers = new TreeMap<>();

  /// For the store.
  protected SharedReadWriteLock() {}

  /// Waits until no writer holds the lock, and acquires it as a reader.
  ///
  /// @param lease how long the caller holds it at most; positive
  /// @return the fencing token
  /// @throws IllegalArgumentException when the lease is not positive
  /// @throws IllegalStateException when [#READERS_MAX] readers hold the lock
  @Awaits(inOrder = true)
  public long readLock(Duration lease) {
    Leases.check(lease);
    Instant now = Call.now();
    Call.await(() -> !isWritten(now));
    return read(now, lease);
  }

  /// Acquires the lock as a reader if no writer holds it.
  ///
  /// @return the fencing token; 0 when a writer holds the lock
  /// @throws IllegalStateException when [#READERS_MAX] readers hold the lock
  public long tryReadLock(Duration lease) {
    Leases.check(lease);
    Instant now = Call.now();
    return isWritten(now) ? 0 : read(now, lease);
  }

  /// Waits until no caller holds the lock, and acquires it as its writer.
  ///
  /// @param lease how long the caller holds it at most; positive
  /// @return the fencing token
  /// @throws IllegalArgumentException when the lease is not positive
  @Awaits(inOrder = true)
  public long writeLock(Duration lease) {
    Leases.check(lease);
    Instant now = Call.now();
    Call.await(() -> isFree(now));
    return write(now, lease);
  }

  /// Acquires the lock as its writer if no caller holds it.
  ///
  /// @return the fencing token; 0 when another one holds the lock
  public long tryWriteLock(Duration lease) {
    Leases.check(lease);
    Instant now = Call.now();
    return isFree(now) ? write(now, lease) : 0;
  }

  /// Makes the lease of a reader or of the writer end later.
  ///
  /// @param lease how long the holder holds the lock from now on at most
  /// @return whether the token still held the lock; otherwise nothing has changed
  public boolean renew(long held, Duration lease) {
    Leases.check(lease);
    Instant now = Call.now();
    if (held == writer && isWritten(now)) {
      writerEnd = Leases.end(now, lease);
      return true;
    }
    if (!isReading(held, now)) return false;
    readers.put(held, Leases.end(now, lease));
    return true;
  }

  /// Releases the lock of a reader or of the writer.
  ///
  /// @return whether the token still held the lock; otherwise nothing has changed
  public boolean unlock(long held) {
    Instant now = Call.now();
    if (held == writer && isWritten(now)) {
      writerEnd = Instant.EPOCH;
      return true;
    }
    if (!isReading(held, now)) return false;
    readers.remove(held);
    return true;
  }

  /// Returns the token of the last acquisition; 0 before the first.
  @Accessor
  public long token() {
    return token;
  }

  /// Returns how many readers have acquired the lock and not released it; some of their leases may
  /// have ended since the last call that changed the lock.
  @Accessor
  public int readers() {
    return readers.size();
  }

  private long read(Instant now, Duration lease) {
    expire(now);
    if (readers.size() >= READERS_MAX) {
      throw new IllegalStateException(
          READERS_MAX + " readers hold the lock; release one, or wait for the end of a lease");
    }
    readers.put(++token, Leases.end(now, lease));
    return token;
  }

  private long write(Instant now, Duration lease) {
    readers.clear(); // their leases have ended
    writer = ++token;
    writerEnd = Leases.end(now, lease);
    return token;
  }

  private boolean isReading(long held, Instant now) {
    Instant end = readers.get(held);
    return end != null && now.isBefore(end);
  }

  private boolean isWritten(Instant now) {
    return now.isBefore(writerEnd);
  }

  private boolean isFree(Instant now) {
    return !isWritten(now) && readers.values().stream().noneMatch(now::isBefore);
  }

  private void expire(Instant now) {
    readers.values().removeIf(end -> !now.isBefore(end));
  }

  @Override
  public SharedReadWriteLock fork() {
    var copy = new SharedReadWriteLock();
    copy.token = token;
    copy.writer = writer;
    copy.writerEnd = writerEnd;
    copy.readers = new TreeMap<>(readers);
    return copy;
  }
}
