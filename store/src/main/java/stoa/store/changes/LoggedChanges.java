package stoa.store.changes;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.TooOld;
import stoa.base.Answer;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.leading.Health;
import stoa.store.past.Playback;
import stoa.store.past.VersionFinder;
import stoa.store.records.LoggedAnswers;
import stoa.store.records.Records;
import stoa.store.running.Execution;
import stoa.store.running.Loader;
import stoa.store.running.Materialized;
import stoa.store.running.QuestionRequest;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.streams.StoredStreams;
import stoa.store.watching.Progress;

/// Reads the changes of keys in the order of the log. Thread-safe; the reading thread executes the
/// puts again whose answers or states it asks for.
@SuppressWarnings("exports") // see the package
public final class LoggedChanges {
  /*
   * The log tells which streams have an entry at each address. A page of addresses is read in four
   * steps: the log; which of the streams belong to wanted keys; for each of these streams, its
   * entries in one scan, and what stands behind them about them; and the changes, in the order of
   * the log.
   *
   * Invariants:
   * (1) A change is told only after its put was executed, and the stream has everything about it: a
   *     verdict that comes later would take back what a reader has been told.
   * (2) The answer of a put that waits for a condition tells that it has changed nothing, and only
   *     an execution tells the answer. Puts that cannot wait are not executed unless a reader asks
   *     for answers or states.
   * (3) Every state is made by the entries of the stream, as in every replay. `warm` keeps states
   *     between pages, by the stream and the address at which they go on.
   */
  private static final int KNOWN_MAX = 65_536;
  private static final int SCANNED_MAX = 16_384;
  private static final int WARM_MAX = 4_096;

  // How many bytes of entries and states a page has, unless it has one log address.
  private static final long PAGE_BYTES_MAX = 4 << 20;
  private static final Known NONE = new Known(null, new byte[0]);

  /// The parts that are needed to read changes.
  ///
  /// @param users finds places of the log
  /// @param residents keeps keys in memory while they are read
  /// @param finder waits for puts in progress
  /// @param warmBytesMax the memory of the states that are kept between pages
  public record Parts(
      StoredStreams users,
      Streams streams,
      Residents residents,
      VersionFinder finder,
      Playback playback,
      Loader loader,
      Progress progress,
      Health health,
      long warmBytesMax) {}

  /// The key of a stream; no space for a stream that belongs to no wanted key.
  private static final class Known {
    private final @Nullable String space;
    private final byte[] name;

    // The address at which the last generation began that is known to stand.
    private volatile long standing;

    private Known(@Nullable String space, byte[] name) {
      this.space = space;
      this.name = name;
    }
  }

  private record Place(StreamId stream, long next) {}

  private final Parts parts;
  private final Streams streams;
  private final LoggedChange.Names names;

