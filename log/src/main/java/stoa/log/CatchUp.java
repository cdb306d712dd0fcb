package stoa.log;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.object.ObjectSnapshot;
import stoa.storage.object.VersionState;
import stoa.storage.segment.Commit;

/// Lets a replica catch up with another one by asking its [Supply] for what is missing here.
///
/// One thread uses it. Other threads may go on applying commands to the replica; applying them
/// again has no effect.
public final class CatchUp {
  /*
   * The order of writes makes a crash harmless at any place. A stream gets its checkpoints and
   * marks first, then its entries by their addresses, then its release as at the other replica. So
   * at any time the stream has everything up to its last entry, and the next attempt asks for the
   * rest. The headers of the log come last: when a header is here, everything up to it is here, and
   * applying its batch again changes nothing. One commit, with the position, ends the catch-up.
   */

  /// The other replica's [Supply], local or remote.
  public interface Source {
    /// Asks a question. The caller reads the answer to its end before the next one.
    InputStream ask(byte[] question) throws IOException;
  }

  /// The other replica has less than this one. It may receive the rest later, or it has lost it.
  public static final class Behind extends IOException {
    private static final long serialVersionUID = 1L;

    Behind(String message) {
      super(message);
    }
  }

  /// A requested checkpoint.
  public record Wanted(StreamId stream, long address) {}

  /// The most checkpoints of one request.
  public static final int WANTED_MAX = 256;

  // The bytes of one commit.
  private static final int COMMIT_BYTES = 1 << 20;

  // The bytes between two syncs, which bound the loss of a crash.
  private static final int SYNC_BYTES = 256 << 20;

  private static final int DATA_BYTES_MAX = Commit.BYTES_MAX / 2;

  private final Replica replica;
  private final Device device;
  private final Streams streams;
  private final Source source;
  private final Commit commit = new Commit();
  private long unsynced;

  private CatchUp(Replica replica, Source source) {
    this.replica = replica;
    this.device = replica.device();
    this.streams = replica.all();
    this.source = source;
  }

  /// Lets a replica catch up, and returns its durable position.
  ///
  /// @throws IOException when the source throws it, or gives an impossible answer; the caller then
  ///   repeats this, which continues from there
  /// @throws stoa.storage.disk.StorageException when the device fails
  public static Position run(Replica replica, Source source) throws IOException {
    return new CatchUp(replica, source).run();
  }

  private Position run() throws IOException {
    Position position;
    long fence;
    try (var in = ask(new byte[] {Supply.BEGIN})) {
      long index = in.readLong();
      position = new Position(in.readLong(), index);
      fence = in.readLong();
      // A broken-off attempt may have brought more than this one knows of.
      long counter = in.readLong();
      long own = streams.tail().counter();
      if (counter < own) {
        throw new Behind(
            "the other replica is at log counter %d, and this one at %d".formatted(counter, own));
      }
    }
    if (position.index() <= replica.applied().index() && replica.isWhole()) return replica.sync();
    if (position.index() < replica.applied().index()) {
      // Present contents would count as those of the deleted object there.
      throw new Behind(
          "the other replica is at %s, and this one at %s".formatted(position, replica.applied()));
    }
    long sent = replica.sent();
    if (position.index() < sent) {
      // The streams would show more than the replica has at that position.
      throw new Behind(
          "the other replica is at %s, and this one has a part of what was applied up to %d"
              .formatted(position, sent));
    }
    replica.absorb(position);
    streams();
    objects();
    log();
    return replica.absorbed(position, fence);
  }

  /// Asks another replica for checkpoints, which each replica makes by itself.
  ///
  /// @param wanted up to [#WANTED_MAX]
  /// @param each receives each in turn, with its state; null when it does not exist, or no more
  /// @throws IOException when the source throws it
  public static void checkpoints(
      Source source, List<Wanted> wanted, BiConsumer<Wanted, byte @Nullable []> each)
      throws IOException {
    var question = new Encoder(32 * wanted.size()).u8(Supply.KEPT);
    for (Wanted one : wanted) question.id(one.stream()).varint(one.address());
    try (var in = ask(source, question.toBytes())) {
      for (Wanted one : wanted) each.accept(one, in.readByte() == 0 ? null : data(in));
    }
  }

  private DataInputStream ask(byte[] question) throws IOException {
    return ask(source, question);
  }

  private static DataInputStream ask(Source source, byte[] question) throws IOException {
    return new DataInputStream(new BufferedInputStream(source.ask(question)));
  }

  private static StreamId id(DataInputStream in) throws IOException {
    return new StreamId(in.readLong(), in.readLong());
  }

  private static byte[] data(DataInputStream in) throws IOException {
    int length = in.readInt();
    if (length < 0 || length > DATA_BYTES_MAX)
      throw new IOException("data of " + length + " bytes");
    byte[] data = in.readNBytes(length);
    if (data.length < length) throw new EOFException("the other replica broke off");
    return data;
  }

  // ---- streams

  /// A stream at the other replica.
  private record Other(StreamId id, long last, long oldest) {}

  private void streams() throws IOException {
    StreamId after = null;
    while (true) {
      List<Other> page = page(after);
      if (page.isEmpty()) return;
      after = page.getLast().id();
      // An earlier version lists what a broken-off move of its log to its device has left.
      page.removeIf(other -> Streams.isInternal(other.id()) || isHere(other));
      if (!page.isEmpty()) records(page);
    }
  }

