package stoa.store.streams;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.Appended;
import stoa.Closed;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.TooOld;
import stoa.base.CallId;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;
import stoa.store.batches.BatchWriter;
import stoa.store.leading.Admission;
import stoa.store.leading.Health;
import stoa.store.leading.ReadMoments;
import stoa.store.ordering.Decision;
import stoa.store.past.Retention;
import stoa.store.records.Records;
import stoa.store.running.AppendRequest;
import stoa.store.running.Appending;
import stoa.store.running.Resident;
import stoa.store.running.Residents;
import stoa.store.running.Timeline;
import stoa.store.threads.Tasks;
import stoa.store.watching.Progress;

/// The streams of users (vCorfu, Table 1), over the log that they share with keys. The caller
/// checks arguments, except where only the store can. Thread-safe.
@SuppressWarnings("exports") // see the package
public final class StoredStreams {
  /*
   * An append is a request like any other: it goes into the batch in progress, but no handler
   * executes it. The stream is a resident, which gives its entries their addresses.
   *
   * Invariants:
   * (1) Answers show durable entries only: a stream is read up to the end of its resident, once
   *     that is durable, and the log up to the committed counter.
   * (2) Every counter up to the committed one is settled. Batches are appended one at a time. When
   *     a batch fails, the batch writer takes its addresses back, or this process can no longer use
   *     the log, and the next epoch's seal is above them.
   * (3) A question first makes the log confirm that this process shows everything that was
   *     acknowledged. A follower does so only when it begins: later entries show by themselves.
   * (4) Several stores with one order: this reads the log up to a counter that some store has got,
   *     and first makes it complete here (ReadMoments). So the log of each store can be merged with
   *     those of the others up to there. A question about a stream waits for the batch in progress,
   *     as questions about ordered keys do: it may belong to an append to streams of several stores
   *     of which the caller has seen another part.
   */
  private final BatchWriter writer;
  private final Residents residents;
  private final Admission admission;
  private final Health health;
  private final Progress progress;
  private final Streams streams;
  private final Tasks tasks;
  private final Retention retention;
  private final Timeline timeline;
  private final ReadMoments moments;

  /// The parts that keep users' streams.
  ///
  /// @param writer logs appends
  /// @param residents gives entries their addresses
  /// @param admission counts the appends in progress
  /// @param progress tells how far the log is committed
  /// @param tasks complete asynchronous answers
  /// @param retention releases the entries that its policy does not keep
  /// @param timeline finds places of the log in streams
  public record Parts(
      BatchWriter writer,
      Residents residents,
      Admission admission,
      Health health,
      Progress progress,
      Tasks tasks,
      Retention retention,
      Timeline timeline) {}

  public StoredStreams(Parts parts, Streams streams) {
    this.writer = parts.writer;
    this.residents = parts.residents;
    this.admission = parts.admission;
    this.health = parts.health;
    this.progress = parts.progress;
    this.tasks = parts.tasks;
    this.retention = parts.retention;
    this.timeline = parts.timeline;
    this.moments = parts.writer.moments();
    this.streams = streams;
  }

  // ---- append

  /// Begins to append one entry to each of several streams, all together or not at all. The caller
  /// may change the bytes when this returns.
  ///
  /// @return waits until the entries are durable; the thread may write a batch meanwhile
  public Supplier<Appended> append(List<StreamKey> streams, List<byte[]> data) {
    AppendRequest request = begin(streams, data, null);
    return () -> {
      var _ = writer.await(request);
      return appended(request);
    };
  }

  /// Appends, like [#append], for a caller that does not wait on this thread.
  ///
  /// @param id the log has it with the entries, for [#earlier]; null for none
  public CompletableFuture<Appended> appendAsync(
      List<StreamKey> streams, List<byte[]> data, @Nullable CallId id) {
    AppendRequest request = begin(streams, data, id);
    var answer = new CompletableFuture<Appended>();
    writer.callWriterThread();
    request.whenDone(_ -> hand(request, answer));
    return answer;
  }

  /// Completes an answer on a thread of its own, where the caller's code may take any time.
  private void hand(AppendRequest settled, CompletableFuture<Appended> answer) {
    try {
      tasks.answer(() -> {
        try {
          answer.complete(appended(settled));
        } catch (RuntimeException failure) {
          answer.completeExceptionally(failure);
        }
      });
    } catch (RejectedExecutionException closed) {
      answer.completeExceptionally(new Closed("the store was closed before the answer was read"));
    }
  }

