package stoa.store.replicas;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.RawLog;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.storage.upkeep.Salvage;
import stoa.storage.upkeep.Survey;
import stoa.store.records.Records;

/// Finds which versions of which objects of a store are lost with the damaged records of its
/// device. The caller passes the results of two [Survey]s of the device to [#visitor()], and calls
/// [#next()] after each.
///
/// Keeps about 200 bytes for each object and stream. One owner uses it.
public final class Losses {
  /*
   * The versions of an object are the addresses of its stream, which have no gaps. A lost version
   * therefore shows as a gap, or as a version that the header of its batch names and that is
   * missing. The state of an object after a lost version cannot be made: the object ends with the
   * version before. Other data loses only the lost entries: the list of the objects of a type, and
   * a stream to which users append.
   *
   * The first reading finds the gaps. The second one finds the names of the objects, and the places
   * in the log of the versions that are useless without the lost ones.
   *
   * A replica may have the log of its consensus on the same device, with entries of batches that it
   * has not applied. They are not lost, although no batch names them, and a salvaged store is
   * without them. Which ones they are is known at the end of a reading.
   */
  private static final int NAME_MAX = 80;

  /// The loss of an object or stream.
  ///
  /// @param stream its stream
  /// @param name its name, as far as it is known
  /// @param first the first lost version
  /// @param last the last lost version, including those that are useless without the first
  /// @param versions how many of these are damaged or missing themselves
  /// @param isState whether later versions need the lost ones
  public record Lost(
      StreamId stream, String name, long first, long last, long versions, boolean isState) {}

  /// The findings about a stream.
  private static final class Row {
    // The last address of each range, by the first.
    private final TreeMap<Long, Long> present = new TreeMap<>();
    private long trimmed;
    // The last address that a batch tells of.
    private long named;
    private final TreeSet<Long> checkpoints = new TreeSet<>();
    private final TreeSet<Long> marks = new TreeSet<>();
    // Which entries should have a mark.
    private final TreeSet<Long> marked = new TreeSet<>();
    // From here on nothing counts.
    private long cut = Long.MAX_VALUE;
    private boolean isState;

    private void add(long address) {
      Map.Entry<Long, Long> before = present.floorEntry(address);
      long first = address;
      long last = address;
      if (before != null && before.getValue() >= address) return;
      if (before != null && before.getValue() == address - 1) first = before.getKey();
      Long after = present.remove(address + 1);
      if (after != null) last = after;
      present.put(first, last);
    }

    /// Removes an address that has become void.
    private void remove(long address) {
      Map.Entry<Long, Long> range = present.floorEntry(address);
      if (range == null || range.getValue() < address) return;
      if (range.getKey() == address) present.remove(address);
      else present.put(range.getKey(), address - 1);
      if (range.getValue() > address) present.put(address + 1, range.getValue());
      marked.remove(address);
    }

    private long last() {
      return Math.max(named, present.isEmpty() ? 0 : present.lastEntry().getValue());
    }

    /// Returns the first address that should be there.
    private long start() {
      long start = Math.max(1, trimmed);
      long first = present.isEmpty() ? Long.MAX_VALUE : present.firstKey();
      // The record of the release is lost as well; the checkpoint in its place is not.
      return first > start && checkpoints.ceiling(first - 1) != null ? first : start;
    }

    /// Finds the first entry that cannot be executed though it exists: it lacks the mark with which
    /// a generation begins or ends, or the state in place of released entries.
    private void findCut() {
      if (!isState) return;
      boolean hasBase = checkpoints.contains(trimmed) || marks.contains(trimmed);
      if (trimmed > 1 && !hasBase) cut = Math.min(cut, trimmed);
      for (long address : marked.tailSet(trimmed)) {
        if (!marks.contains(address)) cut = Math.min(cut, address);
      }
    }

    /// Returns the lost addresses, as ranges with their first and last address.
    private List<long[]> gaps() {
      var gaps = new ArrayList<long[]>();
      long next = start();
      long last = last();
      for (var range : present.tailMap(Long.MIN_VALUE).entrySet()) {
        if (range.getValue() < next) continue;
        if (range.getKey() > next) gaps.add(new long[] {next, range.getKey() - 1});
        next = range.getValue() + 1;
      }
      if (next <= last) gaps.add(new long[] {next, last});
      if (cut <= last && (gaps.isEmpty() || gaps.getFirst()[0] > cut)) {
        gaps.addFirst(new long[] {cut, cut});
      }
      return gaps;
    }
  }

