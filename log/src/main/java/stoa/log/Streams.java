package stoa.log;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.LogAddress;
import stoa.StoaException;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.disk.CorruptData;
import stoa.storage.disk.StorageException;
import stoa.storage.segment.Commit;

/// The materialized streams of a log, on the storage device of its shard or on those of several
/// (vCorfu, section 3.3: a stream replica can be read at any stream address without touching the
/// global log).
///
/// Thread-safe. Reads throw [Corrupt] for damaged bytes, and [Unavailable] for other failures.
public final class Streams {
  /*
   * A stream is an object of the same id on the device of its shard, in three spaces:
   *
   *   space         offset            data
   *   ENTRIES       stream address    kind u8, epoch varint, counter varint, now varint, payload
   *   CHECKPOINTS   stream address    the state after that address, as the layer above encodes it
   *   MARKS         stream address    the mark of the entry there
   *
   * The global log is the object LOG: in space ENTRIES, at the counter of a batch's first entry, the
   * header of the batch: epoch, term, sequence, number of addresses, now, all varint; its note,
   * sized; and what its addresses hold: number of streams varint and their ids; number of entries
   * varint, and for each the step from the offset before, the index of its stream and its stream
   * address, all varint. A seal is a header of one address without an entry. A log of several shards
   * has it on each device that has an entry of the batch, with the entries of that device at least:
   * see GlobalLog.
   *
   * Trimmed entries are gone from the spaces of the device. The requested bound of a stream's trims is
   * the bound of the space OLDEST, in which nothing is ever written: some entries before it stay, as the
   * state there depends on them.
   */
  static final int ENTRIES = 0;
  static final int CHECKPOINTS = 1;
  static final int MARKS = 2;
  static final int OLDEST = 3;
  static final StreamId LOG = StreamId.of("stoa/log");

  /// A mark or checkpoint: data at a stream address.
  ///
  /// @param address the stream address
  /// @param data its bytes
  public record At(long address, byte[] data) {}

  /// The place of an entry of the global log.
  ///
  /// @param stream its stream
  /// @param address its position there
  public record Place(StreamId stream, long address) {}

  /// The content of a log address.
  ///
  /// @param log the address
  /// @param places the entries there, in order; none at a hole, which includes a seal
  public record LogItem(LogAddress log, List<Place> places) {}

  private final Extents device;

  /// Returns whether an object of the device is the log's own, and no stream.
  public static boolean isInternal(StreamId stream) {
    return stream.equals(LOG)
        || stream.equals(GlobalLog.UNIT)
        || stream.equals(Replica.RECORD)
        || stream.equals(ReplicaLog.RECORD);
  }

  /// Creates the streams on a device.
  public Streams(Device device) {
    this(Extents.of(device));
  }

  /// Creates the streams on extents.
  Streams(Extents extents) {
    this.device = extents;
  }

  /// Returns the last address of a stream, 0 when it has no entry.
  public long last(StreamId stream) {
    return Math.max(0, offset(stream, ENTRIES, Long.MAX_VALUE));
  }

  /// Returns the entry at an address, or null when there is none.
  public @Nullable StoredEntry read(StreamId stream, long address) {
    byte[] data = data(stream, ENTRIES, address);
    return data == null ? null : decode(address, data);
  }

  /// Visits the entries from `from` to `to`, both inclusive, in order, until the visitor returns
  /// false.
  public void scan(StreamId stream, long from, long to, Predicate<StoredEntry> visitor) {
    try {
      device.scan(stream, ENTRIES, from, to, (at, data) -> visitor.test(decode(at, data)));
    } catch (StorageException failed) {
      throw told(failed);
    }
  }

  // ---- trimming

  /// Releases the part of a stream before an address, for good: from now on [#oldest] is at least
  /// that. Keeps what the state at the address needs: the last mark up to there, the last
  /// checkpoint if it is not older than that, and the entries from there on; of a stream without
  /// marks, the entries from the address on. Atomic, and durable with the next batch or [#sync]; it
  /// costs as much as one entry, whatever the size of the release. No effect when the stream was
  /// trimmed as far before.
  ///
  /// @param before the first address that stays
  public void trim(StreamId stream, long before) {
    if (before <= oldest(stream)) return;
    Extents.Trim trim = trimTo(stream, before);
    try {
      device.trim(stream, trim);
    } catch (StorageException failed) {
      throw told(failed);
    }
  }

