package stoa.storage.replication;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import stoa.storage.object.VersionState;

/// One replica of a versioned object: here a device of this process ([DeviceReplica]), elsewhere
/// whatever reaches one.
///
/// Every operation may be done twice, and in any order with others: that changes nothing. An
/// implementer that loses a message completes the future with an exception, at the latest when it
/// gives up. Thread-safe.
public interface WriteReplica {
  /// Refuses writes of earlier epochs from now on, also after a crash. Completes with the versions
  /// that the replica has then; no write of an earlier epoch that is not among them is acknowledged
  /// by this replica. Fails with [Fenced] when it has promised a later epoch.
  CompletableFuture<VersionState> promise(long epoch);

  /// Writes the remaining bytes of `data` at `offset`; durable and visible when the future
  /// completes. The bytes never change. Fails with [Fenced] when the replica has promised a later
  /// epoch.
  CompletableFuture<Void> write(long epoch, long version, long offset, ByteBuffer data);

  /// Completes with the versions that the replica has, all of them durable.
  CompletableFuture<VersionState> versions();

  /// Completes with the updates that a replica with the versions of `have` lacks.
  CompletableFuture<byte[]> updates(VersionState have);

  /// Applies updates of another replica; durable and visible when the future completes.
  CompletableFuture<Void> apply(byte[] updates);

  /// Fills the remaining room of `target` with the bytes from `offset` on.
  CompletableFuture<Void> read(long offset, ByteBuffer target);
}
