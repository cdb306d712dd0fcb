package stoa.log;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.object.ObjectSnapshot;
import stoa.storage.object.VersionState;

/// Supplies another replica with what it lacks, as of one position, while this one goes on.
///
/// The other one asks, and compares: it gets the missing entries, marks and checkpoints, and the
/// missing versions of blobs (VOSD paper, section II-B), not the whole. Meanwhile nothing is
/// released here: close it. One thread uses it.
public final class Supply implements AutoCloseable {
  /*
   *   question           answer
   *   u8                 (all of it big-endian, of fixed size; data after its length, i32)
   *   BEGIN              index i64, term i64, fence i64, log counter i64
   *   STREAMS id?        for each stream after the id, up to a number: 1 u8, id, last i64, oldest i64; 0 u8
   *   RECORDS id last .. for each named stream: for each record after `last` that is not released:
   *                      1 + space u8, offset i64, data; in the order of checkpoints, marks,
   *                      entries; 0 u8
   *   LOG counter        first counter in the log i64; for each header after the counter: 1 u8, counter
   *                      i64, data; 0 u8
   *   OBJECTS id?        for each object after the id, up to a number: 1 u8, id, version state, number of
   *                      snapshots u8, and for each its number i64 and highest version i64; 0 u8
   *   UPDATES id state number ..
   *                      what stoa.storage.object.VersionedObject sends to an owner of these versions and snapshots
   *   KEPT id address .. for each named stream: 1 u8, data of the checkpoint at that address; or 0 u8
   *
   * A supply describes the replica as of one position: it leaves out entries after the position's log
   * counter. A release before the position shows as missing entries; a later release shows as `oldest`
   * only. Objects do not follow the position: the supply sends their present state, so that a version
   * may come early, and twice. The supply lists objects with parts of unfinished changes first. When
   * such a part is gone before the other replica asks for it, a later object contains it.
   */
  static final int BEGIN = 0;
  static final int STREAMS = 1;
  static final int RECORDS = 2;
  static final int LOG = 3;
  static final int OBJECTS = 4;
  static final int UPDATES = 5;
  static final int KEPT = 6;
  static final int PAGE = 1_024;

  /// The largest question: a page of streams, or a version state.
  public static final int QUESTION_BYTES_MAX = 1 << 20;

  private static final int BUFFER = 64 << 10;
  private static final int[] SPACES = {Streams.CHECKPOINTS, Streams.MARKS, Streams.ENTRIES};

  private final Replica replica;
  private final Device device;
  private final Streams streams;
  private final Position position;
  private final long fence;
  private final long counter;
  private final AtomicBoolean closed = new AtomicBoolean();

  Supply(Replica replica, Position position, long fence, long counter) {
    this.replica = replica;
    this.device = replica.device();
    this.streams = replica.all();
    this.position = position;
    this.fence = fence;
    this.counter = counter;
  }

  /// Answers a question.
  ///
  /// @throws IOException when `to` throws it
  /// @throws IllegalArgumentException when it is no question
  /// @throws stoa.storage.disk.StorageException when the device cannot be read
  public void answer(byte[] question, OutputStream to) throws IOException {
    var out = new DataOutputStream(new BufferedOutputStream(to, BUFFER));
    var in = new Decoder(question);
    int kind = in.u8();
    switch (kind) {
      case BEGIN -> {
        out.writeLong(position.index());
        out.writeLong(position.term());
        out.writeLong(fence);
        out.writeLong(counter);
      }
      case STREAMS -> streams(after(in), out);
      case RECORDS -> {
        while (in.remaining() > 0) records(in.id(), in.varint(), out);
      }
      case LOG -> log(in.varint(), out);
      case OBJECTS -> objects(after(in), out);
      case UPDATES -> {
        StreamId id = in.id();
        var state = VersionState.fromBytes(in.sized());
        Set<Long> kept = new TreeSet<>();
        while (in.remaining() > 0) kept.add(in.varint());
        device.object(id).updatesMissingFrom(state, kept, out);
      }
      case KEPT -> {
        while (in.remaining() > 0) kept(in.id(), in.varint(), out);
      }
      default -> throw new IllegalArgumentException("a question of the unknown kind " + kind);
    }
    out.flush();
  }

