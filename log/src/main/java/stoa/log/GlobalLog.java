package stoa.log;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.LogAddress;
import stoa.base.Check;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.log.Layout.Copies;
import stoa.storage.Device;
import stoa.storage.disk.DiskFull;
import stoa.storage.segment.Commit;

/// The shards of one process as one log (vCorfu, section 3): each stream is on the storage device
/// of its shard, and a batch that spans shards is committed by one record.
///
/// One owner proposes; the streams may be read beside it. The caller's own thread writes and syncs.
/// With a shard that fails while others go on, the log takes no more batches until it is opened
/// again.
public final class GlobalLog implements BatchLog {
  /*
   * Where a batch is. A device that has anything of it has, in the same commit, a header under its first
   * counter. u is the log unit of that counter.
   *
   *                       log units, durable first      then its streams' other shards
   *   one shard           that shard itself             -
   *   several shards      u                             the others, not synced
   *   one, full copy      u, or u + 1 if it is u        that shard, synced
   *   several, full copy  u and u + 1                   the others, synced
   *   a seal              every shard                   -
   *
   * The first log unit's commit is the commit of the batch. It has a header of all entries, the
   * entries of its own streams, and those of the others: as one record under UNIT at the first counter,
   * or, in full-copy mode, each as a copy (see Shards). The others have a header of their own entries.
   *
   *   object    space  offset          data
   *   UNIT      0      first counter   for each foreign entry, in log order: stream id, stream address
   *                                    varint, offset varint, kind u8, now varint, mark u8: 0, or 1 and
   *                                    sized bytes; payload sized
   *   UNIT      1      0               delivered: counter varint
   *   UNIT      2      0               what the device is: state u8, shards varint, shard varint,
   *                                    copies u8, identity 16
   *
   * Recovery. Each device has lost a suffix of its unsynced writes. From the delivered counter on, every
   * batch is looked at, and what a device misses of it is written again: its header tells which shards
   * take part, and the entries are in their streams, or in a log unit. A device that was lost is one
   * that misses everything, from the first batch on; what it had is in the others in full-copy mode.
   *
   * Invariants:
   * (1) The log units that have a batch complete any part of it on a device; they are durable before
   *     anything else of it is written.
   * (2) A batch at or below the delivered counter is durable on every device that it belongs to.
   * (3) In full-copy mode a committed batch is durable on at least two devices.
   * (4) After a failure that leaves a batch on some devices, nothing more is written: so a device never
   *     has a later batch of a stream without an earlier one.
   */
  static final StreamId UNIT = StreamId.of("stoa/unit");
  private static final int RECORDS = 0;
  private static final int DELIVERED = 1;
  private static final int LAYOUT = 2;
  private static final int WHOLE = 1;
  private static final int BUILDING = 0;
  private static final int FULL = 1;

  // Stands for the contents of a released entry: headers still say where it was.
  private static final byte[] RELEASED = {};

  // The most batches that an opening examines again.
  private static final int UNDELIVERED_BATCHES_MAX = 1_024;

  private static final long UNDELIVERED_BYTES_MAX = 64 << 20;

  private final Layout layout;
  private final List<Device> devices;
  private final Shards shards;
  private final Streams streams;

  // The owner holds it while it writes, and the closing thread.
  private final ReentrantLock writing = new ReentrantLock();

  private final Commit commit = new Commit();
  private final Encoder scratch = new Encoder(1024);
  private final Encoder record = new Encoder(1024);

  // The streams of which a part was found released during the rebuilding of a lost shard.
  private final Set<StreamId> trimmed = new TreeSet<>();

  private int undeliveredBatches;
  private long undeliveredBytes;
  private volatile Tail tail;
  private volatile long term;
  private volatile @Nullable RuntimeException failed;

  private GlobalLog(Layout layout, List<Device> devices) {
    this.layout = layout;
    this.devices = List.copyOf(devices);
    this.shards = new Shards(layout, this.devices);
    this.streams = new Streams(shards);
    this.tail = Tail.EMPTY;
  }