  /// Returns what goes when a stream is trimmed.
  Extents.Trim trimTo(StreamId stream, long before) {
    At mark = floor(stream, MARKS, before);
    if (mark == null) return new Extents.Trim(before, before, 0, 0);
    long base = Math.max(mark.address(), checkpointAt(stream, before));
    return new Extents.Trim(before, base, mark.address(), base);
  }

  /// Returns from which address on the entries would stay if a stream were trimmed now.
  public long base(StreamId stream, long before) {
    long mark = offset(stream, MARKS, before);
    return mark < 0 ? before : Math.max(mark, offset(stream, CHECKPOINTS, before));
  }

  /// Returns how far a stream was trimmed: nothing before this address counts any more. 0 when it
  /// never was.
  public long oldest(StreamId stream) {
    return bound(stream, OLDEST);
  }

  /// Returns the first address with an entry, which may be before [#oldest]; 0 when the stream was
  /// never trimmed.
  public long firstKept(StreamId stream) {
    return bound(stream, ENTRIES);
  }

  /// Releases the log's record of the addresses before a counter, by whole batches; the entries
  /// stay in their streams. Otherwise as [#trim].
  public void trimLog(long before) {
    long first = batchAt(before);
    if (first <= firstInLog()) return;
    try {
      device.trimLog(first);
    } catch (StorageException failed) {
      throw told(failed);
    }
  }

  /// Returns the first counter of the batch at a counter, or of the one before it.
  long batchAt(long counter) {
    return offset(LOG, ENTRIES, counter);
  }

  /// Returns the first counter that the log still records; 0 when nothing was ever released.
  public long firstInLog() {
    return bound(LOG, ENTRIES);
  }

  /// Returns the first counter of a batch that was made at a time or later, as far as the log still
  /// records it; the one after the last when there is none.
  public long firstSince(long nowMicros) {
    long low = firstInLog();
    long high = tail().counter() + 1;
    while (low < high) {
      long middle = (low + high) >>> 1;
      At header = floor(LOG, ENTRIES, middle);
      if (header != null && tail(header).nowMicros() >= nowMicros) high = header.address();
      else low = middle + 1;
    }
    return low;
  }

  /// Returns the last counter of the batches that were made before a time; 0 when there is none.
  /// Never less than that of a batch that the log no longer records.
  public long lastBefore(long nowMicros) {
    long since = firstSince(nowMicros);
    At before = since <= 0 ? null : floor(LOG, ENTRIES, since - 1);
    return before == null ? Math.max(0, firstInLog() - 1) : tail(before).counter();
  }

  /// Makes earlier trims and checkpoints durable.
  public void sync() {
    try {
      device.sync();
    } catch (StorageException failed) {
      throw told(failed);
    }
  }

  private long bound(StreamId stream, int space) {
    try {
      return device.trimmedBefore(stream, space);
    } catch (StorageException failed) {
      throw told(failed);
    }
  }

  // ---- the global log

  /// Returns the content of the log address of a counter, or null when nothing was written there:
  /// it was not issued, or was issued in vain.
  ///
  /// @throws TooOld when it was released
  public @Nullable LogItem at(long counter) {
    checkInLog(counter);
    At header = floor(LOG, ENTRIES, counter);
    if (header == null) {
      checkInLog(counter); // as it is now
      return null;
    }
    var found = new LogItem[1];
    visit(
        header.address(),
        header.data(),
        counter,
        counter,
        item -> {
          found[0] = item;
          return false;
        });
    return found[0];
  }

  private void checkInLog(long counter) {
    long first = firstInLog();
    if (counter < first) throw new TooOld("the log", counter, first);
  }

  /// Visits the written log addresses from one counter to another, both inclusive, in order, until
  /// the visitor returns false.
  ///
  /// @throws TooOld when the first of them was released; begin at [#firstInLog]
  public void scanLog(long from, long to, Predicate<LogItem> visitor) {
    checkInLog(from);
    try {
      long first = Math.max(0, device.floor(LOG, ENTRIES, from));
      device.scan(
          LOG,
          ENTRIES,
          first,
          to,
          (counter, data) -> {
            if (counter > first) checkInLog(from); // it may have been released just now
            return visit(counter, data, from, to, visitor);
          });
    } catch (StorageException failed) {
      throw told(failed);
    }
  }