  private boolean isHere(Other other) {
    return streams.last(other.id()) >= other.last() && streams.oldest(other.id()) >= other.oldest();
  }

  private List<Other> page(@Nullable StreamId after) throws IOException {
    List<Other> page = new ArrayList<>();
    try (var in = ask(Supply.page(Supply.STREAMS, after))) {
      while (in.readByte() != 0) page.add(new Other(id(in), in.readLong(), in.readLong()));
    }
    return page;
  }

  private void records(List<Other> lacking) throws IOException {
    var question = new Encoder(32 * lacking.size()).u8(Supply.RECORDS);
    for (Other other : lacking) question.id(other.id()).varint(streams.last(other.id()));
    try (var in = ask(question.toBytes())) {
      for (Other other : lacking) {
        int space;
        while ((space = in.readByte() - 1) >= 0) write(other.id(), space, in.readLong(), data(in));
        if (other.oldest() > streams.oldest(other.id())) {
          flush(); // what stays is found by what is there
          streams.trimTo(other.id(), other.oldest()).add(other.id(), commit);
        }
      }
    }
    flush();
  }

  private void write(StreamId id, int space, long offset, byte[] data) {
    commit.write(id, space, offset, data, 0, data.length);
    if (commit.bytes() >= COMMIT_BYTES) flush();
  }

  private void flush() {
    if (commit.count() == 0) return;
    unsynced += commit.bytes();
    replica.absorb(commit);
    commit.clear();
    if (unsynced < SYNC_BYTES) return;
    unsynced = 0;
    device.sync();
  }

  private void log() throws IOException {
    long from = Math.max(0, device.floor(Streams.LOG, Streams.ENTRIES, Long.MAX_VALUE));
    try (var in = ask(new Encoder(16).u8(Supply.LOG).varint(from).toBytes())) {
      long first = in.readLong();
      while (in.readByte() != 0) write(Streams.LOG, Streams.ENTRIES, in.readLong(), data(in));
      if (first > streams.firstInLog()) commit.trim(Streams.LOG, Streams.ENTRIES, first);
    }
    flush();
  }

  // ---- objects with versions

  /// @param snapshots the highest version of each, by number
  private record OtherObject(StreamId id, VersionState state, SortedMap<Long, Long> snapshots) {}

  private void objects() throws IOException {
    StreamId after = null;
    while (true) {
      List<OtherObject> page = new ArrayList<>();
      try (var in = ask(Supply.page(Supply.OBJECTS, after))) {
        while (in.readByte() != 0) {
          StreamId id = id(in);
          var state = VersionState.fromBytes(data(in));
          var snapshots = new TreeMap<Long, Long>();
          for (int left = in.readUnsignedByte(); left > 0; left--) {
            snapshots.put(in.readLong(), in.readLong());
          }
          page.add(new OtherObject(id, state, snapshots));
        }
      }
      delete(after, page);
      if (page.isEmpty()) return;
      for (OtherObject other : page) update(other);
      device.sync();
      after = page.getLast().id();
    }
  }

  private void update(OtherObject other) throws IOException {
    var object = device.object(other.id());
    Set<Long> kept = new TreeSet<>();
    for (ObjectSnapshot snapshot : object.snapshots()) {
      if (other.snapshots().containsKey(snapshot.number())) kept.add(snapshot.number());
      else snapshot.release();
    }
    VersionState own = object.versionState();
    if (!own.minus(other.state()).equals(VersionState.EMPTY) || isBeyond(own, kept, other)) {
      // The object was deleted there, and created anew, with other versions, as their issuer
      // guarantees; or the other replica is behind one that this replica has caught up from.
      ReplicaObjects.delete(object);
      own = VersionState.EMPTY;
      kept.clear();
    }
    boolean lacks = !other.state().minus(own).equals(VersionState.EMPTY);
    if (!lacks && kept.containsAll(other.snapshots().keySet())) return;
    var question = new Encoder(64).u8(Supply.UPDATES).id(other.id()).sized(own.toBytes());
    kept.forEach(question::varint);
    try (var in = ask(question.toBytes())) {
      object.applyAll(in);
    }
  }

  /// Returns whether there are versions here that a missing snapshot does not have: what these have
  /// hidden is not sent.
  private static boolean isBeyond(VersionState own, Set<Long> kept, OtherObject other) {
    return other.snapshots().entrySet().stream()
        .anyMatch(there -> !kept.contains(there.getKey()) && there.getValue() < own.highest());
  }

  /// Deletes objects after an id, up to the end of a page, that the other replica does not have.
  private void delete(@Nullable StreamId after, List<OtherObject> page) {
    List<StreamId> gone = new ArrayList<>();
    @Nullable StreamId end = page.isEmpty() ? null : page.getLast().id();
    device.objects(
        after,
        id -> {
          if (end != null && id.compareTo(end) > 0) return false;
          if (page.stream().noneMatch(other -> other.id().equals(id))) gone.add(id);
          return true;
        });
    for (StreamId id : gone) ReplicaObjects.delete(device.object(id));
  }
}