  private AppendRequest begin(List<StreamKey> keys, List<byte[]> data, @Nullable CallId id) {
    int count = keys.size();
    var pinnedOnes = new Resident[count];
    var copies = new byte[count][];
    admission.accept();
    int pinned = 0;
    try {
      for (; pinned < count; pinned++) {
        copies[pinned] = data.get(pinned).clone();
        pinnedOnes[pinned] = residents.pin(Key.ofStream(id(keys.get(pinned))));
      }
    } catch (RuntimeException refused) {
      for (int i = 0; i < pinned; i++) pinnedOnes[i].unpin();
      admission.settled();
      throw refused;
    }
    return writer.append(new Appending(pinnedOnes, Records.Origin.of(id), copies));
  }

  private Appended appended(AppendRequest request) {
    request.check();
    Appending appending = request.appending;
    var places = new ArrayList<Appended.Place>(appending.addresses().length);
    for (int i = 0; i < appending.addresses().length; i++) {
      StreamKey stream = key(appending.residents()[i].key.stream());
      places.add(new Appended.Place(stream, appending.addresses()[i]));
      retention.appended(appending.residents()[i].key, appending.addresses()[i]);
    }
    return new Appended(Objects.requireNonNull(appending.given().log), places);
  }

  /// Returns an append that an earlier process logged for a client; null when none did.
  ///
  /// @param keys its streams
  /// @param id its id
  /// @param since a log counter in front of it
  /// @throws TooOld when the store has released the entries that would tell
  public @Nullable Appended earlier(List<StreamKey> keys, CallId id, long since) {
    StreamId first = id(keys.getFirst());
    long end = confirmedEnd(first);
    long low = timeline.firstBehind(first, since);
    Records.Origin origin = Objects.requireNonNull(Records.Origin.of(id));
    var found = new StoredEntry[1];
    streams.scan(
        first,
        low,
        end,
        entry -> {
          boolean named = entry.kind() == Records.APPENDED;
          if (named && origin.equals(Records.originOf(entry.payload()))) found[0] = entry;
          return found[0] == null;
        });
    if (found[0] != null) return new Appended(found[0].log(), places(keys, found[0].log()));
    long kept = streams.firstKept(first);
    if (kept > 1 && low <= kept) throw tooOld(keys.getFirst(), kept - 1);
    return null;
  }

  /// Returns the stream addresses of the entries that some streams have at a log address. A
  /// transaction has appended them.
  ///
  /// @throws TooOld when the store has released them
  public List<Appended.Place> appended(List<StreamKey> keys, LogAddress log) {
    confirm();
    for (StreamKey key : keys) moments.await(id(key), true);
    List<Appended.Place> places = places(keys, log);
    for (Appended.Place place : places) {
      retention.appended(Key.ofStream(id(place.stream())), place.address());
    }
    return places;
  }

  private List<Appended.Place> places(List<StreamKey> keys, LogAddress log) {
    var places = new ArrayList<Appended.Place>(keys.size());
    for (StreamKey key : keys) places.add(new Appended.Place(key, address(key, log)));
    return places;
  }

  /// Returns the stream address of an entry of a log address. The stream may have been trimmed: the
  /// log still records it then, for a while.
  private long address(StreamKey key, LogAddress log) {
    StreamId id = id(key);
    long address = timeline.firstBehind(id, log.counter() - 1);
    StoredEntry entry = streams.read(id, address);
    if (entry != null && entry.log().equals(log)) return address;
    Streams.LogItem item = streams.at(log.counter());
    if (item != null) {
      for (Streams.Place place : item.places()) {
        if (place.stream().equals(id)) return place.address();
      }
    }
    throw tooOld(key, Math.max(1, address - 1));
  }

  /// Returns whether a stream has an entry, of whatever kind.
  public boolean has(StreamKey stream) {
    StreamId id = id(stream);
    return end(id) > 0 || confirmedEnd(id) > 0;
  }

  /// Returns the key of a stream, for a transaction that appends to it.
  public static Key keyOf(StreamKey stream) {
    return Key.ofStream(id(stream));
  }

  // ---- read by log address

  /// Reads the slots at log addresses, in the order of the list.
  public void read(List<LogAddress> addresses, Consumer<LogSlot> reader) {
    confirm();
    for (LogAddress address : addresses) reader.accept(slot(address));
  }

  /// Returns the counter up to which the log is complete here, as far as up to a counter.
  private long upTo(long counter) {
    return moments.isOrdered() ? moments.upTo(counter) : progress.counter();
  }

  /// Makes the log complete up to an address, as far as it was issued; returns the counter up to
  /// which it is.
  public long complete(LogAddress to) {
    confirm();
    return Math.min(to.counter(), upTo(to.counter()));
  }

  /// Returns the last counter of the log.
  private long last() {
    return moments.isOrdered() ? moments.present() : progress.counter();
  }

