package stoa.log;

import java.util.List;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.log.Layout.Copies;
import stoa.storage.Device;
import stoa.storage.disk.StorageException;
import stoa.storage.segment.Commit;

/// The extents of several shards, each on a device of its own: a stream is on that of its shard,
/// the log on all of them.
///
/// In full-copy mode, readers get what they cannot read in its shard from the copies of the log
/// units (vCorfu, section 3.4: falls back to the log replicas). Thread-safe.
final class Shards implements Extents {
  /*
   * A log unit keeps the copy of an entry under the id of its stream, at its stream address, on its
   * own device: space COPIES has what ENTRIES of the stream's shard has, COPY_MARKS what MARKS has.
   * So readers read a stream without its shard by stream address as well, without playing the log:
   * its copies are spread over the other devices.
   *
   * A checkpoint can be made again, until the entries before it are released. The one that then
   * stays is copied first, into COPY_CHECKPOINTS of the device after that of the stream's shard.
   * The log itself is not released in full-copy mode: it restores a lost shard.
   */
  static final int COPIES = 4;
  static final int COPY_MARKS = 5;
  static final int COPY_CHECKPOINTS = 6;
  private static final int SCAN_PAGE = 256;

  private final Layout layout;
  private final List<Device> devices;

  Shards(Layout layout, List<Device> devices) {
    this.layout = layout;
    this.devices = devices;
  }

  @Override
  public byte @Nullable [] read(StreamId stream, int space, long offset) {
    return inShard(
        stream,
        space,
        device -> device.read(stream, space, offset),
        () -> readCopy(stream, copies(space), offset));
  }

  @Override
  public long floor(StreamId stream, int space, long offset) {
    if (stream.equals(Streams.LOG)) return logFloor(space, offset);
    return inShard(
        stream,
        space,
        device -> device.floor(stream, space, offset),
        () -> copyFloor(stream, copies(space), offset));
  }

  @Override
  public Device.@Nullable Extent readFloor(StreamId stream, int space, long offset) {
    if (stream.equals(Streams.LOG)) return header(space, offset);
    return inShard(
        stream,
        space,
        device -> device.readFloor(stream, space, offset),
        () -> {
          long at = copyFloor(stream, copies(space), offset);
          byte[] data = at < 0 ? null : readCopy(stream, copies(space), at);
          return data == null ? null : new Device.Extent(at, data);
        });
  }

  @Override
  public void scan(StreamId stream, int space, long from, long to, Device.ExtentVisitor visitor) {
    if (stream.equals(Streams.LOG)) {
      scanLog(from, to, visitor);
      return;
    }
    var seen = new Progress(from, visitor);
    try {
      home(stream).scan(stream, space, from, to, seen);
    } catch (StorageException failed) {
      if (!hasCopies(space)) throw failed;
      scanCopies(stream, copies(space), to, seen, failed);
    }
  }

  @Override
  public void append(StreamId stream, Commit commit) {
    home(stream).append(commit);
  }

  // ---- trimming

  @Override
  public void trim(StreamId stream, Trim trim) {
    if (layout.copies() == Copies.FULL) copyCheckpoint(stream, trim.checkpoints());
    var commit = new Commit();
    trim.add(stream, commit);
    home(stream).append(commit);
    if (layout.copies() == Copies.FULL) trimCopies(stream, trim);
  }

  private void copyCheckpoint(StreamId stream, long at) {
    byte[] state = at == 0 ? null : home(stream).read(stream, Streams.CHECKPOINTS, at);
    if (state == null) return;
    Device next = devices.get((layout.shard(stream) + 1) % layout.shards());
    next.append(new Commit().write(stream, COPY_CHECKPOINTS, at, state, 0, state.length));
    next.sync();
  }

  private void trimCopies(StreamId stream, Trim trim) {
    // First the stream itself: a copy of what is gone there does no harm.
    home(stream).sync();
    for (int shard = 0; shard < devices.size(); shard++) {
      if (shard == layout.shard(stream)) continue;
      var commit = new Commit().trim(stream, Streams.OLDEST, trim.oldest());
      commit.trim(stream, COPIES, trim.entries());
      if (trim.marks() > 0) commit.trim(stream, COPY_MARKS, trim.marks());
      if (trim.checkpoints() > 0) commit.trim(stream, COPY_CHECKPOINTS, trim.checkpoints());
      devices.get(shard).append(commit);
    }
  }

