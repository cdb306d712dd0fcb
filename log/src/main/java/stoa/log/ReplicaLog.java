package stoa.log;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.Unavailable;
import stoa.base.Check;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.StorageException;
import stoa.storage.segment.Commit;

/// The log of a replica's consensus, on the device of the replica: an entry is written and synced
/// once, and its application shows it.
///
/// One thread of the consensus uses it. It shares the lock of its [Replica].
public final class ReplicaLog {
  /*
   *    object    space    offset   data
   *    RECORD    ENTRIES  index    kind u8 and term varint, then
   *                                0  an entry of the consensus: its bytes
   *                                1  a command: its bytes
   *                                2  a batch whose entries are in their streams: its first counter varint,
   *                                   and its header as in Streams
   *                                nothing at all: void
   *    RECORD    HEADS    0        what the consensus keeps beside its entries; nothing for none
   *    RECORD    HEADS    1        1 when this log began on the device, and in no files before
   *
   * A batch is in its streams at once only if it takes effect in the state after all entries before it, so that it
   * covers no valid entry. That is not known while the replica is not whole: what others send may have the same
   * addresses. So a catch-up begins with bytes in place of all such batches, and later ones stay bytes.
   *
   * Invariants:
   * (1) The extents hide the entries of the batches that are in `pending` and in place, and no others.
   * (2) In place are only entries behind `applied` of a whole replica, and applied ones.
   * (3) A batch that is not applied can be read. An applied one that is in place may be released from its
   *     streams, in part or whole.
   * (4) A batch that is in place takes effect when it is applied.
   * (5) A cut is one commit, before that of any later entry.
   */
  static final StreamId RECORD = StreamId.of("stoa/raft");

  private static final int ENTRIES = 0;
  private static final int HEADS = 1;

  private static final int OWN = 0;
  private static final int BYTES = 1;
  private static final int PLACED = 2;

  // The bytes of one commit of a log that comes from elsewhere.
  private static final int COMMIT_BYTES = 1 << 20;

  private static final byte[] NOTHING = {};

  /// An entry of the log.
  public sealed interface Item {
    /// Returns its place.
    Position at();

    /// A command of the replica.
    @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by no code
    record Ordered(Position at, byte[] command) implements Item {}

    /// Something that the consensus has put there for itself.
    ///
    /// @param content in its own form
    @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by no code
    record Own(Position at, byte[] content) implements Item {}

    /// A command that the replica has applied, and that cannot be read any more: its streams have
    /// released some of it.
    record Released(Position at) implements Item {}
  }

  /// An entry that is not applied.
  ///
  /// @param command null for one that is none, or is of an unknown kind
  /// @param isPlaced whether it is a batch whose entries are in their streams
  /// @param after the state when it will be applied
  private record Pending(
      Position at, @Nullable Command command, boolean isPlaced, Replica.State after) {
    Batch batch() {
      if (command instanceof Command.Write(Batch batch)) return batch;
      throw new IllegalStateException("no batch is at " + at);
    }
  }

  private final Replica replica;
  private final Device device;
  private final AppliedExtents extents;
  private final Commit commit = new Commit();
  private final Encoder scratch = new Encoder(1 << 10);

  // Guarded by the lock of the replica.
  private final ArrayDeque<Pending> pending = new ArrayDeque<>();
  // The index of the last entry; that of an earlier one when it is void.
  private long last;
  // Whether the consensus has to sync; only its thread ends that. A catch-up syncs by itself.
  private boolean unsynced;

  /// Opens the log of a replica.
  ///
  /// @param replica is at its last position
  ReplicaLog(Replica replica, AppliedExtents extents) {
    this.replica = replica;
    this.device = replica.device();
    this.extents = extents;
    last = last(device);
    visit(
        device,
        replica.applied().index(),
        (at, kind, in) -> {
          switch (kind) {
            case OWN -> remember(at, null, false);
            case BYTES -> remember(at, decoded(in.raw(in.remaining())), false);
            case PLACED -> {
              Batch batch = unapplied(device, in);
              extents.hide(places(batch));
              remember(at, new Command.Write(batch), true);
            }
            default -> throw unknown(kind);
          }
        });
    Check.that(
        replica.isWhole() || pending.stream().noneMatch(Pending::isPlaced),
        "a replica that is not whole has hidden entries");
  }

