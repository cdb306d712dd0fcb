package stoa.log;

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
import stoa.base.StreamId;
import stoa.storage.object.WriteTransaction;

/// A change of several parts of an object of all replicas. Its parts are versions of an object
/// beside it, which every replica makes a version of the object at the commit. Thread-safe.
final class StagedChange implements ByteChange {
  // The most parts, so that all fit into one transaction of the device.
  private static final int PARTS_MAX = 1 << 18;

  private final ChangeLane lane;
  private final StreamId id;
  // 0 for the next one.
  private final long version;
  private final ReentrantLock lock = new ReentrantLock();
  // Guarded by lock.
  private final ArrayDeque<CompletableFuture<Long>> pending = new ArrayDeque<>();
  private final SortedMap<String, byte[]> attributes = new TreeMap<>();
  private final List<String> removed = new ArrayList<>();
  private long attributeBytes;
  // 0 while there is no part.
  private long staged;
  // -1 before any part.
  private long cut = -1;
  private int parts;
  private boolean ended;

  /// @param version that the caller chooses; 0 for the next one
  StagedChange(ChangeLane lane, StreamId id, long version) {
    this.lane = lane;
    this.id = id;
    this.version = version;
    lane.opened();
  }

  @Override
  public void write(long offset, ByteBuffer data) {
    await(writeAsync(offset, data));
  }

  @Override
  public CompletableFuture<Void> writeAsync(long offset, ByteBuffer data) {
    if (!data.hasRemaining()) return CompletableFuture.completedFuture(null);
    lock.lock();
    try {
      return part(data.remaining(), ReplicatedBytes.write(stage(), offset, data))
          .thenAccept(_ -> {});
    } finally {
      lock.unlock();
    }
  }

  /// Returns the object of the parts.
  private StreamId stage() {
    ensureOpen();
    if (parts >= PARTS_MAX) {
      throw new IllegalArgumentException(
          "the write has %,d parts, which is the limit where several servers keep the store; commit it and begin another"
              .formatted(PARTS_MAX));
    }
    if (staged == 0) staged = lane.number();
    parts++;
    return ObjectChange.staged(staged);
  }

  private CompletableFuture<Long> part(long bytes, ChangeLane.Order order) {
    while (isWell(pending.peekFirst())) pending.removeFirst();
    CompletableFuture<Long> part = lane.submit(ChangeLane.Room.OWN, bytes, order);
    pending.add(part);
    return part;
  }

  private static boolean isWell(@Nullable CompletableFuture<Long> part) {
    return part != null && part.isDone() && !part.isCompletedExceptionally();
  }

  @Override
  public void truncate(long size) {
    ReplicatedBytes.requireRange(size, 0);
    CompletableFuture<Long> done;
    lock.lock();
    try {
      ensureOpen();
      if (parts == 0) {
        cut = cut < 0 ? size : Math.min(cut, size);
        return;
      }
      StreamId stage = stage();
      done =
          part(
              0,
              ReplicatedBytes.versioned(
                  given -> new ObjectChange.Cut(stage, given.next(stage), size)));
    } finally {
      lock.unlock();
    }
    await(done);
  }

  @Override
  public void attribute(String name, byte[] value) {
    WriteTransaction.requireAttribute(name, value);
    lock.lock();
    try {
      ensureOpen();
      attributeBytes += value.length + 4L * name.length() + 16;
      attributes.put(name, value.clone());
      removed.remove(name);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void removeAttribute(String name) {
    WriteTransaction.requireAttribute(name, new byte[0]);
    lock.lock();
    try {
      ensureOpen();
      attributes.remove(name);
      if (removed.contains(name)) return;
      attributeBytes += 4L * name.length() + 16;
      removed.add(name);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public long commit() {
    lock.lock();
    try {
      ensureOpen();
      ended = true;
    } finally {
      lock.unlock();
    }
    try {
      for (CompletableFuture<Long> part : pending) await(part);
      boolean onlyTakes = staged == 0 && attributes.isEmpty();
      long written =
          lane.run(
              onlyTakes ? ChangeLane.Room.KEPT : ChangeLane.Room.OWN,
              attributeBytes,
              ReplicatedBytes.versioned(given -> {
                long at = version == 0 ? given.next(id) : version;
                return new ObjectChange.Finish(id, at, cut, staged, attributes, removed);
              }));
      lane.ended();
      return written;
    } catch (RuntimeException | Error failed) {
      giveUp();
      throw failed;
    }
  }

  private static void await(CompletableFuture<?> part) {
    try {
      part.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) throw cause;
      throw e;
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (ended) return;
      ended = true;
    } finally {
      lock.unlock();
    }
    giveUp();
  }

  private void giveUp() {
    lane.ended();
    if (staged == 0) return;
    StreamId stage = ObjectChange.staged(staged);
    // If that fails, the next owner of the group does it.
    var _ =
        lane.submit(
            ChangeLane.Room.KEPT,
            0,
            ReplicatedBytes.versioned(_ -> new ObjectChange.Delete(stage)));
  }

  private void ensureOpen() {
    if (ended) throw new IllegalStateException("the write of " + id + " has ended; begin another");
  }
}
