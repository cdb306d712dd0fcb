package stoa.log;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.ObjectSnapshot;
import stoa.storage.object.VersionState;

/// A versioned object whose writer gives the versions: the device that has it, or the leader of its
/// replicas.
///
/// This is a name: it costs nothing, and the object need not exist. Methods throw the exceptions of
/// [stoa.storage.object.VersionedObject] and, where there are replicas, [stoa.Unavailable] when
/// this one does not lead (it changed nothing), and [stoa.UnknownOutcome] when the outcome is
/// unknown. Thread-safe.
public interface ByteObject {
  /// Returns the object on a device without other replicas.
  static ByteObject on(Device device, StreamId id) {
    return new LocalBytes(device.object(id));
  }

  /// Returns the present contents: everything that was acknowledged before this call.
  ObjectReader now();

  /// Returns the contents of the snapshot with a number. This looks nothing up: a released or
  /// unknown snapshot shows when it is read.
  ObjectReader at(long number);

  /// Returns the snapshots that were not released, oldest first.
  List<ObjectSnapshot> snapshots();

  /// Writes the remaining bytes of `data` at `offset` as the next version, and returns it: durable
  /// and visible on return.
  long write(long offset, ByteBuffer data);

  /// Writes as [#write], and may use the device's reserve.
  void note(long offset, ByteBuffer data);

  /// Begins to write, as [#write] does. The caller must not change the bytes before the future
  /// completes. Writes of one thread get versions in their order. Waits only while more than 64 MiB
  /// are in progress.
  CompletableFuture<Long> writeAsync(long offset, ByteBuffer data);

  /// Begins a change of several parts.
  ///
  /// @param version that the caller chooses; 0 for the next one
  /// @throws IllegalStateException when 65,536 are open
  ByteChange begin(long version);

  /// Counts versions as written: durable on return.
  ///
  /// @param versions not none
  void skip(VersionState versions);

  /// Makes a snapshot and returns its number.
  ///
  /// @throws IllegalStateException when the object does not exist, or has too many snapshots
  long snapshot();

  /// Releases the snapshot with a number, if it exists.
  void release(long number);

  /// Deletes the object with its snapshots, if it exists.
  void delete();
}