  private final StreamId dictionary;
  private final String classMark;
  private final ToLongFunction<byte[]> needed;
  private final Map<StreamId, Row> rows = new HashMap<>();
  private final Set<String> types = new HashSet<>();
  private final Map<StreamId, String> names = new HashMap<>();
  private final NavigableMap<Long, byte[]> changed = new TreeMap<>();
  private final Map<StreamId, Long> firstLost = new HashMap<>();
  private final List<Survey.Damage> damages = new ArrayList<>();

  /// An entry whose batch was not found yet.
  ///
  /// @param name the address of the name that it needs in the dictionary; 0 for none
  private record Ahead(Streams.Place place, long name) {}

  // The entries with log counters behind every batch found so far.
  private final TreeMap<Long, List<Ahead>> ahead = new TreeMap<>();

  /// The entries of a replica's log behind what it has applied, on one device.
  private static final class Unapplied {
    // The batches whose entries are in their streams, by index; null for other entries.
    private final TreeMap<Long, RawLog.@Nullable Batch> entries = new TreeMap<>();
    private long applied;

    private void entry(long index, byte[] bytes) {
      if (index <= applied) return;
      if (bytes.length == 0) entries.remove(index);
      else entries.put(index, RawLog.placed(bytes));
    }

    private void applied(long index) {
      applied = Math.max(applied, index);
      entries.headMap(applied, true).clear();
    }

    /// Notes that a batch is applied, as its header was found.
    private void found(RawLog.Batch header) {
      long index = 0;
      for (var entry : entries.entrySet()) {
        RawLog.Batch batch = entry.getValue();
        if (batch == null) continue;
        if (batch.last() > header.last()) break;
        index = entry.getKey();
      }
      applied(index);
    }
  }

  private final List<Unapplied> logs = new ArrayList<>();

  // The places of these entries.
  private final Set<Streams.Place> unapplied = new HashSet<>();

  private long tail;
  private boolean again;

  // Whether the survey has found damage behind the last batch.
  private boolean damagedBefore;

  // The first log address of a lost batch, 0 when no batch is lost.
  private long unknown;

  /// @param dictionary the stream that names the classes of objects
  /// @param classMark the prefix of a type's name there
  /// @param needed returns the address of the name there that a put needs, if a code with a number
  ///   executes the put, see [Records.Put#code()]; 0 when it needs none
  public Losses(StreamId dictionary, String classMark, ToLongFunction<byte[]> needed) {
    this.dictionary = dictionary;
    this.classMark = classMark;
    this.needed = needed;
  }

  /// Returns the visitor for a survey of one device.
  public Survey.Visitor visitor(Survey.Visitor progress) {
    var log = new Unapplied();
    if (!again) logs.add(log);
    return new Survey.Visitor() {
      @Override
      public void item(Survey.Place place, Survey.Bytes bytes) throws IOException {
        if (again) lookAgain(place, bytes);
        else look(place, bytes, log);
      }

      @Override
      public void damage(Survey.Damage damage) {
        if (!again) damages.add(damage);
        damagedBefore |= damage.bytes() > 0;
        progress.damage(damage);
      }

      @Override
      public void progress(long bytes, long of) {
        progress.progress(bytes, of);
      }
    };
  }

  /// Ends a survey.
  public void next() {
    again = true;
    if (damagedBefore) unknown = tail + 1;
    damagedBefore = false;
    for (Unapplied log : logs) {
      for (RawLog.Batch batch : log.entries.values()) {
        if (batch != null) unapplied.addAll(batch.places());
      }
    }
    for (List<Ahead> some : ahead.values()) {
      for (Ahead one : some) {
        if (unapplied.contains(one.place())) continue;
        Row row = row(one.place().stream());
        row.cut = Math.min(row.cut, one.place().address());
        names(one.name());
      }
    }
    rows.forEach((stream, row) -> {
      row.findCut();
      List<long[]> gaps = gaps(row);
      if (!gaps.isEmpty()) firstLost.put(stream, gaps.getFirst()[0]);
    });
  }