  /// Opens the log of several shards and continues it. Writes batches that a crash left on some
  /// devices only to the others. An empty device beside others that are not was lost: full-copy
  /// mode rebuilds it from the others.
  ///
  /// @param identity the name of a new log, which distinguishes its devices from others
  /// @param devices one for each shard; closed with the log
  /// @throws IllegalArgumentException when the log was made with another layout
  /// @throws Corrupt when a device is missing or of another log, and cannot be rebuilt
  /// @throws stoa.storage.disk.StorageException when a device cannot be read or written
  /// @throws stoa.Unavailable when it cannot be read
  public static GlobalLog open(Layout layout, StreamId identity, List<Device> devices) {
    Check.that(devices.size() == layout.shards(), "%s devices for %s", devices.size(), layout);
    var log = new GlobalLog(layout, devices);
    log.recover(log.identify(identity));
    log.tail = log.streams.tail();
    log.term = log.tail.term() + 1;
    return log;
  }

  /// Returns how the log is spread over its devices.
  public Layout layout() {
    return layout;
  }

  /// Returns the devices, by shard.
  public List<Device> devices() {
    return devices;
  }

  /// Returns the device of a stream, and of other objects with an id.
  public Device device(StreamId id) {
    return devices.get(layout.shard(id));
  }

  // ---- writing

  @Override
  public void makeRoom(long bytes) {
    for (Device device : devices) device.makeRoom(bytes);
  }

  @Override
  public void append(Batch batch, Consumer<BatchOutcome> done) {
    BatchOutcome outcome;
    writing.lock();
    try {
      outcome = outcome(batch);
    } finally {
      writing.unlock();
    }
    done.accept(outcome);
  }

  private BatchOutcome outcome(Batch batch) {
    Tail before = tail;
    LogAddress first = batch.token().first();
    if (first.epoch() != before.epoch()
        || batch.term() < before.term()
        || (batch.term() == before.term() && batch.sequence() <= before.sequence())) {
      return new BatchOutcome.Fenced(before.epoch());
    }
    RuntimeException earlier = failed;
    if (earlier != null) return new BatchOutcome.Unknown(earlier);
    boolean begun = false;
    try {
      BitSet participants = participants(batch);
      BitSet units = units(first.counter(), participants);
      for (int unit : inOrder(first.counter(), units)) {
        encode(batch, unit, units);
        devices.get(unit).appendReserved(commit);
        begun = true;
      }
      sync(units);
      participants.andNot(units);
      for (int shard = participants.nextSetBit(0); shard >= 0; ) {
        encode(batch, shard, units);
        devices.get(shard).appendReserved(commit);
        shard = participants.nextSetBit(shard + 1);
      }
      if (layout.copies() == Copies.FULL) sync(participants);
    } catch (DiskFull full) {
      if (!begun) return new BatchOutcome.Refused(full);
      return fail(full);
    } catch (RuntimeException failure) {
      return fail(failure);
    }
    long last = first.counter() + batch.token().count() - 1;
    tail =
        new Tail(
            first.epoch(), last, batch.term(), batch.sequence(), batch.nowMicros(), batch.note());
    undeliveredBatches++;
    for (Entry entry : batch.entries()) undeliveredBytes += entry.payload().length;
    if (undeliveredBatches >= UNDELIVERED_BATCHES_MAX
        || undeliveredBytes >= UNDELIVERED_BYTES_MAX) {
      tryToDeliver();
    }
    return new BatchOutcome.Committed();
  }

  /// Delivers batches to make opening quick. The batches stand without it.
  private void tryToDeliver() {
    try {
      deliver();
    } catch (DiskFull later) {
      // The next batch tries again.
    } catch (RuntimeException failure) {
      failed = failure;
    }
  }

  private BatchOutcome fail(RuntimeException failure) {
    failed = failure;
    return new BatchOutcome.Unknown(failure);
  }

  private BitSet participants(Batch batch) {
    var participants = new BitSet();
    for (Entry entry : batch.entries()) participants.set(layout.shard(entry.stream()));
    // It opens its term, wherever that is.
    if (participants.isEmpty()) participants.set(layout.logUnit(batch.token().first().counter()));
    return participants;
  }

