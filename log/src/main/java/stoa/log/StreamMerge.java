package stoa.log;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.segment.Commit;

/// Joins the logs of several groups with one order, and the streams that each of them has under the
/// same name, in the order of their log addresses. One owner uses it once.
///
/// The groups' devices stay as they are. Its entries are durable with the next sync of the device
/// that it writes to. It keeps eight bytes for each entry of a joined stream.
public final class StreamMerge {
  /*
   * Log addresses tell entries of different groups apart, with two exceptions:
   *
   * - The parts of a transaction over groups have one log address. They stay different entries.
   * - A store that was divided has copies of some streams in all of its groups. Copies have the same
   *   log address, stream address and contents, and become one entry. Where a division has left a
   *   blank, another group has the entry.
   */
  private static final int COMMIT_BYTES = 1 << 20;
  private static final int READ_MAX = 256;

  private final List<Device> groups;

  // For each joined stream and group, the new address of each old one; 0 for none.
  private final Map<StreamId, long[][]> moved = new HashMap<>();

  // For each stream that is copied from one group alone, that group.
  private final Map<StreamId, Integer> chosen = new HashMap<>();

  /// @param groups the devices of the groups, in their order
  public StreamMerge(List<Device> groups) {
    this.groups = List.copyOf(groups);
  }

  /// Decides how an entry is written.
  @FunctionalInterface
  public interface Joining {
    /// Returns the payload of an entry in the joined stream; null when it has none there.
    byte @Nullable [] joined(int group, StoredEntry entry);
  }

  /// Returns the place of an entry of a joined stream; 0 when it has none.
  public long moved(StreamId stream, int group, long address) {
    long[] places = Objects.requireNonNull(moved.get(stream), "the stream is not joined")[group];
    return address < 0 || address >= places.length ? 0 : places[(int) address];
  }

  // ---- streams

  /// An entry of a group that is to be written.
  ///
  /// @param payload the new one
  @SuppressWarnings("ArrayRecordComponent") // compared by no code
  private record Written(int group, StoredEntry entry, byte[] payload, long address) {
    private boolean isCopy(int ofGroup, StoredEntry of, byte[] ofPayload) {
      return group != ofGroup
          && entry.address() == of.address()
          && entry.kind() == of.kind()
          && Arrays.equals(payload, ofPayload);
    }
  }

  /// Joins a stream without marks and checkpoints, of which nothing is released. Entries that were
  /// joined before, of this stream or others, have their new [places][#moved].
  public void join(StreamId stream, Device to, Joining joining) {
    var places = new long[groups.size()][];
    var cursors = new ArrayList<Cursor>();
    for (int group = 0; group < groups.size(); group++) {
      Device device = groups.get(group);
      long last = Math.max(0, device.floor(stream, Streams.ENTRIES, Long.MAX_VALUE));
      places[group] = new long[Math.toIntExact(last + 1)];
      cursors.add(new Cursor(device, stream));
    }
    moved.put(stream, places);
    var commit = new Commit();
    long end = 0;
    long micros = 0;
    for (long counter = least(cursors); counter < Long.MAX_VALUE; counter = least(cursors)) {
      var written = new ArrayList<Written>();
      var blanks = new ArrayList<Written>();
      for (int group = 0; group < cursors.size(); group++) {
        Cursor cursor = cursors.get(group);
        for (StoredEntry e = cursor.entry();
            e != null && e.log().counter() == counter;
            e = cursor.entry()) {
          cursor.next();
          byte[] payload = joining.joined(group, e);
          if (payload == null) {
            blanks.add(new Written(group, e, e.payload(), 0));
            continue;
          }
          int mine = group;
          StoredEntry one = e;
          Written copy =
              written.stream()
                  .filter(other -> other.isCopy(mine, one, payload))
                  .findFirst()
                  .orElse(null);
          long address = copy == null ? ++end : copy.address;
          places[group][(int) e.address()] = address;
          if (copy != null) continue;
          written.add(new Written(group, e, payload, address));
          micros = Math.max(micros, e.nowMicros());
          byte[] data = encoded(e, micros, payload);
          commit.write(stream, Streams.ENTRIES, address, data, 0, data.length);
          flush(to, commit, COMMIT_BYTES);
        }
      }
      for (Written blank : blanks) {
        for (Written other : written) {
          if (other.group != blank.group && other.entry.address() == blank.entry.address()) {
            places[blank.group][(int) blank.entry.address()] = other.address;
          }
        }
      }
    }
    flush(to, commit, 0);
  }