  // ---- a device without a replica

  /// Returns whether a device has the log of its replica's consensus.
  public static boolean isOn(Device device) {
    byte[] record = device.read(Replica.RECORD, 0, 0);
    return record != null && record[0] == Replica.WITH_LOG;
  }

  /// Returns whether an object of a device has something of such a log.
  public static boolean isOf(StreamId object) {
    return object.equals(RECORD);
  }

  /// Begins a log on the device of a replica that is not open, and that has none elsewhere. Durable
  /// on return.
  ///
  /// @throws StorageException when the device fails
  public static void begin(Device device) {
    begin(device, new Commit().write(RECORD, HEADS, 1, new byte[] {1}, 0, 1), NOTHING, List.of());
  }

  /// Returns whether the log of a device began there, and in no files before.
  public static boolean hasBegunOn(Device device) {
    byte[] noted = device.read(RECORD, HEADS, 1);
    return noted != null && noted.length > 0;
  }

  /// Puts a log onto the device of a replica that is not open, and that has its log elsewhere.
  /// Durable on return. After a crash the device has the whole log, or none that counts.
  ///
  /// @param head what the consensus keeps beside its entries
  /// @throws StorageException when the device fails
  public static void begin(Device device, byte[] head, List<Item> items) {
    begin(device, new Commit(), head, items);
  }

  private static void begin(Device device, Commit commit, byte[] head, List<Item> items) {
    byte[] record = device.read(Replica.RECORD, 0, 0);
    if (record == null) Replica.requireNew(device);
    else Replica.requireKnown(record[0]);
    var scratch = new Encoder(1 << 10);
    voidAll(device);
    for (Item item : items) {
      byte[] content =
          switch (item) {
            case Item.Own own -> own.content();
            case Item.Ordered ordered -> ordered.command();
            case Item.Released(Position at) ->
                throw new IllegalArgumentException("the entry at " + at + " has no contents");
          };
      int kind = item instanceof Item.Own ? OWN : BYTES;
      scratch.clear().u8(kind).varint(item.at().term()).raw(content);
      commit.write(RECORD, ENTRIES, item.at().index(), scratch.array(), 0, scratch.size());
      flushLarge(device, commit);
    }
    commit.write(RECORD, HEADS, 0, head, 0, head.length);
    byte[] changed = record == null ? new byte[4] : record;
    changed[0] = Replica.WITH_LOG;
    commit.write(Replica.RECORD, 0, 0, changed, 0, changed.length);
    device.appendReserved(commit);
    device.sync();
  }

  /// Makes void what an earlier beginning has left that broke off: the log may have changed since.
  private static void voidAll(Device device) {
    var commit = new Commit();
    var left = new ArrayList<Long>();
    device.scan(RECORD, ENTRIES, 0, Long.MAX_VALUE, (index, _) -> left.add(index));
    for (long index : left) {
      commit.write(RECORD, ENTRIES, index, NOTHING, 0, 0);
      flushLarge(device, commit);
    }
    if (!left.isEmpty()) device.appendReserved(commit);
  }

  // The files of the log go afterwards: so it may use the room that is reserved.
  private static void flushLarge(Device device, Commit commit) {
    if (commit.bytes() < COMMIT_BYTES) return;
    device.appendReserved(commit);
    commit.clear();
  }

  private static long appliedIndex(Device device) {
    byte[] record = Objects.requireNonNull(device.read(Replica.RECORD, 0, 0));
    return new Decoder(record, 1, record.length).varint();
  }

  /// Visits the batches that are in their streams and not applied.
  private static void hidden(Device device, Consumer<Batch> visitor) {
    visit(
        device,
        appliedIndex(device),
        (_, kind, in) -> {
          if (kind == PLACED) visitor.accept(unapplied(device, in));
        });
  }

  /// Returns the extents of a device as its streams show them now, while no replica changes it.
  static Extents applied(Device device) {
    var extents = new AppliedExtents(device);
    hidden(device, batch -> extents.hide(places(batch)));
    return extents;
  }

