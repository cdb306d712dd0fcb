package stoa.log;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.storage.Device;
import stoa.storage.disk.StorageException;

/// Reads the headers of the batches of a log from the devices of its shards, in order.
///
/// One thread uses it.
final class LogWalk {
  /// A batch of which some device has a header.
  ///
  /// @param first the counter of its first address
  /// @param header the fullest one
  /// @param holders the shards whose devices have one
  @SuppressWarnings("ArrayRecordComponent") // compared by no code
  record Step(long first, byte[] header, BitSet holders) {}

  /// The handling of an unreadable device.
  enum Damage {
    /// Skip it: other devices have as much.
    PASSED_OVER,
    /// Throw.
    TOLD
  }

  private static final int PAGE_HEADERS = 64;
  private static final int PAGE_BYTES = 1 << 20;

  /// The headers of one device, a page at a time.
  private final class Cursor {
    private final Device device;
    private final ArrayDeque<Device.Extent> page = new ArrayDeque<>();
    private long next;
    private boolean ended;

    private Cursor(Device device) {
      this.device = device;
      this.next = from;
    }

    private Device.@Nullable Extent peek() {
      if (page.isEmpty() && !ended) fill();
      return page.peek();
    }

    private void fill() {
      var bytes = new int[1];
      try {
        device.scan(
            Streams.LOG,
            Streams.ENTRIES,
            next,
            to,
            (first, data) -> {
              page.add(new Device.Extent(first, data));
              next = first + 1;
              bytes[0] += data.length;
              return page.size() < PAGE_HEADERS && bytes[0] < PAGE_BYTES;
            });
      } catch (StorageException failed) {
        if (damage == Damage.TOLD) throw failed;
        ended = true;
      }
      if (page.isEmpty()) ended = true;
    }
  }

  private final long from;
  private final long to;
  private final Damage damage;
  private final List<Cursor> cursors = new ArrayList<>();

  /// Creates a walk.
  ///
  /// @param from the lowest counter at which a batch may begin
  /// @param to the highest
  LogWalk(List<Device> devices, long from, long to, Damage damage) {
    this.from = from;
    this.to = to;
    this.damage = damage;
    for (Device device : devices) cursors.add(new Cursor(device));
  }

  /// Returns the next batch, or null at the end.
  @Nullable Step next() {
    long first = Long.MAX_VALUE;
    for (Cursor cursor : cursors) {
      Device.Extent head = cursor.peek();
      if (head != null) first = Math.min(first, head.offset());
    }
    if (first == Long.MAX_VALUE) return null;
    byte[] best = null;
    var holders = new BitSet();
    for (int shard = 0; shard < cursors.size(); shard++) {
      Cursor cursor = cursors.get(shard);
      Device.Extent head = cursor.page.peek();
      if (head == null || head.offset() != first) continue;
      cursor.page.poll();
      holders.set(shard);
      best = fuller(best, head.data());
    }
    return best == null ? null : new Step(first, best, holders);
  }

  /// Returns the fuller of two headers of one batch.
  static byte[] fuller(byte @Nullable [] one, byte[] other) {
    return one == null || entries(one) < entries(other) ? other : one;
  }

  private static long entries(byte[] header) {
    var in = new Decoder(header);
    for (int i = 0; i < 5; i++) in.varint();
    in.sized();
    in.skip(16 * (int) in.varint());
    return in.varint();
  }
}