  /// Copies a stream of one group. The new store has none of the same name from other groups.
  public void choose(StreamId stream, int group, Device to) {
    chosen.put(stream, group);
    StreamCopy.stream(groups.get(group), to, stream);
  }

  private static long least(List<Cursor> cursors) {
    long least = Long.MAX_VALUE;
    for (Cursor cursor : cursors) {
      StoredEntry entry = cursor.entry();
      if (entry != null) least = Math.min(least, entry.log().counter());
    }
    return least;
  }

  private static byte[] encoded(StoredEntry entry, long micros, byte[] payload) {
    var out = new Encoder(payload.length + 32).u8(entry.kind()).varint(entry.log().epoch());
    return out.varint(entry.log().counter()).varint(micros).raw(payload).toBytes();
  }

  private static void flush(Device to, Commit commit, long least) {
    if (commit.bytes() < least) return;
    to.append(commit);
    commit.clear();
  }

  // ---- the log

  /// Returns the ends of the groups' logs.
  public List<BatchLog.Tail> tails() {
    return groups.stream().map(device -> new Streams(device).tail()).toList();
  }

  /// Begins the log of a device behind the ends of all groups, so that a store can be opened on it.
  public void begin(Device to) {
    List<BatchLog.Tail> tails = tails();
    long epoch = tails.stream().mapToLong(BatchLog.Tail::epoch).max().orElse(1);
    long counter = tails.stream().mapToLong(BatchLog.Tail::counter).max().orElse(0);
    long micros = tails.stream().mapToLong(BatchLog.Tail::nowMicros).max().orElse(0);
    seal(to, new Token(new LogAddress(Math.max(1, epoch), counter + 1), 1), micros, new byte[0]);
  }

  private static void seal(Device to, Token token, long micros, byte[] note) {
    var commit = new Commit();
    Streams.encodeSeal(token, micros, note, commit, new Encoder(64));
    to.append(commit);
  }

  /// Joins the groups' logs, and ends the log of the device.
  ///
  /// @param to has begun its log, and has the streams
  /// @param has whether it has a stream that is not joined
  /// @param note the note of the layer above about everything before the end
  public void log(Device to, Predicate<StreamId> has, byte[] note) {
    long released = 0;
    var cursors = new ArrayList<Cursor>();
    for (Device group : groups) {
      cursors.add(new Cursor(group, Streams.LOG));
      released = Math.max(released, group.trimmedBefore(Streams.LOG, Streams.ENTRIES));
    }
    var commit = new Commit();
    var scratch = new Encoder(1024);
    boolean first = true;
    long micros = 0;
    for (Batch batch = next(cursors, has); batch != null; batch = next(cursors, has)) {
      micros = Math.max(micros, batch.nowMicros());
      if (batch.entries().isEmpty() || batch.token().first().counter() < released) continue;
      if (first && released > 0) {
        commit.trim(Streams.LOG, Streams.ENTRIES, batch.token().first().counter());
      }
      first = false;
      var timed = new Batch(batch.token(), batch.term(), batch.sequence(), micros, batch.entries());
      Streams.encodeHeader(timed, timed.entries(), commit, scratch);
      flush(to, commit, COMMIT_BYTES);
    }
    flush(to, commit, 0);
    BatchLog.Tail tail = new Streams(to).tail();
    var end = new LogAddress(tail.epoch(), tail.counter() + 1);
    seal(to, new Token(end, 1), Math.max(micros, tail.nowMicros()), note);
  }

