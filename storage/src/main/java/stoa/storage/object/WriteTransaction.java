package stoa.storage.object;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/// A write of one version of one object, in any number of parts: all parts become visible at once,
/// or none (VOSD paper, sections II-A and III).
///
/// The transaction writes the parts to the disk as they come, several at a time if the caller
/// likes; they are durable when they complete, and readers see them once [#commit] has returned.
/// Where several parts overlap, the part begun last counts. A crash before the commit is an abort.
/// Thread-safe.
public final class WriteTransaction implements AutoCloseable {
  /*
   * Parts get their places in the log in any order; their order is that of `parts`. While a
   * transaction is open, the device does not reclaim the segments from its first part on.
   */
  private final VersionedObjects objects;
  private final VersionedObject object;
  private volatile long version;
  private final long birth;
  private final ReentrantLock lock = new ReentrantLock();
  // Guarded by lock.
  private final List<Part> parts = new ArrayList<>();
  private final ArrayDeque<CompletableFuture<Boolean>> pending = new ArrayDeque<>();
  private final SortedMap<String, byte[]> attributes = new TreeMap<>();
  private final List<String> removed = new ArrayList<>();
  private State state = State.OPEN;
  private long bytes;

  private long oldest = Long.MAX_VALUE; // guarded by the append lock

  private enum State {
    OPEN,
    COMMITTING,
    COMMITTED,
    ABORTED,
    FORGOTTEN
  }

  /// A write or truncation of one call.
  static final class Part {
    final long offset;
    final long length;
    final boolean hole;

    /// The log positions of its items; set under the append lock, read once its write is done.
    long[] positions = {};

    Part(long offset, long length, boolean hole) {
      this.offset = offset;
      this.length = length;
      this.hole = hole;
    }
  }

  WriteTransaction(VersionedObjects objects, VersionedObject object, long version, long birth) {
    this.objects = objects;
    this.object = object;
    this.version = version;
    this.birth = birth;
  }

  /// Returns the version that it writes; 0 while the commit has not determined it.
  public long version() {
    return version;
  }

  /// Writes the remaining bytes of `data` at `offset`. They are durable on return.
  ///
  /// @throws IllegalStateException when the transaction has ended
  /// @throws IllegalArgumentException when it has too many parts, or the bytes end beyond the
  ///   greatest offset
  /// @throws stoa.storage.disk.DiskFull when nothing was written; the transaction can only be
  ///   aborted
  /// @throws stoa.storage.disk.DeviceFailed when the outcome is unknown until the device is opened
  ///   again
  public void write(long offset, ByteBuffer data) {
    var write = begin(offset, data, Pieces.COUNT_MAX);
    if (write != null) objects.run(write);
  }

  /// Begins to write the remaining bytes of `data` at `offset`; they are durable when the future
  /// completes. The bytes must not change before. Waits only while writes of more than 64 MiB are
  /// in progress.
  public CompletableFuture<Void> writeAsync(long offset, ByteBuffer data) {
    var write = begin(offset, data, Pieces.COUNT_MAX);
    if (write == null) return CompletableFuture.completedFuture(null);
    return objects.submit(write).thenAccept(changed -> {});
  }

  private VersionedObjects.@Nullable DataWrite begin(long offset, ByteBuffer data, int partsMax) {
    VersionedObjects.requireRange(offset, data.remaining());
    if (!data.hasRemaining()) return null;
    var part = new Part(offset, data.remaining(), false);
    var write = new VersionedObjects.DataWrite(this, part, data);
    lock.lock();
    try {
      ensureOpen();
      if (parts.size() >= partsMax) throw tooManyParts();
      parts.add(part);
      bytes += part.length;
      while (isWell(pending.peekFirst())) pending.removeFirst();
      pending.add(write.done);
    } finally {
      lock.unlock();
    }
    return write;
  }

  private static boolean isWell(@Nullable CompletableFuture<Boolean> write) {
    return write != null && write.isDone() && !write.isCompletedExceptionally();
  }

  private static IllegalArgumentException tooManyParts() {
    return new IllegalArgumentException(
        "the transaction has %d parts, which is the limit; commit it and begin another"
            .formatted(Pieces.COUNT_MAX));
  }

  /// Removes all bytes from `size` on: they read as zero, and the object is no longer than that. It
  /// never makes an object longer.
  public void truncate(long size) {
    VersionedObjects.requireRange(size, 0);
    lock.lock();
    try {
      ensureOpen();
      if (parts.size() >= Pieces.COUNT_MAX) throw tooManyParts();
      parts.add(new Part(size, Long.MAX_VALUE - size, true));
    } finally {
      lock.unlock();
    }
  }

  /// Refuses an invalid attribute.
  ///
  /// @throws IllegalArgumentException when a transaction would refuse it
  public static void requireAttribute(String name, byte[] value) {
    AttributeName.slot(name);
    var _ = AttributeName.encode(name, value);
  }

  /// Sets an attribute.
  ///
  /// @param name 1 to 255 bytes in UTF-8
  /// @param value at most 64 KiB
  public void attribute(String name, byte[] value) {
    AttributeName.slot(name);
    byte[] item = AttributeName.encode(name, value);
    lock.lock();
    try {
      ensureOpen();
      attributes.put(name, item);
      removed.remove(name);
    } finally {
      lock.unlock();
    }
  }