  @Override
  public void release(StreamId stream, Trim trim) {
    trim(stream, trim);
  }

  @Override
  public void trimLog(long before) {
    if (layout.copies() == Copies.FULL) return;
    // By these headers opening finds what a device has lost: so first nothing of it can be lost.
    sync();
    for (Device device : devices) {
      device.append(new Commit().trim(Streams.LOG, Streams.ENTRIES, before));
    }
  }

  @Override
  public long trimmedBefore(StreamId stream, int space) {
    if (!stream.equals(Streams.LOG)) return home(stream).trimmedBefore(stream, space);
    long bound = 0;
    for (Device device : devices) bound = Math.max(bound, device.trimmedBefore(stream, space));
    return bound;
  }

  @Override
  public void sync() {
    devices.forEach(Device::sync);
  }

  /// Returns whether an entry was released, according to any device.
  boolean isTrimmed(StreamId stream, long address) {
    for (Device device : devices) {
      if (address < device.trimmedBefore(stream, Streams.ENTRIES)
          || address < device.trimmedBefore(stream, COPIES)) {
        return true;
      }
    }
    return false;
  }

  /// Returns whether a stream was trimmed, according to any device; possibly without the release of
  /// an entry.
  boolean isTrimmed(StreamId stream) {
    for (Device device : devices) {
      if (device.trimmedBefore(stream, Streams.OLDEST) > 0) return true;
    }
    return false;
  }

  /// Tells a lost device how far a stream was released, and gives it the remaining mark and
  /// checkpoint.
  void trimAgain(StreamId stream, int lost, Commit commit) {
    int home = layout.shard(stream);
    boolean own = home == lost;
    Device teller = devices.get(own ? (home + 1) % layout.shards() : home);
    int[] ours = {Streams.OLDEST, Streams.ENTRIES, Streams.MARKS, Streams.CHECKPOINTS};
    int[] copies = {Streams.OLDEST, COPIES, COPY_MARKS, COPY_CHECKPOINTS};
    int[] told = own ? copies : ours;
    int[] spaces = own ? ours : copies;
    for (int i = 0; i < told.length; i++) {
      long bound =
          own ? copiesTrimmedBefore(stream, told[i]) : teller.trimmedBefore(stream, told[i]);
      if (bound > 0) commit.trim(stream, spaces[i], bound);
    }
    // The mark that stays may be before the first entry that does.
    long entries =
        own ? copiesTrimmedBefore(stream, COPIES) : teller.trimmedBefore(stream, Streams.ENTRIES);
    long marked =
        own ? copyFloor(stream, COPY_MARKS, entries) : teller.floor(stream, Streams.MARKS, entries);
    byte[] mark =
        marked < 0
            ? null
            : own
                ? readCopy(stream, COPY_MARKS, marked)
                : teller.read(stream, Streams.MARKS, marked);
    if (mark != null) commit.write(stream, spaces[2], marked, mark, 0, mark.length);
    if (!own && lost != (home + 1) % layout.shards()) return;
    long at = teller.trimmedBefore(stream, told[3]);
    byte[] state = at == 0 ? null : teller.read(stream, told[3], at);
    if (state != null) commit.write(stream, spaces[3], at, state, 0, state.length);
  }

  /// A crash may have left a trim on some of the devices with copies only.
  private long copiesTrimmedBefore(StreamId stream, int space) {
    int home = layout.shard(stream);
    long bound = 0;
    for (int shard = 0; shard < devices.size(); shard++) {
      if (shard != home) bound = Math.max(bound, devices.get(shard).trimmedBefore(stream, space));
    }
    return bound;
  }

  private Device home(StreamId stream) {
    return devices.get(layout.shard(stream));
  }

  // ---- the log

  private long logFloor(int space, long offset) {
    long floor = -1;
    for (Device device : devices) {
      floor = Math.max(floor, logFloor(device, space, offset));
    }
    return floor;
  }

  private long logFloor(Device device, int space, long offset) {
    try {
      return device.floor(Streams.LOG, space, offset);
    } catch (StorageException failed) {
      if (layout.copies() != Copies.FULL) throw failed;
      return -1;
    }
  }

