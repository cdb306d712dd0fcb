package stoa.objects;

import java.nio.ByteBuffer;
import java.util.List;
import stoa.Unavailable;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.log.BatchLog;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.storage.Device;
import stoa.storage.Image;
import stoa.storage.segment.Retired;
import stoa.store.Store;

/// The part of a store, or of one group of a store, that a backup copies: the segments of its
/// device. Keeps nothing between calls. Thread-safe; waits for the disk.
public final class BackupService {
  /// The most bytes of one read.
  public static final int BYTES_MAX = 1 << 20;

  private final Store store;
  private final List<Device> shards;

  BackupService(Store store, List<Device> shards) {
    this.store = store;
    this.shards = shards;
  }

  /// The segments to copy.
  ///
  /// @param owner stands for this opening of the store: another one may have other segments
  /// @param origin tells stores apart; a store that was restored has that of its original
  /// @param address the log address up to which all groups are to be cut
  /// @param tail the last log address that is there
  /// @param nowMicros the time of the last batch, in microseconds since 1970
  /// @param parts the segments
  public record Taken(
      long owner, String origin, long address, long tail, long nowMicros, List<Image.Part> parts) {
    /// Copies the list.
    public Taken {
      parts = List.copyOf(parts);
    }
  }

  /// Returns the segments to copy, as they are at one moment during the call.
  ///
  /// @param address the log address up to which everything must be there; 0 for the present, which
  ///   only the first group knows
  /// @throws IllegalArgumentException when the store has several shards, or no group has got that
  ///   address yet
  /// @throws Unavailable when the store cannot answer
  public Taken take(long address) {
    Device device = device();
    Streams streams = store.streams();
    long owner = store.owner();
    long cut = address;
    if (address == 0) cut = store.present();
    else store.reach(address);
    Image<BatchLog.Tail> image = device.image(streams::tail);
    BatchLog.Tail tail = image.note();
    return new Taken(owner, origin(streams), cut, tail.counter(), tail.nowMicros(), image.parts());
  }

  /// Returns bytes of a segment.
  ///
  /// @param owner as [#take] said
  /// @param length up to [#BYTES_MAX]
  /// @throws Unavailable when they are to be copied no more: take again
  public byte[] read(long owner, int segment, long at, int length) {
    if (at < 0 || length < 0 || length > BYTES_MAX) {
      throw new IllegalArgumentException(
          length + " bytes at " + at + "; the most are " + BYTES_MAX + " bytes");
    }
    if (owner != store.owner()) {
      throw new Unavailable("the store was opened again meanwhile; begin the backup again");
    }
    var bytes = new byte[length];
    try {
      device().copy(segment, at, ByteBuffer.wrap(bytes));
    } catch (Retired reclaimed) {
      throw new Unavailable(
          "segment " + segment + " was reclaimed meanwhile; begin the backup again", reclaimed);
    }
    return bytes;
  }

  private Device device() {
    List<Device> devices = shards;
    if (devices.size() == 1) return devices.getFirst();
    throw new IllegalArgumentException(
        "the store has "
            + devices.size()
            + " shards, and only a store of one is backed up; stop its process, and copy the"
            + " directory");
  }

  /// Tells stores apart: by the first name in the dictionary, its place in the log, and its time.
  ///
  /// @param streams of the first group; others have the same form, and another value
  /// @return empty while there is no name
  public static String origin(Streams streams) {
    StoredEntry first = streams.read(Dictionary.KEY.stream(), 1);
    if (first == null) return "";
    var text = new Encoder(64).varint(first.log().epoch()).varint(first.log().counter());
    return StreamId.of(text.varint(first.nowMicros()).raw(first.payload()).toBytes()).toString();
  }
}
