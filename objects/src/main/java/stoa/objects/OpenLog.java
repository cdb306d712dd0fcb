package stoa.objects;

import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.log.GlobalLog;
import stoa.log.LocalShardLog;
import stoa.log.ShardLog;
import stoa.log.core.Layout.Copies;
import stoa.storage.Device;

/// A log that is open, and the devices that it is on.
///
/// @param log the log
/// @param devices on which device the object of an id is
/// @param refusal why there are no blobs; null when there are
record OpenLog(ShardLog log, Function<StreamId, Device> devices, @Nullable String refusal) {
  /// The log of one shard.
  static OpenLog of(Device device) {
    return new OpenLog(new LocalShardLog(device), _ -> device, null);
  }

  /// A log that several processes keep.
  ///
  /// @param device that of this process
  static OpenLog replicated(Device device, ShardLog log) {
    return new OpenLog(
        log,
        _ -> device,
        "the bytes of a blob are kept by one server, and this store is kept by several; keep blobs"
            + " in a store of one server");
  }

  /// The log of several.
  static OpenLog of(GlobalLog log) {
    String refusal =
        log.layout().copies() == Copies.FULL
            ? "the bytes of a blob are kept once, and this store keeps two copies of everything;"
                + " keep blobs in a store that is opened without copies=full"
            : null;
    return new OpenLog(log, log::device, refusal);
  }
}