  /// Returns the shards whose log units have a batch before its streams do.
  private BitSet units(long counter, BitSet participants) {
    int unit = layout.logUnit(counter);
    int next = (unit + 1) % layout.shards();
    var units = new BitSet();
    boolean full = layout.copies() == Copies.FULL;
    boolean single = participants.cardinality() == 1;
    if (single && !full) {
      units.or(participants);
    } else if (single && participants.get(unit)) {
      units.set(next);
    } else {
      units.set(unit);
      if (full && !single) units.set(next);
    }
    return units;
  }

  /// Returns the units with the log unit of the counter first, if it is one of them.
  private List<Integer> inOrder(long counter, BitSet units) {
    int unit = layout.logUnit(counter);
    var order = new ArrayList<Integer>(units.cardinality());
    if (units.get(unit)) order.add(unit);
    units.stream().filter(other -> other != unit).forEach(order::add);
    return order;
  }

  private void sync(BitSet which) {
    for (int shard = which.nextSetBit(0); shard >= 0; shard = which.nextSetBit(shard + 1)) {
      devices.get(shard).sync();
    }
  }

  /// Makes the commit of a device's part of a batch.
  private void encode(Batch batch, int shard, BitSet units) {
    commit.clear();
    boolean unit = units.get(shard);
    Token token = batch.token();
    var own = new ArrayList<Entry>();
    var foreign = new ArrayList<Entry>();
    for (Entry entry : batch.entries()) {
      (layout.shard(entry.stream()) == shard ? own : foreign).add(entry);
    }
    Streams.encodeHeader(batch, unit ? batch.entries() : own, commit, scratch);
    own.removeIf(GlobalLog::isReleased);
    foreign.removeIf(GlobalLog::isReleased);
    for (Entry entry : own) Streams.encodeEntry(token, entry, commit, scratch);
    if (!unit || foreign.isEmpty()) return;
    if (layout.copies() == Copies.FULL) {
      for (Entry entry : foreign) Streams.encodeCopy(token, entry, commit, scratch);
      return;
    }
    record.clear();
    for (Entry entry : foreign) encode(entry);
    commit.write(UNIT, RECORDS, token.first().counter(), record.array(), 0, record.size());
  }

  @SuppressWarnings("ReferenceEquality") // Justification: nobody else has the array
  private static boolean isReleased(Entry entry) {
    return entry.payload() == RELEASED;
  }

  private void encode(Entry entry) {
    record.id(entry.stream()).varint(entry.address()).varint(entry.offset()).u8(entry.kind());
    record.varint(entry.nowMicros());
    byte[] mark = entry.mark();
    if (mark == null) record.u8(0);
    else record.u8(1).sized(mark);
    record.sized(entry.payload());
  }

  @Override
  public void seal(long epoch) {
    Tail before = tail;
    if (epoch <= before.epoch()) return;
    var token = new Token(new LogAddress(epoch, before.counter() + 1), 1);
    try {
      for (Device device : devices) {
        Streams.encodeSeal(token, before.nowMicros(), before.note(), commit.clear(), scratch);
        device.appendReserved(commit);
      }
      devices.forEach(Device::sync);
    } catch (RuntimeException failure) {
      failed = failure;
      throw failure;
    }
    tail = new Tail(epoch, before.counter() + 1, 0, 0, before.nowMicros(), before.note());
    term = 1;
  }

  /// Makes everything durable on every device, and records that.
  private void deliver() {
    devices.forEach(Device::sync);
    scratch.clear().varint(tail.counter());
    for (Device device : devices) {
      commit.clear().write(UNIT, DELIVERED, 0, scratch.array(), 0, scratch.size());
      if (layout.copies() == Copies.REFERENCE) commit.trim(UNIT, RECORDS, tail.counter() + 1);
      device.appendReserved(commit);
    }
    undeliveredBatches = 0;
    undeliveredBytes = 0;
  }

  // ---- opening

