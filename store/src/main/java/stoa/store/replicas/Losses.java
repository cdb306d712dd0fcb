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

/// Finds out what of the objects of a store is lost with the damaged records of its device: which
/// versions of which objects. It is told twice what a [Survey] of the device finds, by
/// [#visitor()]; between these, and afterwards, [#next()] is called.
///
/// Keeps about 200 bytes for each object and stream. One owner uses it.
public final class Losses {
  /*
   * The versions of an object are the addresses of its stream, which are given without gaps. So a version
   * that is lost shows as a gap, or as one that the header of its batch tells of and that is not there.
   * The state of an object after a lost version cannot be made: it ends with the version before. What is
   * not made by execution, such as the list of the objects of a type, or what a user appends to a stream,
   * lacks what is lost, and nothing else.
   *
   * The first reading finds the gaps; the second one the names of the objects, and where in the log the
   * versions are that are of no use without the lost ones.
   */
  private static final int NAME_MAX = 80;

  /// What is lost of an object or stream.
  ///
  /// @param stream its stream
  /// @param name what it is, as far as it can be told
  /// @param first the first version that is lost
  /// @param last the last one that is, with what is of no use without the first
  /// @param versions how many of these are damaged or missing themselves
  /// @param isState whether later versions need it
  public record Lost(
      StreamId stream, String name, long first, long last, long versions, boolean isState) {}

  /// What is known of a stream.
  private static final class Row {
    private final TreeMap<Long, Long> present = new TreeMap<>(); // first to last
    private long trimmed;
    private long named; // the last address that a batch tells of
    private final TreeSet<Long> checkpoints = new TreeSet<>();
    private final TreeSet<Long> marks = new TreeSet<>();
    private final TreeSet<Long> marked = new TreeSet<>(); // which entries should have a mark
    private long cut = Long.MAX_VALUE; // from here on nothing counts
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

    private long last() {
      return Math.max(named, present.isEmpty() ? 0 : present.lastEntry().getValue());
    }

    /// The first address that should be there.
    private long start() {
      long start = Math.max(1, trimmed);
      long first = present.isEmpty() ? Long.MAX_VALUE : present.firstKey();
      // Where it was released is lost as well, and what stays in its place is not.
      return first > start && checkpoints.ceiling(first - 1) != null ? first : start;
    }

    /// Finds from where on entries cannot be executed though they are there: without the mark with
    /// which a generation begins or ends, or without the state that stands for what was released.
    private void findCut() {
      if (!isState) return;
      boolean hasBase = checkpoints.contains(trimmed) || marks.contains(trimmed);
      if (trimmed > 1 && !hasBase) cut = Math.min(cut, trimmed);
      for (long address : marked.tailSet(trimmed)) {
        if (!marks.contains(address)) cut = Math.min(cut, address);
      }
    }

    /// The addresses that are lost, from the first to the last of each range.
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

  /// The entries with log counters behind that of every batch that was found so far.
  private final TreeMap<Long, Streams.Place> ahead = new TreeMap<>();

  private long tail;
  private boolean again;

  // Whether something was damaged behind the last batch that was found.
  private boolean damagedBefore;

  // The first log address of a batch that is lost, 0 when none is.
  private long unknown;

  /// @param dictionary the stream in which the classes of objects are named
  /// @param classMark in front of the name of a type there
  /// @param needed the address of the name there that a put needs which code executes, see
  ///   [Records.Put#code()]; 0 when it needs none
  public Losses(StreamId dictionary, String classMark, ToLongFunction<byte[]> needed) {
    this.dictionary = dictionary;
    this.classMark = classMark;
    this.needed = needed;
  }