  /// Refuses a device whose log has commands that its replica may not have applied. Most of them
  /// were acknowledged.
  ///
  /// @throws Unavailable when it has some; it states the remedy
  static void requireApplied(Device device) {
    if (!isOn(device)) return;
    var commands = new long[1];
    visit(
        device,
        appliedIndex(device),
        (_, kind, _) -> {
          if (kind != OWN) commands[0]++;
        });
    if (commands[0] == 0) return;
    throw new Unavailable(
        ("this is the replica of a server that keeps its store with others, and it has %,d commands"
                + " that it may not have applied; start that server, which gets to know which of them"
                + " count, and open the store through it; when most of the servers are lost for"
                + " good, ./stoa recover lets one continue alone")
            .formatted(commands[0]));
  }

  /// Makes the entries of the log void that are not applied, on a device that is no replica's any
  /// more: that of a restored backup. Durable on return. It does nothing when the device has no
  /// such log.
  ///
  /// @throws StorageException when the device fails
  public static void cutOff(Device device) {
    if (!isOn(device)) return;
    long from = appliedIndex(device) + 1;
    long last = last(device);
    if (last < from) return;
    var commit = new Commit();
    hidden(device, batch -> unplace(batch, commit, new ArrayList<>()));
    for (long index = from; index <= last; index++) {
      commit.write(RECORD, ENTRIES, index, NOTHING, 0, 0);
    }
    device.append(commit);
    device.sync();
  }

  // ---- reading

  private interface Visitor {
    void visit(Position at, int kind, Decoder in);
  }

  private static long last(Device device) {
    return Math.max(0, device.floorFilled(RECORD, ENTRIES, Long.MAX_VALUE));
  }

  private static void visit(Device device, long after, Visitor visitor) {
    var before = new long[1];
    device.scan(
        RECORD,
        ENTRIES,
        after + 1,
        Long.MAX_VALUE,
        (index, data) -> {
          if (data.length == 0) return before[0] == 0;
          if (before[0] != 0 && index != before[0] + 1) {
            throw new Corrupt("the log lacks the entries between " + before[0] + " and " + index);
          }
          before[0] = index;
          var in = new Decoder(data);
          int kind = in.u8();
          visitor.visit(new Position(in.varint(), index), kind, in);
          return true;
        });
  }

  /// Returns the header of an entry that is a batch whose entries are in their streams; null for
  /// another one.
  static @Nullable Header placed(byte[] entry) {
    var in = new Decoder(entry);
    if (in.u8() != PLACED) return null;
    in.varint(); // its term
    return Header.of(in.varint(), in.raw(in.remaining()));
  }

  private static Corrupt unknown(int kind) {
    return new Corrupt("the log has an entry of the unknown kind " + kind);
  }

  /// Returns the batch of a header, with the entries that are in their streams; null when these
  /// have released some of them.
  private static @Nullable Batch batch(Device device, Decoder in) {
    long first = in.varint();
    Header header = Header.of(first, in.raw(in.remaining()));
    var entries = new ArrayList<Entry>();
    for (Streams.LogItem item : header.items()) {
      int offset = (int) (item.log().counter() - first);
      for (Streams.Place place : item.places()) {
        byte[] data = device.read(place.stream(), Streams.ENTRIES, place.address());
        if (data == null || data.length == 0) return null;
        StoredEntry stored = Streams.decode(place.address(), data);
        if (!stored.log().equals(item.log())) return null;
        byte[] mark = device.read(place.stream(), Streams.MARKS, place.address());
        entries.add(
            new Entry(
                place.stream(),
                place.address(),
                offset,
                stored.nowMicros(),
                stored.kind(),
                stored.payload(),
                mark == null || mark.length == 0 ? null : mark));
      }
    }
    return new Batch(
        header.token(),
        header.term(),
        header.sequence(),
        header.nowMicros(),
        entries,
        header.note());
  }

  /// Returns a batch that is not applied, so that no stream has released any of it.
  private static Batch unapplied(Device device, Decoder in) {
    Batch batch = batch(device, in);
    if (batch == null) throw new Corrupt("the log lacks entries of a batch that is not applied");
    return batch;
  }