  /// Writes its identity on every device, or checks it.
  ///
  /// @return the lost shards
  private BitSet identify(StreamId identity) {
    var silent = new BitSet();
    StreamId known = null;
    for (int shard = 0; shard < devices.size(); shard++) {
      byte[] note = devices.get(shard).read(UNIT, LAYOUT, 0);
      if (note == null) {
        requireEmpty(shard);
        silent.set(shard);
      } else {
        known = requireSame(shard, known, note, silent);
      }
    }
    if (silent.isEmpty()) return silent;
    if (streams.tail().epoch() == 0) {
      // It is new, or was never used.
      StreamId name = known == null ? identity : known;
      silent.stream().forEach(shard -> identify(shard, WHOLE, name));
      return new BitSet();
    }
    if (layout.copies() != Copies.FULL || silent.cardinality() > 1 || known == null) {
      throw new Corrupt(
          "of %d shards %s have nothing, so their data is missing; put it back"
              .formatted(layout.shards(), silent));
    }
    int lost = silent.nextSetBit(0);
    identify(lost, BUILDING, known);
    return silent;
  }

  private void requireEmpty(int shard) {
    if (devices.get(shard).floor(Streams.LOG, Streams.ENTRIES, Long.MAX_VALUE) < 0) return;
    throw new Corrupt(
        "shard %d has a log that is none of several shards; put the right data there"
            .formatted(shard));
  }

  private StreamId requireSame(int shard, @Nullable StreamId known, byte[] note, BitSet silent) {
    var in = new Decoder(note);
    int state = in.u8();
    long count = in.varint();
    long index = in.varint();
    Copies copies = in.u8() == FULL ? Copies.FULL : Copies.REFERENCE;
    StreamId identity = in.id();
    if (count != layout.shards() || copies != layout.copies()) {
      throw new IllegalArgumentException(
          "the store was made with %d shards and copies %s, not with %d and %s"
              .formatted(count, name(copies), layout.shards(), name(layout.copies())));
    }
    if (index != shard || (known != null && !known.equals(identity))) {
      throw new Corrupt(
          "shard %d has data of shard %d of store %s, others of store %s; put the right data there"
              .formatted(shard, index, identity, known));
    }
    if (state != WHOLE) silent.set(shard);
    return identity;
  }

  private static String name(Copies copies) {
    return copies.name().toLowerCase(java.util.Locale.ROOT);
  }

  private void identify(int shard, int state, StreamId identity) {
    scratch
        .clear()
        .u8(state)
        .varint(layout.shards())
        .varint(shard)
        .u8(layout.copies() == Copies.FULL ? FULL : 0);
    scratch.id(identity);
    Device device = devices.get(shard);
    device.appendReserved(
        commit.clear().write(UNIT, LAYOUT, 0, scratch.array(), 0, scratch.size()));
    device.sync();
  }

  /// Writes to each device what it misses.
  private void recover(BitSet lost) {
    long from = lost.isEmpty() ? deliveredCounter() + 1 : 0;
    var walk = new LogWalk(devices, from, Long.MAX_VALUE, LogWalk.Damage.TOLD);
    boolean any = false;
    LogWalk.Step step;
    while ((step = walk.next()) != null) {
      any = true;
      Header header = Header.of(step.first(), step.header());
      if (!lost.isEmpty()) noteTrimmed(header);
      redrive(header, step.holders());
    }
    if (!any) return;
    tail = streams.tail();
    int whole = lost.nextSetBit(0);
    if (whole >= 0) {
      for (StreamId stream : trimmed) {
        shards.trimAgain(stream, whole, commit.clear());
        devices.get(whole).appendReserved(commit);
      }
    }
    deliver();
    if (whole < 0) return;
    devices.forEach(Device::sync);
    byte[] note = devices.get(whole).read(UNIT, LAYOUT, 0);
    if (note == null) throw new IllegalStateException("broken invariant: the note is gone");
    var in = new Decoder(note, note.length - 16, note.length);
    identify(whole, WHOLE, in.id());
  }

  /// Returns the least counter that all devices have recorded; a device that missed the record may
  /// miss more.
  private long deliveredCounter() {
    long least = Long.MAX_VALUE;
    for (Device device : devices) {
      byte[] note = device.read(UNIT, DELIVERED, 0);
      least = Math.min(least, note == null ? -1 : new Decoder(note).varint());
    }
    return least;
  }