  /// Returns the next batches that share addresses, as one; null at the end.
  private @Nullable Batch next(List<Cursor> cursors, Predicate<StreamId> has) {
    for (Cursor cursor : cursors) cursor.skipSeals();
    Cursor least = null;
    for (Cursor cursor : cursors) {
      if (cursor.at() == Long.MAX_VALUE) continue;
      if (least == null || cursor.at() < least.at()) least = cursor;
    }
    if (least == null) return null;
    long begin = least.at();
    Header model = least.header();
    long end = begin + model.token().count();
    long epoch = 0;
    long micros = 0;
    var places = new TreeMap<Long, Set<Streams.Place>>();
    boolean more = true;
    while (more) {
      more = false;
      for (int group = 0; group < cursors.size(); group++) {
        Cursor cursor = cursors.get(group);
        for (; cursor.at() < end; cursor.skipSeals()) {
          Header header = cursor.header();
          long behind = cursor.at() + header.token().count();
          more |= behind > end;
          end = Math.max(end, behind);
          epoch = Math.max(epoch, header.token().first().epoch());
          micros = Math.max(micros, header.nowMicros());
          add(header, group, has, places);
          cursor.next();
        }
      }
    }
    var entries = new ArrayList<Entry>();
    for (var item : places.entrySet()) {
      int offset = (int) (item.getKey() - begin);
      for (Streams.Place place : item.getValue()) {
        entries.add(
            new Entry(
                place.stream(), place.address(), offset, micros, (byte) 0, new byte[0], null));
      }
    }
    var token = new Token(new LogAddress(epoch, begin), Math.toIntExact(end - begin));
    return new Batch(token, model.term(), model.sequence(), micros, entries);
  }

  private void add(
      Header header, int group, Predicate<StreamId> has, Map<Long, Set<Streams.Place>> places) {
    for (Streams.LogItem item : header.items()) {
      for (Streams.Place place : item.places()) {
        long address = place.address();
        Integer of = chosen.get(place.stream());
        if (of != null) address = of == group ? address : 0;
        else if (moved.containsKey(place.stream())) address = moved(place.stream(), group, address);
        else if (!has.test(place.stream())) continue;
        if (address == 0) continue;
        places
            .computeIfAbsent(item.log().counter(), _ -> new LinkedHashSet<>())
            .add(new Streams.Place(place.stream(), address));
      }
    }
  }

  // ----

  /// Reads the entries of an object one after the other.
  private static final class Cursor {
    private final Device device;
    private final StreamId object;
    private final ArrayDeque<Streams.At> read = new ArrayDeque<>();
    private long from;
    private boolean ended;
    private @Nullable Header header;

    private Cursor(Device device, StreamId object) {
      this.device = device;
      this.object = object;
    }

    private Streams.@Nullable At peek() {
      if (read.isEmpty() && !ended) {
        device.scan(
            object,
            Streams.ENTRIES,
            from,
            Long.MAX_VALUE,
            (offset, data) -> {
              read.add(new Streams.At(offset, data));
              return read.size() < READ_MAX;
            });
        ended = read.size() < READ_MAX;
        if (!read.isEmpty()) from = read.getLast().address() + 1;
      }
      return read.peek();
    }

    private void next() {
      var _ = read.poll();
      header = null;
    }

    private @Nullable StoredEntry entry() {
      Streams.At here = peek();
      return here == null ? null : Streams.decode(here.address(), here.data());
    }

    // Of a log: the first counter of the batch, and the header.

    private long at() {
      Streams.At here = peek();
      return here == null ? Long.MAX_VALUE : here.address();
    }

    private Header header() {
      Header known = header;
      if (known == null) {
        Streams.At here = Objects.requireNonNull(peek());
        known = Header.of(here.address(), here.data());
        header = known;
      }
      return known;
    }

    private void skipSeals() {
      while (peek() != null && header().isSeal()) next();
    }
  }
}