  static boolean visit(long first, byte[] header, long from, long to, Predicate<LogItem> visitor) {
    var in = new Decoder(header);
    long epoch = in.varint();
    in.varint();
    in.varint();
    long count = in.varint();
    in.varint();
    in.sized();
    var streams = new StreamId[(int) in.varint()];
    for (int i = 0; i < streams.length; i++) streams[i] = in.id();
    long left = in.varint();
    long next = left > 0 ? in.varint() : count;
    for (long offset = 0; offset < count; offset++) {
      var places = new ArrayList<Place>(1);
      while (left > 0 && next == offset) {
        places.add(new Place(streams[(int) in.varint()], in.varint()));
        next = --left > 0 ? offset + in.varint() : count;
      }
      long counter = first + offset;
      if (counter > to) return false;
      if (counter >= from && !visitor.test(new LogItem(new LogAddress(epoch, counter), places))) {
        return false;
      }
    }
    return true;
  }

  // ---- marks and checkpoints

  /// Returns the last mark at or below an address, or null.
  public @Nullable At lastMark(StreamId stream, long address) {
    return floor(stream, MARKS, address);
  }

  /// Returns whether there is a mark at or below an address, as [#lastMark] would find it.
  public boolean hasMark(StreamId stream, long address) {
    return address > 0 && offset(stream, MARKS, address) >= 0;
  }

  /// Returns the last checkpoint at or below an address, or null.
  public @Nullable At lastCheckpoint(StreamId stream, long address) {
    return floor(stream, CHECKPOINTS, address);
  }

  /// Returns the address of the last checkpoint at or below an address, 0 when there is none.
  public long checkpointAt(StreamId stream, long address) {
    return Math.max(0, offset(stream, CHECKPOINTS, address));
  }

  /// Stores the state of a stream after an address. It is derived data: durable with the next
  /// batch, and made again when a crash loses it.
  public void checkpoint(StreamId stream, long address, byte[] state) {
    device.append(
        stream, new Commit().clear().write(stream, CHECKPOINTS, address, state, 0, state.length));
  }

  /// As [#checkpoint], of a stream that may have been trimmed to that address or further before:
  /// releases what the checkpoint has made unneeded, on this replica alone.
  public void checkpointAndRelease(StreamId stream, long address, byte[] state) {
    checkpoint(stream, address, state);
    long oldest = oldest(stream);
    if (oldest < address || base(stream, oldest) <= firstKept(stream)) return;
    try {
      device.release(stream, trimTo(stream, oldest));
    } catch (StorageException failed) {
      throw told(failed);
    }
  }

  /// Adds a batch to a commit, in the form of this class's comment.
  void encode(Batch batch, Commit commit, Encoder scratch) {
    encodeHeader(batch, batch.entries(), commit, scratch);
    for (Entry entry : batch.entries()) encodeEntry(batch.token(), entry, commit, scratch);
  }

  /// Adds the header of a batch to a commit, with the places of some of its entries.
  static void encodeHeader(Batch batch, List<Entry> entries, Commit commit, Encoder scratch) {
    encodeHeader(batch, entries, scratch);
    long first = batch.token().first().counter();
    commit.write(LOG, ENTRIES, first, scratch.array(), 0, scratch.size());
  }

  /// Returns the header of a batch, with the places of some of its entries.
  static byte[] header(Batch batch, List<Entry> entries, Encoder scratch) {
    encodeHeader(batch, entries, scratch);
    return scratch.toBytes();
  }

  private static void encodeHeader(Batch batch, List<Entry> entries, Encoder scratch) {
    Token token = batch.token();
    begin(token, batch.term(), batch.sequence(), batch.nowMicros(), batch.note(), scratch);
    places(entries, scratch);
  }

  /// Adds an entry to a commit, in its stream.
  static void encodeEntry(Token token, Entry entry, Commit commit, Encoder scratch) {
    encodeEntry(token, entry, ENTRIES, MARKS, commit, scratch);
  }

  /// Adds a copy of an entry to a commit.
  static void encodeCopy(Token token, Entry entry, Commit commit, Encoder scratch) {
    encodeEntry(token, entry, Shards.COPIES, Shards.COPY_MARKS, commit, scratch);
  }