  private LogSlot slot(LogAddress address) {
    long end = upTo(address.counter());
    if (address.epoch() > writer.epoch()) return new LogSlot.NotYetWritten(address);
    if (address.counter() > end) {
      return address.epoch() == writer.epoch()
          ? new LogSlot.NotYetWritten(address)
          : new LogSlot.Hole(address);
    }
    if (address.counter() < streams.firstInLog()) return new LogSlot.Trimmed(address);
    Streams.LogItem item = streams.at(address.counter());
    if (item == null || !item.log().equals(address) || !hasVisible(item)) {
      return new LogSlot.Hole(address);
    }
    List<StreamEntry> entries = entries(item);
    return entries.isEmpty() ? new LogSlot.Trimmed(address) : new LogSlot.Written(address, entries);
  }

  private static boolean hasVisible(Streams.LogItem item) {
    return item.places().stream().anyMatch(StoredStreams::isVisible);
  }

  /// Returns whether an entry belongs to the content of its log address. The decision that commits
  /// an append over several stores has the address of the append.
  private static boolean isVisible(Streams.Place place) {
    return !place.stream().equals(Decision.KEY.stream());
  }

  private List<StreamEntry> entries(Streams.LogItem item) {
    var entries = new ArrayList<StreamEntry>(item.places().size());
    for (Streams.Place place : item.places()) {
      if (!isVisible(place)) continue;
      StoredEntry entry = streams.read(place.stream(), place.address());
      if (entry != null) entries.add(entry(place.stream(), entry));
    }
    return entries;
  }

  /// Visits the log from one address to another, up to its present end.
  public void scan(LogAddress from, LogAddress to, Predicate<LogSlot.Written> visitor) {
    confirm();
    long end = upTo(to.counter());
    scanLog(counterOf(from), end, to, visitor);
  }

  private void scanLog(long first, long end, LogAddress to, Predicate<LogSlot.Written> visitor) {
    visitLog(
        first,
        end,
        item -> {
          if (item.log().compareTo(to) > 0) return false;
          List<StreamEntry> entries = entries(item);
          return entries.isEmpty() || visitor.test(new LogSlot.Written(item.log(), entries));
        });
  }

  /// Visits the log, and skips entries that are released before or during the visit.
  public void visitLog(long first, long end, Predicate<Streams.LogItem> visitor) {
    var reached = new long[] {first};
    var inVisitor = new boolean[1];
    while (true) {
      long from = Math.max(reached[0], streams.firstInLog());
      try {
        streams.scanLog(
            from,
            end,
            item -> {
              reached[0] = item.log().counter() + 1;
              inVisitor[0] = true;
              boolean more = visitor.test(item);
              inVisitor[0] = false;
              return more;
            });
        return;
      } catch (TooOld released) {
        if (inVisitor[0] || streams.firstInLog() <= from) throw released;
      }
    }
  }

  /// Returns the first counter that can belong to an address not below a given one. Counters rise
  /// over epochs, so it is the address's own counter, unless that is above the end of its epoch.
  public long counterOf(LogAddress from) {
    long low = Math.max(1, streams.firstInLog());
    long counter = Math.max(low, from.counter());
    Streams.LogItem item = first(counter);
    if (item == null ? from.epoch() >= writer.epoch() : item.log().epoch() == from.epoch()) {
      return counter;
    }
    long high = counter;
    if (item != null && item.log().epoch() < from.epoch()) {
      low = counter;
      high = progress.counter() + 1;
    }
    while (low < high) {
      long middle = (low + high) >>> 1;
      Streams.LogItem found = first(middle);
      if (found == null || found.log().compareTo(from) >= 0) high = middle;
      else low = found.log().counter() + 1;
    }
    return low;
  }

  private Streams.@Nullable LogItem first(long counter) {
    var found = new Streams.LogItem[1];
    visitLog(
        counter,
        progress.counter(),
        item -> {
          found[0] = item;
          return false;
        });
    return found[0];
  }

  /// Returns the last address of the log. Several stores with one order: the last one that any of
  /// them has got, and that is complete here.
  public LogAddress tail() {
    confirm();
    long last = last();
    return new LogAddress(writer.epoch(), last);
  }

  /// Returns the slot at a log address; every slot up to the end is settled.
  public LogSlot fillHole(LogAddress address) {
    confirm();
    return slot(address);
  }

  // ---- read by stream address

  /// Reads the entries at addresses of a stream, in the order of the list, and skips those that are
  /// not yet written.
  ///
  /// @throws TooOld when one of them was trimmed
  public void read(StreamKey stream, List<Long> addresses, Consumer<StreamEntry> reader) {
    StreamId id = id(stream);
    long end = confirmedEnd(id);
    for (long address : addresses) {
      if (address > end) continue;
      StoredEntry entry = streams.read(id, address);
      if (entry == null) throw tooOld(stream, address);
      reader.accept(entry(id, entry));
    }
  }