  /// Returns what the consensus keeps beside its entries; null when this log is new.
  public byte @Nullable [] head() {
    byte[] head = device.read(RECORD, HEADS, 0);
    return head == null || head.length == 0 ? null : head;
  }

  /// Returns all entries.
  public List<Item> entries() {
    var items = new ArrayList<Item>();
    visit(device, 0, (at, kind, in) -> items.add(item(at, kind, in)));
    return items;
  }

  private Item item(Position at, int kind, Decoder in) {
    return switch (kind) {
      case OWN -> new Item.Own(at, in.raw(in.remaining()));
      case BYTES -> new Item.Ordered(at, in.raw(in.remaining()));
      case PLACED -> {
        boolean isApplied = at.index() <= replica.applied().index();
        Batch batch = isApplied ? batch(device, in) : unapplied(device, in);
        yield batch == null
            ? new Item.Released(at)
            : new Item.Ordered(at, new Command.Write(batch).toBytes());
      }
      default -> throw unknown(kind);
    };
  }

  private static @Nullable Command decoded(byte[] command) {
    try {
      return Command.of(command);
    } catch (IllegalArgumentException | Decoder.MalformedException unknown) {
      return null;
    }
  }

  // ---- writing

  /// Appends an entry, behind the last one.
  ///
  /// @throws RuntimeException when the replica has failed
  public void append(Item item) {
    replica.exclusively(() -> {
      switch (item) {
        case Item.Own(Position at, byte[] content) -> {
          write(OWN, at, content);
          remember(at, null, false);
        }
        case Item.Ordered(Position at, byte[] bytes) -> {
          Command command = decoded(bytes);
          boolean isPlaced = command instanceof Command.Write(Batch batch) && place(at, batch);
          if (!isPlaced) write(BYTES, at, bytes);
          remember(at, command, isPlaced);
        }
        case Item.Released(Position at) ->
            throw new IllegalArgumentException("the entry at " + at + " has no contents");
      }
      last = item.at().index();
    });
  }

  private void kind(int kind, Position at) {
    scratch.clear().u8(kind).varint(at.term());
  }

  private void put(long index) {
    commit.write(RECORD, ENTRIES, index, scratch.array(), 0, scratch.size());
  }

  private void write(int kind, Position at, byte[] content) {
    kind(kind, at);
    scratch.raw(content);
    commit.clear();
    put(at.index());
    append();
  }

  private void append() {
    unsynced = true;
    device.appendReserved(commit);
  }

  /// Writes a batch into its streams, if that covers no valid entry. Returns whether it did.
  private boolean place(Position at, Batch batch) {
    Replica.State before = ahead();
    boolean follows = replica.isWhole() && at.index() == before.applied().index() + 1;
    if (!follows || Replica.isVoid(batch, before)) return false;
    try {
      commit.clear();
      for (Entry entry : batch.entries())
        Streams.encodeEntry(batch.token(), entry, commit, scratch);
      byte[] header = Streams.header(batch, batch.entries(), scratch);
      kind(PLACED, at);
      scratch.varint(batch.token().first().counter()).raw(header);
      put(at.index());
    } catch (IllegalArgumentException impossible) {
      return false;
    }
    extents.hide(places(batch));
    append();
    return true;
  }

  private static List<Streams.Place> places(Batch batch) {
    var places = new ArrayList<Streams.Place>(batch.entries().size());
    for (Entry entry : batch.entries())
      places.add(new Streams.Place(entry.stream(), entry.address()));
    return places;
  }

  /// Returns the state after all entries.
  private Replica.State ahead() {
    Pending end = pending.peekLast();
    return end == null ? replica.state() : end.after();
  }

  private void remember(Position at, @Nullable Command command, boolean isPlaced) {
    if (at.index() <= replica.applied().index()) return;
    Replica.State after = replica.after(ahead(), at, command, isPlaced);
    pending.add(new Pending(at, command, isPlaced, after));
  }

  /// Makes the entries from an index on void.
  ///
  /// @throws RuntimeException when the replica has failed
  public void cut(long from) {
    replica.exclusively(() -> cutNow(from));
  }