  /// Returns the lost addresses of a stream. After a salvage, a stream without a state may have
  /// holes; they are not damage.
  private List<long[]> gaps(Row row) {
    boolean damaged = damages.stream().anyMatch(damage -> damage.bytes() > 0);
    return row.isState || damaged ? row.gaps() : List.of();
  }

  // ---- the first time

  private Row row(StreamId stream) {
    return rows.computeIfAbsent(stream, _ -> new Row());
  }

  private void look(Survey.Place place, Survey.Bytes bytes, Unapplied log) throws IOException {
    if (RawLog.isBatch(place)) {
      RawLog.Batch batch = RawLog.batch(place.offset(), bytes.get());
      log.found(batch);
      // A damaged batch no longer names the streams of its entries. Only the gap in the log
      // addresses shows that it existed.
      if (damagedBefore && place.offset() > tail + 1) unknown = Math.max(unknown, tail + 1);
      damagedBefore = false;
      tail = Math.max(tail, batch.last());
      Map<Long, List<Ahead>> found = ahead.headMap(tail, true);
      for (List<Ahead> some : found.values()) for (Ahead one : some) names(one.name());
      found.clear();
      for (Streams.Place named : batch.places()) {
        Row row = row(named.stream());
        row.named = Math.max(row.named, named.address());
      }
    } else if (RawLog.isEntry(place)) {
      entry(place, RawLog.entry(place.offset(), bytes.get()));
    } else if (RawLog.isVoidEntry(place)) {
      remove(place);
    } else if (RawLog.isVoidMark(place)) {
      row(place.object()).marks.remove(place.offset());
    } else if (RawLog.isOfLog(place)) {
      log.entry(place.offset(), bytes.get());
    } else if (RawLog.isApplied(place)) {
      log.applied(RawLog.applied(bytes.get()));
    } else if (RawLog.isCheckpoint(place)) {
      row(place.object()).checkpoints.add(place.offset());
    } else if (RawLog.isMark(place)) {
      row(place.object()).marks.add(place.offset());
    } else if (RawLog.isTrim(place)) {
      Row row = row(place.object());
      row.trimmed = Math.max(row.trimmed, place.offset());
    }
  }

  private void entry(Survey.Place place, StoredEntry entry) {
    StreamId stream = place.object();
    Row row = row(stream);
    row.add(entry.address());
    boolean deletes = entry.kind() == Records.DELETE;
    boolean puts = entry.kind() == Records.PUT;
    row.isState |= puts || deletes;
    if (deletes) row.marked.add(entry.address());
    long needs = puts ? put(row, entry.address(), Records.put(entry.payload())) : 0;
    long counter = entry.log().counter();
    if (counter > tail) {
      var one = new Ahead(new Streams.Place(stream, entry.address()), needs);
      ahead.computeIfAbsent(counter, _ -> new ArrayList<>()).add(one);
    } else {
      names(needs);
    }
    if (!stream.equals(dictionary)) return;
    var name = new String(entry.payload(), StandardCharsets.UTF_8);
    int end = name.lastIndexOf(' ');
    if (name.startsWith(classMark) && end > classMark.length()) {
      types.add(name.substring(classMark.length(), end));
    }
  }

  /// Returns the address of the name that a put needs in the dictionary; 0 for none.
  private long put(Row row, long address, Records.Put put) {
    if (put.begins()) row.marked.add(address);
    return put.code() == 0 ? 0 : Math.max(put.code(), needed.applyAsLong(put.value()));
  }

  /// Notes that the dictionary has had a name: no entry behind its last name tells whether it had
  /// another one.
  private void names(long address) {
    if (address == 0) return;
    Row names = row(dictionary);
    names.named = Math.max(names.named, address);
  }

  private void remove(Survey.Place place) {
    row(place.object()).remove(place.offset());
    var gone = new Streams.Place(place.object(), place.offset());
    for (List<Ahead> some : ahead.values()) some.removeIf(one -> one.place().equals(gone));
  }