  /// Visits a stream from one address to another, up to its present end.
  ///
  /// @throws TooOld when the next entry was trimmed
  public void scan(StreamKey stream, long from, long to, Predicate<StreamEntry> visitor) {
    StreamId id = id(stream);
    scan(stream, id, from, Math.min(to, confirmedEnd(id)), visitor);
  }

  private void scan(
      StreamKey stream, StreamId id, long from, long end, Predicate<StreamEntry> visitor) {
    if (from > end) return;
    streams.scan(
        id,
        from,
        end,
        new Predicate<>() {
          private long next = from;

          @Override
          public boolean test(StoredEntry entry) {
            // Streams are dense: a missing entry was trimmed.
            if (entry.address() > next) throw tooOld(stream, next);
            next++;
            return visitor.test(entry(id, entry));
          }
        });
  }

  /// Returns the last address of a stream, 0 when it has no entry.
  public long check(StreamKey stream) {
    return confirmedEnd(id(stream));
  }

  /// Returns the oldest address of a stream, 0 when it has no entry.
  public long oldest(StreamKey stream) {
    StreamId id = id(stream);
    return confirmedEnd(id) == 0 ? 0 : Math.max(1, streams.firstKept(id));
  }

  /// Releases the entries of a stream before an address.
  ///
  /// @throws IllegalArgumentException when the stream is an object's
  public void trim(StreamKey stream, long before) {
    StreamId id = id(stream);
    long end = confirmedEnd(id);
    if (end == 0) return;
    StoredEntry last = streams.read(id, end);
    if (last != null && !Records.isOfUsers(last.kind())) throw Residents.mixed(Key.ofStream(id));
    streams.trim(id, Math.min(before, end));
    streams.sync();
  }

  /// Returns when this process shows everything that was acknowledged before.
  private void confirm() {
    health.checkOpen();
    health.confirm();
  }

  private long confirmedEnd(StreamId stream) {
    confirm();
    moments.await(stream, true);
    return end(stream);
  }

  private long end(StreamId stream) {
    health.checkOpen();
    long end = residents.tail(stream);
    writer.gate().awaitAppended();
    return end;
  }

  // ---- follow

  /// Follows the log.
  public StoredFollower<LogSlot.Written> follow(LogAddress from) {
    confirm();
    return following(
        counterOf(from),
        new StoredFollower.Source<>() {
          @Override
          public long end() {
            return progress.counter();
          }

          @Override
          public void read(long first, long end, StoredFollower.Page<LogSlot.Written> page) {
            var to = new LogAddress(Long.MAX_VALUE, Long.MAX_VALUE);
            scanLog(
                first,
                end,
                to,
                slot -> {
                  int bytes = 0;
                  for (StreamEntry entry : slot.entries()) bytes += entry.data().length;
                  return page.add(slot, slot.address().counter(), bytes);
                });
          }
        });
  }

  /// Follows a stream.
  public StoredFollower<StreamEntry> follow(StreamKey stream, long from) {
    confirm();
    StreamId id = id(stream);
    return following(
        from,
        new StoredFollower.Source<>() {
          @Override
          public long end() {
            return StoredStreams.this.end(id);
          }

          @Override
          public void read(long first, long end, StoredFollower.Page<StreamEntry> page) {
            scan(
                stream,
                id,
                first,
                end,
                entry -> page.add(entry, entry.address(), entry.data().length));
          }
        });
  }

  private <E> StoredFollower<E> following(long first, StoredFollower.Source<E> source) {
    return new StoredFollower<>(health, progress, first, source);
  }

  // ---- the kinds of entries and streams

  private static StreamKey key(StreamId id) {
    return new StreamKey(id.high(), id.low());
  }

  private static StreamId id(StreamKey key) {
    var id = new StreamId(key.high(), key.low());
    if (Streams.isInternal(id)) {
      throw new IllegalArgumentException(key + " is no stream, but where the log itself is kept");
    }
    return id;
  }

  private static StreamEntry entry(StreamId stream, StoredEntry entry) {
    Instant time = Instant.EPOCH.plus(entry.nowMicros(), ChronoUnit.MICROS);
    return new StreamEntry(
        key(stream), entry.address(), entry.log(), time, kind(entry.kind()), Records.data(entry));
  }

  private static StreamEntry.Kind kind(byte kind) {
    return switch (kind) {
      case Records.DATA, Records.APPENDED -> StreamEntry.Kind.DATA;
      case Records.PUT,
          Records.DELETE,
          Records.ANSWERED,
          Records.VERDICT,
          Records.DONE,
          Records.REFUSED,
          Records.ARRIVED,
          Records.CHECKPOINT ->
          StreamEntry.Kind.OBJECT;
      default -> StreamEntry.Kind.INTERNAL;
    };
  }

  private TooOld tooOld(StreamKey stream, long address) {
    long oldest = Math.max(1, streams.firstKept(id(stream)));
    return new TooOld("stream " + stream, address, oldest);
  }
}