  /// Removes an attribute.
  public void removeAttribute(String name) {
    AttributeName.slot(name);
    lock.lock();
    try {
      ensureOpen();
      attributes.remove(name);
      if (!removed.contains(name)) removed.add(name);
    } finally {
      lock.unlock();
    }
  }

  /// Ends the transaction: waits for its parts, then makes all of them visible at once, durably.
  /// The paper calls this close. Returns whether it changed the object; if not, this version was
  /// applied before, and the transaction counts as done.
  ///
  /// @throws IllegalStateException when it has ended, or the object was deleted since it began;
  ///   then nothing has changed
  /// @throws stoa.storage.disk.StorageException when a part could not be written, or the commit;
  ///   after [DeviceFailed][stoa.storage.disk.DeviceFailed] the outcome is unknown until the device
  ///   is opened again, otherwise nothing has changed and the transaction is aborted
  public boolean commit() {
    var _ = beginCommit();
    boolean changed;
    try {
      awaitParts();
      var write = end();
      changed = objects.run(write);
      version = write.version();
    } catch (RuntimeException | Error e) {
      end(State.ABORTED);
      throw e;
    }
    end(State.COMMITTED);
    return changed;
  }

  /// Begins a [#commit], which is done when the future completes: with whether it changed the
  /// object, or with the exception of a commit. Does not wait for the parts. From now on [#abort]
  /// and [#close] do nothing. Waits only while writes of more than 64 MiB are in progress.
  ///
  /// @throws IllegalStateException when it has ended
  public CompletableFuture<Boolean> commitAsync() {
    return CompletableFuture.allOf(beginCommit())
        .thenCompose(_ -> {
          var write = end();
          return objects
              .submit(write)
              .thenApply(changed -> {
                version = write.version();
                return changed;
              });
        })
        .whenComplete((_, failure) -> end(failure == null ? State.COMMITTED : State.ABORTED));
  }

  /// Admits no more parts, and returns the present ones.
  private CompletableFuture<?>[] beginCommit() {
    lock.lock();
    try {
      ensureOpen();
      state = State.COMMITTING;
      return pending.toArray(CompletableFuture<?>[]::new);
    } finally {
      lock.unlock();
    }
  }

  private VersionedObjects.ChangeWrite end() {
    return objects.commit(object.id(), version, birth, parts, attributes, removed);
  }

  /// Begins to write a part; the caller limits their number.
  Part part(long offset, ByteBuffer data) {
    var write = begin(offset, data, Integer.MAX_VALUE);
    if (write == null) return new Part(offset, 0, false);
    var _ = objects.submit(write); // awaitParts handles it
    return write.part();
  }

  /// Returns when all parts are durable.
  void awaitParts() {
    for (var write : pending) await(write);
  }

  long birth() {
    return birth;
  }

  private static void await(CompletableFuture<Boolean> write) {
    try {
      write.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) throw cause;
      throw e;
    }
  }

  /// Aborts the transaction. The device reclaims its writes later. Does nothing when it has ended.
  public void abort() {
    var _ = endOpen(State.ABORTED);
  }

  /// Aborts the transaction unless it has committed.
  @Override
  public void close() {
    abort();
  }

  /// Aborts the transaction because it keeps too much of the log. Returns whether it was open. The
  /// caller holds the append lock.
  boolean forget() {
    return endOpen(State.FORGOTTEN);
  }

  private boolean endOpen(State how) {
    boolean wrote;
    lock.lock();
    try {
      if (state != State.OPEN) return false;
      state = how;
      wrote = !parts.isEmpty();
    } finally {
      lock.unlock();
    }
    objects.ended(this, wrote);
    return true;
  }

  /// Returns a report on this transaction. The caller holds the append lock.
  ///
  /// @param logEnd the end of the log
  OpenTransaction report(long logEnd) {
    lock.lock();
    try {
      long since = oldest == Long.MAX_VALUE ? 0 : logEnd - oldest;
      return new OpenTransaction(
          object.id(), version, parts.size(), bytes, Math.max(0, since - bytes));
    } finally {
      lock.unlock();
    }
  }

  private void end(State how) {
    boolean wrote;
    lock.lock();
    try {
      state = how;
      wrote = !parts.isEmpty();
    } finally {
      lock.unlock();
    }
    objects.ended(this, wrote);
  }

  private void ensureOpen() {
    if (state == State.FORGOTTEN) {
      throw new IllegalStateException(
          "the transaction of version %d of %s was aborted, because it kept more than %d bytes of the log from being reclaimed; begin another, and commit it sooner, or raise DeviceConfig.transactions"
              .formatted(version, object.id(), objects.limits().keptBytesMax()));
    }
    if (state != State.OPEN) {
      throw new IllegalStateException(
          "the transaction of version %d of %s has ended; begin another"
              .formatted(version, object.id()));
    }
  }

  VersionedObject object() {
    return object;
  }

  /// Notes the places of one of its parts. The caller holds the append lock.
  void placed(Part part, long[] positions) {
    part.positions = positions;
    oldest = Math.min(oldest, positions[0]);
  }

  /// Returns the least log position of its parts. The caller holds the append lock.
  long oldest() {
    return oldest;
  }
}