  private static @Nullable StreamId after(Decoder in) {
    return in.remaining() == 0 ? null : in.id();
  }

  static byte[] page(int kind, @Nullable StreamId after) {
    var question = new Encoder(17).u8(kind);
    if (after != null) question.id(after);
    return question.toBytes();
  }

  private static void write(StreamId id, DataOutputStream out) throws IOException {
    out.writeLong(id.high());
    out.writeLong(id.low());
  }

  private static void write(byte[] data, DataOutputStream out) throws IOException {
    out.writeInt(data.length);
    out.write(data);
  }

  private void streams(@Nullable StreamId after, DataOutputStream out) throws IOException {
    List<StreamId> page = new ArrayList<>(PAGE);
    device.withRecords(
        after,
        id -> {
          if (!Streams.isInternal(id)) page.add(id);
          return page.size() < PAGE;
        });
    for (StreamId id : page) {
      out.writeByte(1);
      write(id, out);
      long last = last(id);
      out.writeLong(last);
      out.writeLong(Math.min(streams.oldest(id), last + 1));
    }
    out.writeByte(0);
  }

  /// Returns the last valid address of a stream as of the position: log addresses ascend with
  /// stream addresses.
  private long last(StreamId stream) {
    long high = streams.last(stream);
    if (high == 0 || isCounted(stream, high)) return high;
    long low = Math.max(1, streams.firstKept(stream)) - 1; // is counted, or in front of all
    while (high - low > 1) {
      long middle = (low + high) >>> 1;
      if (isCounted(stream, middle)) low = middle;
      else high = middle;
    }
    return low;
  }

  private boolean isCounted(StreamId stream, long address) {
    StoredEntry entry = streams.read(stream, address);
    return entry == null || entry.log().counter() <= counter;
  }

  private void records(StreamId stream, long from, DataOutputStream out) throws IOException {
    long last = last(stream);
    for (int space : SPACES) scan(stream, space, from, last, out);
    out.writeByte(0);
  }

  /// Writes the records of a space after an offset, up to another one: each with the space.
  private void scan(StreamId stream, int space, long after, long last, DataOutputStream out)
      throws IOException {
    var failure = new IOException[1];
    replica
        .extents()
        .scan(
            stream,
            space,
            after + 1,
            last,
            (offset, data) -> {
              try {
                out.writeByte(1 + space);
                out.writeLong(offset);
                write(data, out);
                return true;
              } catch (IOException e) {
                failure[0] = e;
                return false;
              }
            });
    if (failure[0] != null) throw failure[0];
  }

  private void kept(StreamId stream, long address, DataOutputStream out) throws IOException {
    Streams.At kept = streams.lastCheckpoint(stream, address);
    if (kept == null || kept.address() != address) {
      out.writeByte(0);
      return;
    }
    out.writeByte(1);
    write(kept.data(), out);
  }

  private void log(long from, DataOutputStream out) throws IOException {
    out.writeLong(streams.firstInLog());
    scan(Streams.LOG, Streams.ENTRIES, from, counter, out);
    out.writeByte(0);
  }

  private void objects(@Nullable StreamId after, DataOutputStream out) throws IOException {
    List<StreamId> page = new ArrayList<>();
    device.objects(
        after,
        id -> {
          page.add(id);
          return page.size() < PAGE;
        });
    for (StreamId id : page) {
      out.writeByte(1);
      write(id, out);
      var object = device.object(id);
      List<ObjectSnapshot> snapshots = object.snapshots();
      write(object.versionState().toBytes(), out);
      out.writeByte(snapshots.size());
      for (ObjectSnapshot snapshot : snapshots) {
        out.writeLong(snapshot.number());
        out.writeLong(highest(snapshot));
      }
    }
    out.writeByte(0);
  }

  private static long highest(ObjectSnapshot snapshot) {
    try {
      return snapshot.versionState().highest();
    } catch (IllegalStateException released) {
      return Long.MAX_VALUE; // in between
    }
  }

  /// Lets releases go on.
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) replica.supplied();
  }
}