  private static void encodeEntry(
      Token token, Entry entry, int space, int marks, Commit commit, Encoder scratch) {
    scratch.clear().u8(entry.kind()).varint(token.first().epoch());
    scratch.varint(token.first().counter() + entry.offset()).varint(entry.nowMicros());
    scratch.raw(entry.payload());
    commit.write(entry.stream(), space, entry.address(), scratch.array(), 0, scratch.size());
    byte[] mark = entry.mark();
    if (mark != null) {
      commit.write(entry.stream(), marks, entry.address(), mark, 0, mark.length);
    }
  }

  /// Adds a seal to a commit.
  static void encodeSeal(Token token, long nowMicros, byte[] note, Commit commit, Encoder scratch) {
    begin(token, 0, 0, nowMicros, note, scratch);
    scratch.varint(0).varint(0);
    commit.write(LOG, ENTRIES, token.first().counter(), scratch.array(), 0, scratch.size());
  }

  private static void begin(
      Token token, long term, long sequence, long nowMicros, byte[] note, Encoder scratch) {
    scratch.clear().varint(token.first().epoch()).varint(term).varint(sequence);
    scratch.varint(token.count()).varint(nowMicros).sized(note);
  }

  private static void places(List<Entry> entries, Encoder scratch) {
    var known = HashMap.<StreamId, Integer>newHashMap(entries.size());
    var streams = new ArrayList<StreamId>(entries.size());
    var indexes = new int[entries.size()];
    for (int i = 0; i < indexes.length; i++) {
      StreamId stream = entries.get(i).stream();
      if (i > 0 && stream.equals(entries.get(i - 1).stream())) {
        indexes[i] = indexes[i - 1];
        continue;
      }
      Integer index = known.putIfAbsent(stream, streams.size());
      indexes[i] = index == null ? streams.size() : index;
      if (index == null) streams.add(stream);
    }
    scratch.varint(streams.size());
    for (StreamId stream : streams) scratch.id(stream);
    scratch.varint(entries.size());
    int before = 0;
    for (int i = 0; i < indexes.length; i++) {
      Entry entry = entries.get(i);
      scratch.varint(entry.offset() - before).varint(indexes[i]).varint(entry.address());
      before = entry.offset();
    }
  }

  /// Returns whether an extent of a device is the header of a batch, or of a seal.
  public static boolean isHeader(StreamId object, int space) {
    return space == ENTRIES && object.equals(LOG);
  }

  /// Returns the end of the log after the batch of a header.
  ///
  /// @param first the offset of the header
  public static BatchLog.Tail tail(long first, byte[] header) {
    return tail(new At(first, header));
  }

  /// Returns the end of the global log.
  public BatchLog.Tail tail() {
    At last = floor(LOG, ENTRIES, Long.MAX_VALUE);
    return last == null ? BatchLog.Tail.EMPTY : tail(last);
  }

  /// Returns the end of the log after a batch.
  private static BatchLog.Tail tail(At last) {
    var header = new Decoder(last.data());
    long epoch = header.varint();
    long term = header.varint();
    long sequence = header.varint();
    long count = header.varint();
    long nowMicros = header.varint();
    byte[] note = header.sized();
    return new BatchLog.Tail(epoch, last.address() + count - 1, term, sequence, nowMicros, note);
  }

  private @Nullable At floor(StreamId stream, int space, long address) {
    try {
      var found = device.readFloor(stream, space, address);
      return found == null ? null : new At(found.offset(), found.data());
    } catch (StorageException failed) {
      throw told(failed);
    }
  }

  private long offset(StreamId stream, int space, long address) {
    try {
      return device.floor(stream, space, address);
    } catch (StorageException failed) {
      throw told(failed);
    }
  }

  private byte @Nullable [] data(StreamId stream, int space, long offset) {
    try {
      return device.read(stream, space, offset);
    } catch (StorageException failed) {
      throw told(failed);
    }
  }

  /// Returns the exception for an unreadable device, with what a caller can do: examine the data,
  /// or open the store again.
  private static StoaException told(StorageException failed) {
    String text = String.valueOf(failed.getMessage());
    return failed instanceof CorruptData
        ? new Corrupt(text, failed)
        : new Unavailable("the store cannot be read; reopen it: " + text, failed);
  }

  static StoredEntry decode(long address, byte[] data) {
    var in = new Decoder(data);
    byte kind = (byte) in.u8();
    var log = new LogAddress(in.varint(), in.varint());
    long now = in.varint();
    return new StoredEntry(address, log, now, kind, in.raw(in.remaining()));
  }
}