  // ---- the second time

  private void lookAgain(Survey.Place place, Survey.Bytes bytes) throws IOException {
    if (RawLog.isBatch(place)) {
      byte[] header = bytes.get();
      byte[] other = RawLog.without(header, this::isGone);
      if (!Arrays.equals(header, other)) changed.put(place.position(), other);
      return;
    }
    // A salvaged store is no replica's.
    if (RawLog.isOfLog(place) || isUnapplied(place)) {
      changed.put(place.position(), Salvage.NOTHING);
      return;
    }
    if (!RawLog.isOfStream(place)) return;
    Long first = firstLost.get(place.object());
    if (first != null && place.offset() >= first && isLeftOut(place, first)) {
      changed.put(place.position(), Salvage.NOTHING);
    }
    if (!RawLog.isEntry(place)) return;
    StoredEntry entry = RawLog.entry(place.offset(), bytes.get());
    if (entry.kind() != Records.LISTED) return;
    for (String type : types) {
      StreamId stream = new Key(type, entry.payload(), "").stream();
      if (firstLost.containsKey(stream))
        names.put(stream, type + "[" + text(entry.payload()) + "]");
    }
  }

  /// Returns whether an entry that a batch names is lost or left out.
  private boolean isGone(Streams.Place place) {
    Long first = firstLost.get(place.stream());
    Row row = rows.get(place.stream());
    if (first == null || row == null || place.address() < first) return false;
    if (row.isState || row.cut <= place.address()) return true;
    Map.Entry<Long, Long> there = row.present.floorEntry(place.address());
    return there == null || there.getValue() < place.address();
  }

  private boolean isUnapplied(Survey.Place place) {
    return RawLog.isOfStream(place)
        && !RawLog.isCheckpoint(place)
        && unapplied.contains(new Streams.Place(place.object(), place.offset()));
  }

  private boolean isLeftOut(Survey.Place place, long first) {
    Row row = rows.get(place.object());
    if (row == null) return false;
    return row.isState || (row.cut <= place.offset() && first <= place.offset());
  }

  private static String text(byte[] name) {
    var text = new StringBuilder();
    for (byte b : name) {
      if (text.length() == NAME_MAX) return text + "...";
      if (b >= ' ' && b < 0x7f) text.append((char) b);
    }
    return text.toString();
  }

  // ---- the findings

  /// Returns the damage that a survey found.
  public List<Survey.Damage> damages() {
    return List.copyOf(damages);
  }

  /// Returns the losses of objects and streams.
  public List<Lost> lost() {
    var lost = new ArrayList<Lost>();
    rows.forEach((stream, row) -> {
      List<long[]> gaps = gaps(row);
      if (gaps.isEmpty()) return;
      long versions = 0;
      for (long[] gap : gaps) versions += gap[1] - gap[0] + 1;
      long last = row.isState ? row.last() : gaps.getLast()[1];
      lost.add(new Lost(stream, name(stream), gaps.getFirst()[0], last, versions, row.isState));
    });
    if (unknown > 0) {
      String name = "stream unknown, as a batch is lost that began at the log address " + unknown;
      lost.add(new Lost(new StreamId(0, 0), name, 0, 0, 1, false));
    }
    lost.sort(java.util.Comparator.comparing(Lost::name));
    return lost;
  }

  private String name(StreamId stream) {
    @Nullable String name = names.get(stream);
    if (name != null) return name;
    for (String type : types) {
      if (Key.of("stoa/directory", type).stream().equals(stream)) {
        return "the list of the objects of " + type;
      }
    }
    return "stream " + stream;
  }

  /// Returns how many entries the logs of replicas have that these have not applied. A salvaged
  /// store is without them.
  public long unapplied() {
    return logs.stream().mapToLong(log -> log.entries.size()).sum();
  }

  /// Returns whether names of classes are lost: entries that were logged after them cannot be
  /// decoded.
  public boolean lacksClasses() {
    return firstLost.containsKey(dictionary);
  }

  /// Returns the replacements of records in a store without the losses, by their log positions, for
  /// [Salvage].
  public NavigableMap<Long, byte[]> changed() {
    return new TreeMap<>(changed);
  }
}
