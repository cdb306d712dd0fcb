package stoa.storage.replication;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.object.VersionRange;
import stoa.storage.object.VersionState;
import stoa.storage.object.VersionedObject;

/// The replica of an object on a device of this process. Thread-safe; one for each object and
/// device.
public final class DeviceReplica implements WriteReplica {
  /*
   * The promised epoch is the highest version of an object beside it.
   *
   * A write looks at the promise before, and again when it is durable and visible. If the second
   * look finds no later promise, that promise comes after it, so the versions that the promise
   * answers have the write.
   */
  private final VersionedObject object;
  private final VersionedObject promises;
  private final ReentrantLock promising = new ReentrantLock();
  private volatile long promised; // changed under promising

  /// Creates the replica of an object.
  public DeviceReplica(Device device, StreamId id) {
    object = device.object(id);
    promises = device.object(StreamId.of("stoa/epoch/" + id));
    promised = promises.versionState().highest();
  }

  @Override
  public CompletableFuture<VersionState> promise(long epoch) {
    return did(() -> {
      promising.lock();
      try {
        if (epoch < promised) throw fenced(epoch);
        var it = VersionState.of(List.of(new VersionRange(epoch, epoch)));
        if (epoch > promised) promises.skip(it);
        promised = epoch;
      } finally {
        promising.unlock();
      }
      return object.versionState();
    });
  }

  private Fenced fenced(long epoch) {
    return new Fenced(
        "a primary of epoch %d has taken %s over from that of epoch %d"
            .formatted(promised, object, epoch));
  }

  @Override
  public CompletableFuture<Void> write(long epoch, long version, long offset, ByteBuffer data) {
    if (epoch < promised) return CompletableFuture.failedFuture(fenced(epoch));
    return object
        .writeAsync(version, offset, data)
        .thenAccept(_ -> {
          if (epoch < promised) throw fenced(epoch);
        });
  }

  @Override
  public CompletableFuture<VersionState> versions() {
    return did(object::versionState);
  }

  @Override
  public CompletableFuture<byte[]> updates(VersionState have) {
    return did(() -> {
      var bytes = new ByteArrayOutputStream();
      try {
        object.updatesMissingFrom(have, bytes);
      } catch (IOException e) {
        throw new IllegalStateException("broken invariant: this stream is in memory", e);
      }
      return bytes.toByteArray();
    });
  }

  @Override
  public CompletableFuture<Void> apply(byte[] updates) {
    return did(() -> {
      try {
        object.apply(new ByteArrayInputStream(updates));
      } catch (IOException e) {
        throw new IllegalArgumentException(String.valueOf(e.getMessage()), e);
      }
      return null;
    });
  }

  @Override
  public CompletableFuture<Void> read(long offset, ByteBuffer target) {
    return object.readAsync(offset, target);
  }

  private static <T extends @org.jspecify.annotations.Nullable Object> CompletableFuture<T> did(
      Supplier<T> work) {
    try {
      return CompletableFuture.completedFuture(work.get());
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }
}