  private void noteTrimmed(Header header) {
    for (Streams.LogItem item : header.items()) {
      for (Streams.Place place : item.places()) {
        if (shards.isTrimmed(place.stream())) trimmed.add(place.stream());
      }
    }
  }

  private void redrive(Header header, BitSet holders) {
    long first = header.token().first().counter();
    BitSet needed = header.participants(layout);
    if (header.isSeal()) needed.set(0, layout.shards());
    else if (needed.isEmpty()) needed.set(layout.logUnit(first));
    BitSet units = units(first, needed);
    if (!header.isSeal()) needed.or(units);
    needed.andNot(holders);
    if (needed.isEmpty()) return;
    if (header.isSeal()) {
      needed.stream()
          .forEach(shard -> {
            Streams.encodeSeal(
                header.token(), header.nowMicros(), header.note(), commit.clear(), scratch);
            devices.get(shard).appendReserved(commit);
          });
      return;
    }
    Batch batch = batch(header, units);
    needed.stream()
        .forEach(shard -> {
          encode(batch, shard, units);
          devices.get(shard).appendReserved(commit);
        });
  }

  /// Returns a batch, from its parts on the devices.
  private Batch batch(Header header, BitSet units) {
    long first = header.token().first().counter();
    Map<Streams.Place, Entry> recorded = recorded(first, units);
    var entries = new ArrayList<Entry>();
    for (Streams.LogItem item : header.items()) {
      int offset = (int) (item.log().counter() - first);
      for (Streams.Place place : item.places()) {
        Entry entry = recorded.get(place);
        if (entry == null) entry = stored(place, offset, item.log());
        if (entry == null && shards.isTrimmed(place.stream(), place.address())) {
          entry = new Entry(place.stream(), place.address(), offset, 0, (byte) 0, RELEASED, null);
        }
        if (entry == null) {
          throw new Corrupt(
              "address %d of stream %s, at log address %s, is on no device; put the missing data back"
                  .formatted(place.address(), place.stream(), item.log()));
        }
        entries.add(entry);
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

  private Map<Streams.Place, Entry> recorded(long first, BitSet units) {
    var entries = new HashMap<Streams.Place, Entry>();
    if (layout.copies() == Copies.FULL) return entries;
    byte[] data = devices.get(units.nextSetBit(0)).read(UNIT, RECORDS, first);
    if (data == null) return entries;
    var in = new Decoder(data);
    while (in.remaining() > 0) {
      StreamId stream = in.id();
      long address = in.varint();
      int offset = (int) in.varint();
      byte kind = (byte) in.u8();
      long nowMicros = in.varint();
      byte[] mark = in.u8() == 1 ? in.sized() : null;
      entries.put(
          new Streams.Place(stream, address),
          new Entry(stream, address, offset, nowMicros, kind, in.sized(), mark));
    }
    return entries;
  }

  /// Returns an entry from its stream, or from a copy.
  private @Nullable Entry stored(Streams.Place place, int offset, LogAddress log) {
    StreamId stream = place.stream();
    Device home = device(stream);
    byte[] data = home.read(stream, Streams.ENTRIES, place.address());
    byte[] mark = home.read(stream, Streams.MARKS, place.address());
    if (data == null && layout.copies() == Copies.FULL) {
      data = shards.readCopy(stream, Shards.COPIES, place.address());
      mark = shards.readCopy(stream, Shards.COPY_MARKS, place.address());
    }
    if (data == null) return null;
    StoredEntry entry = Streams.decode(place.address(), data);
    if (!entry.log().equals(log)) return null;
    return new Entry(
        stream, place.address(), offset, entry.nowMicros(), entry.kind(), entry.payload(), mark);
  }

  // ---- the rest of the port

  @Override
  public long term() {
    return term;
  }

  @Override
  public void confirm() {
    // No other owner acknowledges anything.
  }

  @Override
  public Tail tail() {
    return tail;
  }

  @Override
  public Streams streams() {
    return streams;
  }

  @Override
  public void close() {
    // The device reports to a thread that still writes.
    if (writing.tryLock()) {
      try {
        if (failed == null && undeliveredBatches > 0) tryToDeliver();
      } finally {
        writing.unlock();
      }
    }
    devices.forEach(Device::close);
  }
}
