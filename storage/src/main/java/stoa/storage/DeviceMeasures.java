package stoa.storage;

import java.util.List;
import stoa.base.Measures;

/// The measures of devices, for the monitor of the store on them.
public final class DeviceMeasures {
  private DeviceMeasures() {}

  /// Reports the sums of the work and the contents of the devices of one store. Asks their disks
  /// for the free space.
  public static void measure(List<Device> devices, Measures out) {
    long syncs = 0;
    long logged = 0;
    long held = 0;
    long used = 0;
    long room = Long.MAX_VALUE;
    long quota = 0;
    long fillable = 0;
    boolean failed = false;
    for (Device device : devices) {
      DeviceStats stats = device.stats();
      long here = device.heldBytes();
      syncs += stats.syncs();
      logged += stats.logBytes();
      held += here;
      used += here + stats.runBytes();
      room = Math.min(room, device.roomBytes());
      if (device.boundBytes() != Long.MAX_VALUE) {
        quota += device.boundBytes();
        fillable += device.fillableBytes();
      }
      failed |= device.failure() != null;
    }
    out.count("stoa.syncs", Measures.NO_UNIT, "Syncs of segments.", syncs);
    out.count("stoa.log", Measures.BYTES, "Length of the log since it began.", logged);
    out.count(
        "stoa.log.released",
        Measures.BYTES,
        "Part of the log that the devices gave up, as it was deleted, trimmed or replaced.",
        Math.max(0, logged - held));
    out.gauge(
        "stoa.disk.used", Measures.BYTES, "Size of segments and index on the disk.", (double) used);
    if (room != Long.MAX_VALUE) {
      out.gauge("stoa.disk.free", Measures.BYTES, "Room that is left on the disk.", (double) room);
    }
    out.gauge(
        "stoa.disk.quota",
        Measures.BYTES,
        "Size that segments and index may have on the disk; 0 without a quota.",
        (double) quota);
    out.gauge(
        "stoa.disk.fillable",
        Measures.BYTES,
        "Size of segments and index at which the quota refuses changes: the quota without a reserve"
            + " for deletions; 0 without a quota.",
        (double) fillable);
    out.gauge(
        "stoa.disk.failed",
        Measures.NO_UNIT,
        "1 when a device takes no more commits until the store is opened again; otherwise 0.",
        failed ? 1 : 0);
  }
}