  // Guarded by itself.
  private final Map<StreamId, Known> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<StreamId, Known> eldest) {
          return size() > KNOWN_MAX;
        }
      };

  // Guarded by itself, as is warmBytes.
  private final LinkedHashMap<Place, Materialized> warm = new LinkedHashMap<>();
  private long warmBytes;

  public LoggedChanges(Parts parts, LoggedChange.Names names) {
    this.parts = parts;
    this.streams = parts.streams;
    this.names = names;
  }

  /// Returns the last log counter that is committed here.
  public long committed() {
    return parts.progress.counter();
  }

  /// Returns the log counter up to which readers note all entries, as those about readers are old;
  /// 0 for none.
  long oldNotesEnd() {
    return names.oldNotesEnd();
  }

  /// Makes the log complete up to an address, as far as it was issued; returns the counter up to
  /// which it is.
  public long complete(LogAddress to) {
    return parts.users.complete(to);
  }

  /// Follows the changes.
  ///
  /// @param pagesMax how many pages without a change it reads at once
  public ChangeFollower follow(LogAddress from, LoggedChange.ChangeQuery asked, int pagesMax) {
    parts.health.checkOpen();
    parts.health.confirm();
    return new ChangeFollower(this, parts.health, parts.progress, from, asked, pagesMax);
  }

  /// Reads the next changes.
  ///
  /// @param from the first log address
  /// @param end the last log counter; the log is committed up to there
  /// @param entriesMax about how many entries to read
  /// @throws TooOld when the store has released some of them
  public LoggedChange.Page read(
      LogAddress from, long end, LoggedChange.ChangeQuery asked, int entriesMax) {
    parts.health.checkOpen();
    requireKept(from, asked);
    long first = parts.users.counterOf(from);
    // Counters rise over the epochs of a log, so a reader that knows this address has seen more of
    // its epoch. One of several logs in one order has epochs of its own.
    if (first < from.counter() && !names.isOrdered()) {
      throw new TooOld(
          "the log has lost what was before "
              + from
              + ": the store was restored as of an earlier moment; begin anew with the present"
              + " states (Changes.fromPresent)");
    }
    Reading part = read(first, end, asked, entriesMax);
    for (int entries = entriesMax; part.isLarge; ) {
      entries = Math.max(1, Math.min(entries, part.entries) / 2);
      part = read(first, end, asked, entries);
    }
    requireKept(from, asked); // it may have been released just now
    List<LoggedChange.Slot> slots = part.slots();
    long counter = part.isFull() ? part.last().counter() : Math.max(end, from.counter() - 1);
    long epoch = part.scanned == 0 ? from.epoch() : part.last().epoch();
    LogAddress level = part.level;
    if (names.isOrdered() && (level != null || part.scanned == 0)) {
      level = new LogAddress(epoch, counter); // another store may have issued it
    }
    return new LoggedChange.Page(slots, new LogAddress(epoch, counter + 1), level, part.bytes);
  }

  private Reading read(long first, long end, LoggedChange.ChangeQuery asked, int entriesMax) {
    var part = new Reading(asked, entriesMax);
    if (first <= end) parts.users.visitLog(first, end, part::take);
    part.load();
    return part;
  }

  private void requireKept(LogAddress from, LoggedChange.ChangeQuery asked) {
    long released = streams.firstInLog() - 1;
    if (from.counter() <= released && released > asked.passUntil()) {
      throw tooOld("behind " + from, null);
    }
  }

  private static TooOld tooOld(String which, @Nullable Throwable cause) {
    String text =
        "the changes "
            + which
            + " were released; begin anew with the present states (Changes.fromPresent), or keep"
            + " more (Keep)";
    return cause == null ? new TooOld(text) : new TooOld(text, cause);
  }

  // ---- the keys of streams

  private Known known(StreamId stream) {
    synchronized (known) {
      Known found = known.get(stream);
      if (found != null) return found;
    }
    Known found = find(stream);
    if (found == null) return NONE;
    synchronized (known) {
      known.put(stream, found);
    }
    return found;
  }

  /// Returns the key of a stream, alive or deleted; null when the log has none of these names.
  public @Nullable Key keyOf(StreamId stream) {
    Known found = find(stream);
    return found == null || found.space == null ? null : names.key(found.space, found.name);
  }

  /// Finds the key of a stream by the place in the directory that its last beginning names. Returns
  /// null for a stream that tells no key now, and may tell one later.
  private @Nullable Known find(StreamId stream) {
    Streams.At mark = streams.lastMark(stream, Long.MAX_VALUE);
    if (mark == null) return mayBegin(stream) ? null : NONE;
    Records.Mark last = Records.mark(mark.data());
    long listed = last.alive() ? last.listed() : listedBefore(stream, mark.address());
    if (listed == 0) return null;
    for (String space : names.spaces()) {
      StoredEntry entry = streams.read(Residents.directoryOf(space).stream(), listed);
      if (entry == null || entry.kind() != Records.LISTED) continue;
      byte[] name = entry.payload();
      if (new Key(space, name, space).stream().equals(stream)) return new Known(space, name);
    }
    return NONE;
  }

  /// Returns whether a stream without a beginning is that of a key: the log may have refusals and
  /// arrivals of calls on an absent key.
  private boolean mayBegin(StreamId stream) {
    StoredEntry last = streams.read(stream, streams.last(stream));
    return last == null || last.kind() == Records.REFUSED || last.kind() == Records.ARRIVED;
  }

  /// Returns the address at which the directory lists the generation that ended at an address, 0
  /// when the store has released that.
  private long listedBefore(StreamId stream, long end) {
    StoredEntry entry = streams.read(stream, end);
    if (entry != null && entry.kind() == Records.DELETE) return Records.listedBy(entry.payload());
    // A verdict has taken back the put that began the generation.
    Streams.At begin = streams.lastMark(stream, end - 1);
    return begin == null ? 0 : Records.mark(begin.data()).listed();
  }

  private boolean isWanted(StreamId stream, LoggedChange.ChangeQuery asked) {
    Known found = known(stream);
    if (found.space == null || !asked.hasSpace(found.space)) return false;
    return asked.name() == null || Arrays.equals(asked.name(), found.name);
  }

  // ---- a page

  /// The reading of one page. One thread uses it.
  private final class Reading {
    private final LoggedChange.ChangeQuery asked;
    private final int entriesMax;
    private final List<Streams.LogItem> items = new ArrayList<>();
    private final Map<StreamId, Section> sections = new HashMap<>();
    private final int late =
        parts.playback.runs().limits.endAfter(parts.playback.runs().limits.callTimeMax());
    private @Nullable LogAddress last;
    private @Nullable LogAddress level;
    private int entries;
    private int scanned;
    private long bytes;

    // The bytes of the entries that it has read, and of the states that it has made.
    private long read;

    // Whether these are more than a page may have.
    private boolean isLarge;

    private Reading(LoggedChange.ChangeQuery asked, int entriesMax) {
      this.asked = asked;
      this.entriesMax = entriesMax;
    }

    private boolean isFull() {
      return entries >= entriesMax || scanned >= SCANNED_MAX;
    }

    private LogAddress last() {
      return Objects.requireNonNull(last);
    }

    /// Counts bytes; returns whether there is room for more.
    private boolean hasRoomAfter(int length) {
      read += length;
      isLarge = read > PAGE_BYTES_MAX && items.size() > 1;
      return !isLarge;
    }

    /// Takes the next address of the log; returns whether there is room for another one.
    private boolean take(Streams.LogItem item) {
      last = item.log();
      scanned++;
      boolean any = false;
      for (Streams.Place place : item.places()) {
        if (!names.isAboutReaders(place.stream())) level = last;
        if (!isWanted(place.stream(), asked)) continue;
        any = true;
        entries++;
        sections.computeIfAbsent(place.stream(), stream -> new Section(stream, place.address()))
                .last =
            place.address();
      }
      if (any) items.add(item);
      return !isFull();
    }

    private void load() {
      for (Section section : sections.values()) {
        if (isLarge) return;
        Known found = known(section.stream);
        if (found.space == null) continue;
        Key key = names.key(found.space, found.name);
        Resident resident = parts.residents.pin(key);
        try {
          load(section, key, resident);
        } catch (Execution.Suspended stopped) {
          throw QuestionRequest.failure(stopped.reason());
        } finally {
          resident.unpin();
        }
      }
    }

    private void load(Section section, Key key, Resident resident) {
      skipReleased(section, key);
      long end = section.read(key, this);
      if (isLarge || section.lastChange == 0) return;
      long settled = parts.finder.settled(resident, section.lastChange, late);
      if (settled > end) {
        streams.scan(
            section.stream,
            end + 1,
            settled,
            entry -> {
              section.note(entry);
              return true;
            });
      }
      if (asked.detail() == LoggedChange.Detail.CALLS && !section.awaits(key)) {
        section.tell(key, resident);
      } else {
        execute(section, key, settled);
      }
    }

    /// Passes over entries that the store has released, if the reader allows that.
    private void skipReleased(Section section, Key key) {
      long oldest = Math.max(streams.oldest(section.stream), streams.firstKept(section.stream));
      while (section.first < oldest && section.first <= section.last) {
        pass(section, key);
        section.first++;
      }
    }

    private void pass(Section section, Key key) {
      for (Streams.LogItem item : items) {
        for (Streams.Place place : item.places()) {
          if (place.address() != section.first || !place.stream().equals(section.stream)) continue;
          if (item.log().counter() <= asked.passUntil()) return;
          throw tooOld("of " + key + " at " + item.log(), null);
        }
      }
    }

    /// Executes the changes of a section again.
    private void execute(Section section, Key key, long settled) {
      boolean states = asked.detail() == LoggedChange.Detail.STATES;
      Materialized state = takeWarm(section.stream, section.first);
      if (state == null) {
        state = parts.loader.state(key);
        try {
          if (section.first > 1) state.load(section.first - 1, settled);
        } catch (TooOld released) {
          pass(section, key);
          section.first++;
          state = parts.loader.state(key);
          state.load(section.first - 1, settled);
        }
      }
      state.until(late);
      byte[] before = states ? bytes(state) : null;
      for (StoredEntry entry : section.entries) {
        if (entry.address() < section.first) continue;
        state.execute(entry, section.logged);
        if (entry.kind() == Records.CHECKPOINT) continue;
        boolean deletes = entry.kind() == Records.DELETE;
        Answer answer = deletes ? null : state.answerAt(entry.address());
        if (!deletes && (answer == null || answer.isWaiting())) continue;
        byte[] after = states ? bytes(state) : null;
        if (after != null && !hasRoomAfter(after.length)) return;
        Records.Put put = deletes ? null : Records.put(entry.payload());
        section.changes.put(
            entry.address(), new LoggedChange(key, entry, put, answer, before, after));
        before = after;
      }
      giveWarm(section.stream, section.last + 1, state);
    }

    private List<LoggedChange.Slot> slots() {
      var slots = new ArrayList<LoggedChange.Slot>(items.size());
      for (Streams.LogItem item : items) {
        List<LoggedChange> found = null;
        for (Streams.Place place : item.places()) {
          Section section = sections.get(place.stream());
          LoggedChange change = section == null ? null : section.changes.get(place.address());
          if (change == null) continue;
          if (found == null) found = new ArrayList<>(item.places().size());
          found.add(change);
          bytes += change.bytes();
        }
        if (found != null) slots.add(new LoggedChange.Slot(item.log(), found));
      }
      return slots;
    }
  }

  private static byte @Nullable [] bytes(Materialized state) {
    byte[] encoded = state.encoded();
    return encoded.length == 0 ? null : encoded;
  }

  /// The part of a stream that a page has.
  private final class Section {
    private final StreamId stream;
    private final List<StoredEntry> entries = new ArrayList<>();
    private final LoggedAnswers logged = new LoggedAnswers();
    private final Map<Long, LoggedChange> changes = new HashMap<>();
    private long first;
    private long last;
    private long lastChange;

    private Section(StreamId stream, long first) {
      this.stream = stream;
      this.first = first;
      this.last = first;
    }

    /// Reads the entries; returns the last address that it has read.
    private long read(Key key, Reading page) {
      if (first > last) return last;
      var next = new long[] {first};
      streams.scan(
          stream,
          first,
          last,
          entry -> {
            if (entry.address() > next[0]) throw tooOld("of " + key, null);
            next[0]++;
            note(entry);
            if (Records.isChange(entry)) lastChange = entry.address();
            if (Records.isChange(entry) || entry.kind() == Records.CHECKPOINT) entries.add(entry);
            return page.hasRoomAfter(entry.payload().length);
          });
      if (next[0] <= last && !page.isLarge) throw tooOld("of " + key, null);
      return last;
    }

    private void note(StoredEntry entry) {
      if (!Records.isChange(entry)) logged.note(entry);
    }

    private boolean awaits(Key key) {
      for (StoredEntry entry : entries) {
        if (entry.kind() == Records.PUT && names.awaits(key, Records.put(entry.payload()))) {
          return true;
        }
      }
      return false;
    }

    /// Tells the changes without executing them.
    private void tell(Key key, Resident resident) {
      boolean isVoid = isVoidBefore(resident);
      for (StoredEntry entry : entries) {
        if (entry.kind() == Records.CHECKPOINT) continue;
        if (entry.kind() == Records.DELETE) {
          isVoid = true;
          changes.put(entry.address(), new LoggedChange(key, entry, null, null, null, null));
          continue;
        }
        Records.Put put = Records.put(entry.payload());
        boolean takenBack = logged.isTakenBack(entry.address());
        if (put.begins()) isVoid = takenBack;
        if (isVoid || takenBack) continue;
        changes.put(entry.address(), new LoggedChange(key, entry, put, null, null, null));
      }
    }

    /// Returns whether puts in front of the next beginning change nothing: the put that began the
    /// generation was taken back.
    private boolean isVoidBefore(Resident resident) {
      Streams.At mark = streams.lastMark(stream, first - 1);
      if (mark == null || !Records.mark(mark.data()).alive()) return true;
      long begun = mark.address();
      Known key = known(stream);
      if (key.standing == begun) return false;
      long end = parts.finder.settled(resident, begun, 0);
      var found = new boolean[1];
      streams.scan(
          stream,
          begun + 1,
          end,
          entry -> {
            found[0] |=
                entry.kind() == Records.VERDICT && Records.verdict(entry.payload()).call() == begun;
            return !found[0];
          });
      if (!found[0]) key.standing = begun;
      return found[0];
    }
  }

  // ---- states between pages

  private @Nullable Materialized takeWarm(StreamId stream, long next) {
    synchronized (warm) {
      Materialized found = warm.remove(new Place(stream, next));
      if (found != null) warmBytes -= found.weight();
      return found;
    }
  }

  private void giveWarm(StreamId stream, long next, Materialized state) {
    synchronized (warm) {
      Materialized other = warm.put(new Place(stream, next), state);
      if (other != null) warmBytes -= other.weight();
      warmBytes += state.weight();
      while (!warm.isEmpty() && (warmBytes > parts.warmBytesMax || warm.size() > WARM_MAX)) {
        warmBytes -= warm.pollFirstEntry().getValue().weight();
      }
    }
  }

  // ---- the present

  /// Returns keys of a space that are present at a log counter.
  ///
  /// @param name the name of the one key; null for all
  /// @param from where the directory goes on, from 1
  /// @param bytesMax about how many bytes of states to return
  public LoggedChange.Presents present(
      String space, byte @Nullable [] name, long counter, long from, int bytesMax) {
    parts.health.checkOpen();
    StreamId directory = Residents.directoryOf(space).stream();
    long end = parts.residents.directory(space).tail();
    var found = new ArrayList<LoggedChange.Present>();
    long bytes = 0;
    long next = from;
    for (; next <= end && bytes < bytesMax; next++) {
      StoredEntry entry = streams.read(directory, next);
      if (entry == null || entry.log().counter() > counter) continue;
      if (entry.kind() != Records.LISTED) continue;
      if (name != null && !Arrays.equals(name, entry.payload())) continue;
      LoggedChange.Present one = present(space, entry, counter);
      if (one == null) continue;
      found.add(one);
      bytes += one.state().length + 64L;
    }
    return new LoggedChange.Presents(found, next > end ? 0 : next);
  }

  private LoggedChange.@Nullable Present present(String space, StoredEntry listed, long counter) {
    Key key = names.key(space, listed.payload());
    var past = parts.playback.at(key, counter);
    if (past.generation() == 0) return null;
    long version = past.position();
    Streams.At mark = streams.lastMark(key.stream(), version);
    // A key that was deleted and began again is listed twice.
    if (mark == null || Records.mark(mark.data()).listed() != listed.address()) return null;
    StoredEntry last = streams.read(key.stream(), version);
    byte[] state = past.encoded();
    if (last == null || state.length == 0) return null;
    return new LoggedChange.Present(key, version, last.nowMicros(), state);
  }
}