  private void cutNow(long from) {
    if (from > last) return;
    commit.clear();
    for (long index = from; index <= last; index++) {
      commit.write(RECORD, ENTRIES, index, NOTHING, 0, 0);
    }
    var cut = new ArrayList<Streams.Place>();
    for (Pending end = pending.peekLast();
        end != null && end.at().index() >= from;
        end = pending.peekLast()) {
      pending.removeLast();
      if (end.isPlaced()) unplace(end.batch(), commit, cut);
    }
    append();
    extents.cut(cut);
    last = from - 1;
  }

  /// Makes the entries of a batch void in their streams.
  ///
  /// @param cut receives their places, the last one first
  private static void unplace(Batch batch, Commit to, List<Streams.Place> cut) {
    for (Entry entry : batch.entries().reversed()) {
      to.write(entry.stream(), Streams.ENTRIES, entry.address(), NOTHING, 0, 0);
      if (entry.mark() != null) {
        to.write(entry.stream(), Streams.MARKS, entry.address(), NOTHING, 0, 0);
      }
      cut.add(new Streams.Place(entry.stream(), entry.address()));
    }
  }

  /// Sets what the consensus keeps beside its entries.
  ///
  /// @throws RuntimeException when the replica has failed
  public void head(byte[] head) {
    replica.exclusively(() -> {
      commit.clear().write(RECORD, HEADS, 0, head, 0, head.length);
      append();
    });
  }

  /// Sets what the consensus keeps beside its entries, and lets the log begin behind an index, up
  /// to which the replica is durable.
  ///
  /// @throws RuntimeException when the replica has failed
  public void head(byte[] head, long index) {
    replica.exclusively(() -> {
      commit.clear().write(RECORD, HEADS, 0, head, 0, head.length);
      commit.trim(RECORD, ENTRIES, index + 1);
      append();
      drop(index);
    });
  }

  /// Makes everything written durable.
  ///
  /// @throws StorageException when it is not, until the device is opened again
  public void sync() {
    if (!unsynced) return;
    device.sync();
    unsynced = false;
  }

  /// Makes all entries void that are not applied, and this log a new one. Durable with the next
  /// sync of the replica.
  ///
  /// @throws RuntimeException when the replica has failed
  public void reset() {
    replica.exclusively(() -> {
      long begin = replica.applied().index() + 1;
      cutNow(begin);
      commit.clear().write(RECORD, HEADS, 0, NOTHING, 0, 0);
      commit.trim(RECORD, ENTRIES, begin);
      append();
    });
  }

  // ---- for the replica, which holds its lock

  /// Returns the places of the batch at a position, if they are in their streams and hidden; null
  /// otherwise.
  @Nullable List<Streams.Place> placed(Position at) {
    Pending next = pending.peek();
    if (next == null || next.at().index() != at.index()) return null;
    Check.that(next.at().equals(at), "the log has %s where %s is applied", next.at(), at);
    return next.isPlaced() ? places(next.batch()) : null;
  }

  /// Forgets what is applied up to an index.
  void drop(long index) {
    while (!pending.isEmpty() && pending.getFirst().at().index() <= index) pending.remove();
  }

  /// Puts bytes in place of all entries that are in their streams and hidden.
  void unplaceAll() {
    if (!replica.isWhole()) return;
    var all = new ArrayList<>(pending);
    pending.clear();
    var cut = new ArrayList<Streams.Place>();
    for (Pending one : all) {
      if (one.isPlaced()) {
        kind(BYTES, one.at());
        scratch.raw(Objects.requireNonNull(one.command()).toBytes());
        commit.clear();
        put(one.at().index());
        unplace(one.batch(), commit, new ArrayList<>());
        append();
        cut.addAll(places(one.batch()));
      }
      pending.add(new Pending(one.at(), one.command(), false, one.after()));
    }
    Collections.reverse(cut);
    extents.cut(cut);
  }

  /// Notes that the replica has got its state from another one.
  void moved() {
    drop(replica.applied().index());
    var rest = new ArrayList<>(pending);
    pending.clear();
    for (Pending one : rest) remember(one.at(), one.command(), false);
  }

  /// Returns the place of the header of a batch.
  static Streams.Place header(Batch batch) {
    return new Streams.Place(Streams.LOG, batch.token().first().counter());
  }
}