  /// Returns the header at or below a counter; of several at one, the fullest.
  private Device.@Nullable Extent header(int space, long counter) {
    long first = logFloor(space, counter);
    if (first < 0) return null;
    byte[] best = null;
    StorageException unreadable = null;
    for (Device device : devices) {
      try {
        byte[] data = device.read(Streams.LOG, space, first);
        if (data != null) best = LogWalk.fuller(best, data);
      } catch (StorageException failed) {
        if (layout.copies() != Copies.FULL) throw failed;
        unreadable = failed;
      }
    }
    if (best == null && unreadable != null) throw unreadable;
    return best == null ? null : new Device.Extent(first, best);
  }

  private void scanLog(long from, long to, Device.ExtentVisitor visitor) {
    var damage = layout.copies() == Copies.FULL ? LogWalk.Damage.PASSED_OVER : LogWalk.Damage.TOLD;
    var walk = new LogWalk(devices, from, to, damage);
    LogWalk.Step step;
    while ((step = walk.next()) != null) {
      if (!visitor.visit(step.first(), step.header())) return;
    }
  }

  // ---- copies

  private static int copies(int space) {
    return switch (space) {
      case Streams.ENTRIES -> COPIES;
      case Streams.MARKS -> COPY_MARKS;
      default -> COPY_CHECKPOINTS;
    };
  }

  private boolean hasCopies(int space) {
    return layout.copies() == Copies.FULL
        && (space == Streams.ENTRIES || space == Streams.MARKS || space == Streams.CHECKPOINTS);
  }

  private <T extends @Nullable Object> T inShard(
      StreamId stream, int space, Function<Device, T> read, Supplier<T> degraded) {
    try {
      return read.apply(home(stream));
    } catch (StorageException failed) {
      if (!hasCopies(space)) throw failed;
      try {
        return degraded.get();
      } catch (StorageException also) {
        failed.addSuppressed(also);
        throw failed;
      }
    }
  }

  /// Returns a copy of an extent, or null. Two log units may have it; one readable copy suffices.
  byte @Nullable [] readCopy(StreamId stream, int space, long offset) {
    int home = layout.shard(stream);
    StorageException unreadable = null;
    for (int shard = 0; shard < devices.size(); shard++) {
      if (shard == home) continue;
      try {
        byte[] data = devices.get(shard).read(stream, space, offset);
        if (data != null) return data;
      } catch (StorageException failed) {
        unreadable = failed;
      }
    }
    if (unreadable != null) throw unreadable;
    return null;
  }

  private long copyFloor(StreamId stream, int space, long offset) {
    int home = layout.shard(stream);
    long floor = -1;
    for (int shard = 0; shard < devices.size(); shard++) {
      if (shard != home) floor = Math.max(floor, devices.get(shard).floor(stream, space, offset));
    }
    return floor;
  }

  /// Continues a scan that its shard has broken off.
  private void scanCopies(
      StreamId stream, int space, long to, Progress seen, StorageException cause) {
    int home = layout.shard(stream);
    while (!seen.ended && seen.next <= to) {
      long last = copyFloor(stream, space, to);
      if (last < seen.next) return;
      long end = Math.min(to, seen.next + SCAN_PAGE - 1);
      var page = new TreeMap<Long, byte[]>();
      for (int shard = 0; shard < devices.size(); shard++) {
        if (shard == home) continue;
        try {
          devices
              .get(shard)
              .scan(
                  stream,
                  space,
                  seen.next,
                  end,
                  (at, data) -> {
                    page.put(at, data);
                    return true;
                  });
        } catch (StorageException failed) {
          cause.addSuppressed(failed);
          throw cause;
        }
      }
      for (var one : page.entrySet()) {
        if (!seen.visit(one.getKey(), one.getValue())) return;
      }
      seen.next = end + 1;
    }
  }

  /// How far a scan has come.
  private static final class Progress implements Device.ExtentVisitor {
    private final Device.ExtentVisitor visitor;
    private long next;
    private boolean ended;

    private Progress(long from, Device.ExtentVisitor visitor) {
      this.next = from;
      this.visitor = visitor;
    }

    @Override
    public boolean visit(long offset, byte[] data) {
      next = offset + 1;
      ended = !visitor.visit(offset, data);
      return !ended;
    }
  }
}