  /// What a survey tells.
  public Survey.Visitor visitor(Survey.Visitor progress) {
    return new Survey.Visitor() {
      @Override
      public void item(Survey.Place place, Survey.Bytes bytes) throws IOException {
        if (again) lookAgain(place, bytes);
        else look(place, bytes);
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

  /// The survey is through.
  public void next() {
    again = true;
    if (damagedBefore) unknown = tail + 1;
    damagedBefore = false;
    ahead.forEach((_, place) -> {
      Row row = row(place.stream());
      row.cut = Math.min(row.cut, place.address());
    });
    rows.forEach((stream, row) -> {
      row.findCut();
      List<long[]> gaps = gaps(row);
      if (!gaps.isEmpty()) firstLost.put(stream, gaps.getFirst()[0]);
    });
  }

  /// What is lost of a stream. A store that was salvaged goes on with holes in what is not made by
  /// execution, and is not damaged.
  private List<long[]> gaps(Row row) {
    boolean damaged = damages.stream().anyMatch(damage -> damage.bytes() > 0);
    return row.isState || damaged ? row.gaps() : List.of();
  }

  // ---- the first time

  private Row row(StreamId stream) {
    return rows.computeIfAbsent(stream, _ -> new Row());
  }

  private void look(Survey.Place place, Survey.Bytes bytes) throws IOException {
    if (RawLog.isBatch(place)) {
      RawLog.Batch batch = RawLog.batch(place.offset(), bytes.get());
      // A damaged batch no longer names the streams that had entries in it. Only the gap in the log
      // addresses shows that it was there.
      if (damagedBefore && place.offset() > tail + 1) unknown = Math.max(unknown, tail + 1);
      damagedBefore = false;
      tail = Math.max(tail, batch.last());
      ahead.headMap(tail, true).clear();
      for (Streams.Place named : batch.places()) {
        Row row = row(named.stream());
        row.named = Math.max(row.named, named.address());
      }
    } else if (RawLog.isEntry(place)) {
      entry(place, RawLog.entry(place.offset(), bytes.get()));
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
    if (puts) put(row, entry.address(), Records.put(entry.payload()));
    long counter = entry.log().counter();
    if (counter > tail) ahead.put(counter, new Streams.Place(stream, entry.address()));
    if (!stream.equals(dictionary)) return;
    var name = new String(entry.payload(), StandardCharsets.UTF_8);
    int end = name.lastIndexOf(' ');
    if (name.startsWith(classMark) && end > classMark.length()) {
      types.add(name.substring(classMark.length(), end));
    }
  }

  private void put(Row row, long address, Records.Put put) {
    if (put.begins()) row.marked.add(address);
    if (put.code() == 0) return;
    // Nothing behind the last name of the dictionary says that there was another one.
    Row names = row(dictionary);
    names.named = Math.max(names.named, Math.max(put.code(), needed.applyAsLong(put.value())));
  }

  // ---- the second time

  private void lookAgain(Survey.Place place, Survey.Bytes bytes) throws IOException {
    if (RawLog.isBatch(place)) {
      byte[] header = bytes.get();
      byte[] other = RawLog.without(header, this::isGone);
      if (!Arrays.equals(header, other)) changed.put(place.position(), other);
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

  /// Whether an entry that a batch tells of is lost, or left out.
  private boolean isGone(Streams.Place place) {
    Long first = firstLost.get(place.stream());
    Row row = rows.get(place.stream());
    if (first == null || row == null || place.address() < first) return false;
    if (row.isState || row.cut <= place.address()) return true;
    Map.Entry<Long, Long> there = row.present.floorEntry(place.address());
    return there == null || there.getValue() < place.address();
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

  // ---- what was found

  /// What a survey found damaged.
  public List<Survey.Damage> damages() {
    return List.copyOf(damages);
  }

  /// What is lost of objects and streams.
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

  /// Whether names of classes are lost, without which nothing that was logged later can be told.
  public boolean lacksClasses() {
    return firstLost.containsKey(dictionary);
  }

  /// By the log positions of what is there: what is to be there instead in a store without the
  /// losses, as [Salvage] takes it.
  public NavigableMap<Long, byte[]> changed() {
    return new TreeMap<>(changed);
  }
}
