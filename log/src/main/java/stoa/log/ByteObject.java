package stoa.log;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.ObjectReader;
import stoa.storage.ObjectSnapshot;

/// A versioned object whose versions are all given where it is written: by the device that it is
/// on, or by who leads the replicas that have it.
///
/// A name: it costs nothing, and the object need not exist. Methods throw what those of
/// [stoa.storage.VersionedObject] do and, where there are replicas, [stoa.Unavailable] when this
/// one does not lead (then nothing was changed), and [stoa.UnknownOutcome] when it is not known
/// whether it did. Thread-safe.
public interface ByteObject {
  /// The object on a device that nobody else has.
  static ByteObject on(Device device, StreamId id) {
    return new LocalBytes(device.object(id));
  }

  /// What is there: all that was acknowledged when this was called.
  ObjectReader now();

  /// What the snapshot of a number keeps. Nothing is looked up: where it was released, or never
  /// was, that is how it behaves.
  ObjectReader at(long number);

  /// The snapshots that are kept, oldest first.
  List<ObjectSnapshot> snapshots();

  /// Writes the remaining bytes of `data` at `offset` as the next version, and answers which:
  /// durable and seen on return.
  long write(long offset, ByteBuffer data);

  /// As [#write], and takes of the room that is kept for what makes room.
  void note(long offset, ByteBuffer data);

  /// Begins to do what [#write] does. The bytes must not change before the answer completes. What
  /// one thread begins gets versions in that order. Waits only while more than 64 MiB are under
  /// way.
  CompletableFuture<Long> writeAsync(long offset, ByteBuffer data);

  /// Begins a change of several parts.
  ///
  /// @throws IllegalStateException when 65,536 are open
  ByteChange begin();

  /// Makes a snapshot and answers its number.
  ///
  /// @throws IllegalStateException when the object does not exist, or has too many snapshots
  long snapshot();

  /// Releases the snapshot of a number, if there is one.
  void release(long number);

  /// Deletes the object with its snapshots, if there is one.
  void delete();
}
