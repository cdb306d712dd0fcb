package stoa.objects;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.log.BatchLog;
import stoa.log.ByteObject;
import stoa.log.GlobalLog;
import stoa.log.Layout.Copies;
import stoa.log.LocalBatchLog;
import stoa.storage.Device;
import stoa.store.threads.Threads;

/// An open log with its devices.
///
/// @param log the log
/// @param shards the devices, by shard
/// @param bytes returns the object of bytes of an id
/// @param refusal why there are no blobs; null when there are
record OpenLog(
    BatchLog log,
    List<Device> shards,
    Function<StreamId, ByteObject> bytes,
    @Nullable String refusal) {
  /// Returns the log of one shard.
  static OpenLog of(Device device) {
    return new OpenLog(local(device), List.of(device), id -> ByteObject.on(device, id), null);
  }

  private static BatchLog local(Device device) {
    try {
      return new LocalBatchLog(device);
    } catch (RuntimeException refused) {
      device.close();
      throw refused;
    }
  }

  /// Returns a log that several processes keep.
  ///
  /// @param device the device of this process
  /// @param threads wait for the other processes
  static OpenLog replicated(Device device, BatchLog log, Threads threads) {
    Function<StreamId, ByteObject> shared = log.objects(threads.answers());
    if (shared != null) return new OpenLog(log, List.of(device), shared, null);
    return new OpenLog(
        log,
        List.of(device),
        id -> ByteObject.on(device, id),
        "the replicas of this store exchange batches of calls only, not the bytes of blobs; keep"
            + " blobs in another store");
  }

  /// Returns the log of several shards.
  static OpenLog of(GlobalLog log) {
    String refusal =
        log.layout().copies() == Copies.FULL
            ? "the bytes of a blob are kept once, and this store keeps two copies of everything;"
                + " keep blobs in a store that is opened without copies=full"
            : null;
    return new OpenLog(log, log.devices(), id -> ByteObject.on(log.device(id), id), refusal);
  }
}
