package stoa.store;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import stoa.Appended;
import stoa.Closed;
import stoa.Follower;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.Ref;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.TooOld;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.log.Streams;

/// The stream store (vCorfu, Table 1) over the log that keys share. Thread-safe.
final class StoredStreams implements StreamStore {
  /*
   * An append is a request like any other; it goes into the batch under way, and no handler executes
   * it. A stream that is appended to is a resident, which gives its entries their addresses.
   *
   * Invariants:
   * (1) Nothing is answered that is not durable: a stream is read up to the committed end that its
   *     resident shows, the log up to the counter that is committed.
   * (2) Every counter up to the committed one is settled. Batches are appended one at a time; what
   *     one was given in vain is taken back, or ends this process's use of the log, and then the
   *     next epoch's seal is above it.
   * (3) A question first has the log confirm that this process shows all that was acknowledged. A
   *     follower does so when it begins: what it waits for shows by itself.
   */
  private static final int APPENDS_UNDER_WAY_MAX = 4_096;

  private final Engine engine;
  private final Function<Ref<?>, StreamId> streamOf;
  private final int appendBytesMax;
  private final AtomicInteger followers = new AtomicInteger();

  StoredStreams(Engine engine, Function<Ref<?>, StreamId> streamOf, int appendBytesMax) {
    this.engine = engine;
    this.streamOf = streamOf;
    this.appendBytesMax = appendBytesMax;
  }

  // ---- append

  @Override
  public Appended append(StreamKey stream, byte[] data) {
    return settled(begin(List.of(stream), List.of(data)));
  }

  @Override
  public Appended append(Map<StreamKey, byte[]> data) {
    return settled(begin(data));
  }

  private Appended settled(AppendRequest request) {
    var _ = engine.leader().await(request);
    return appended(request);
  }

  @Override
  public List<Appended> appendAll(StreamKey stream, List<byte[]> data) {
    var appended = new ArrayList<Appended>(data.size());
    while (appended.size() < data.size()) {
      var underWay = new ArrayList<AppendRequest>();
      int end = Math.min(data.size(), appended.size() + APPENDS_UNDER_WAY_MAX);
      RuntimeException refused = null;
      for (int i = appended.size(); i < end && refused == null; i++) {
        try {
          underWay.add(begin(List.of(stream), List.of(data.get(i))));
        } catch (RuntimeException e) {
          refused = e;
        }
      }
      for (AppendRequest request : underWay) appended.add(settled(request));
      // What is too much with others under way goes in when they are done.
      if (refused != null && (underWay.isEmpty() || !(refused instanceof LimitExceeded))) {
        throw refused;
      }
    }
    return appended;
  }

  @Override
  public CompletableFuture<Appended> appendAsync(StreamKey stream, byte[] data) {
    return begun(() -> begin(List.of(stream), List.of(data)));
  }

  @Override
  public CompletableFuture<Appended> appendAsync(Map<StreamKey, byte[]> data) {
    return begun(() -> begin(data));
  }

  private CompletableFuture<Appended> begun(java.util.function.Supplier<AppendRequest> append) {
    var answer = new CompletableFuture<Appended>();
    AppendRequest request;
    try {
      request = append.get();
    } catch (RuntimeException refused) {
      answer.completeExceptionally(refused);
      return answer;
    }
    engine.leader().callWriter();
    request.whenDone(_ -> hand(request, answer));
    return answer;
  }

  /// Completes an answer on a thread of its own: who waits for it may do anything there.
  private void hand(AppendRequest settled, CompletableFuture<Appended> answer) {
    try {
      engine
          .threads()
          .answer(() -> {
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

  private AppendRequest begin(Map<StreamKey, byte[]> data) {
    if (data.isEmpty()) throw new IllegalArgumentException("an append names at least one stream");
    var sorted = new TreeMap<>(data);
    return begin(List.copyOf(sorted.keySet()), List.copyOf(sorted.values()));
  }

  private AppendRequest begin(List<StreamKey> streams, List<byte[]> data) {
    int count = streams.size();
    if (count > APPEND_STREAMS_MAX) {
      throw new LimitExceeded(
          "an append to %,d streams; an append goes to %,d at most"
              .formatted(count, APPEND_STREAMS_MAX));
    }
    long bytes = 0;
    for (byte[] one : data) bytes += one.length;
    if (bytes > appendBytesMax) {
      throw new LimitExceeded(
          "an append of %,d bytes; callBytesMax is %,d".formatted(bytes, appendBytesMax));
    }
    var residents = new Resident[count];
    var copies = new byte[count][];
    engine.admission().accept();
    int pinned = 0;
    try {
      for (; pinned < count; pinned++) {
        copies[pinned] = data.get(pinned).clone();
        residents[pinned] = engine.residents().pin(Key.ofStream(id(streams.get(pinned))));
      }
    } catch (RuntimeException refused) {
      for (int i = 0; i < pinned; i++) residents[i].unpin();
      engine.admission().settled();
      throw refused;
    }
    return engine.leader().append(new Appending(residents, copies));
  }

  private static Appended appended(AppendRequest request) {
    request.check();
    Appending appending = request.appending;
    var places = new ArrayList<Appended.Place>(appending.addresses().length);
    for (int i = 0; i < appending.addresses().length; i++) {
      StreamKey stream = key(appending.residents()[i].key.stream());
      places.add(new Appended.Place(stream, appending.addresses()[i]));
    }
    return new Appended(Objects.requireNonNull(appending.given().log), places);
  }

  // ---- read by log address

  @Override
  public LogSlot read(LogAddress address) {
    confirm();
    return slot(address, new Budget());
  }

  @Override
  public List<LogSlot> read(List<LogAddress> addresses) {
    confirm();
    var budget = new Budget();
    return addresses.stream().map(address -> slot(address, budget)).toList();
  }

  private LogSlot slot(LogAddress address, Budget budget) {
    requireAddress(address.counter());
    long end = engine.intake().progress().counter();
    if (address.epoch() > engine.intake().epoch()) return new LogSlot.NotYetWritten(address);
    if (address.counter() > end) {
      return address.epoch() == engine.intake().epoch()
          ? new LogSlot.NotYetWritten(address)
          : new LogSlot.Hole(address);
    }
    if (address.counter() < engine.streams().firstInLog()) return new LogSlot.Trimmed(address);
    Streams.LogItem item = engine.streams().at(address.counter());
    if (item == null || !item.log().equals(address) || item.places().isEmpty()) {
      return new LogSlot.Hole(address);
    }
    List<StreamEntry> entries = entries(item, budget);
    return entries.isEmpty() ? new LogSlot.Trimmed(address) : new LogSlot.Written(address, entries);
  }

  private List<StreamEntry> entries(Streams.LogItem item, Budget budget) {
    var entries = new ArrayList<StreamEntry>(item.places().size());
    for (Streams.Place place : item.places()) {
      StoredEntry entry = engine.streams().read(place.stream(), place.address());
      if (entry != null) entries.add(budget.take(entry(place.stream(), entry)));
    }
    return entries;
  }

  @Override
  public void scan(LogAddress from, LogAddress to, Predicate<LogSlot.Written> visitor) {
    confirm();
    scanLog(counterOf(from), engine.intake().progress().counter(), to, visitor);
  }

  private void scanLog(long first, long end, LogAddress to, Predicate<LogSlot.Written> visitor) {
    visitLog(
        first,
        end,
        item -> {
          if (item.log().compareTo(to) > 0) return false;
          List<StreamEntry> entries = entries(item, Budget.unlimited());
          return entries.isEmpty() || visitor.test(new LogSlot.Written(item.log(), entries));
        });
  }

  /// Passes over what was released, also meanwhile.
  private void visitLog(long first, long end, Predicate<Streams.LogItem> visitor) {
    var reached = new long[] {first};
    var inVisitor = new boolean[1];
    while (true) {
      long from = Math.max(reached[0], engine.streams().firstInLog());
      try {
        engine
            .streams()
            .scanLog(
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
        if (inVisitor[0] || engine.streams().firstInLog() <= from) throw released;
      }
    }
  }

  /// The first counter at which an address not below one can be. Counters rise over epochs, so that
  /// it is the address's own, but for one that is above the end of its epoch.
  private long counterOf(LogAddress from) {
    long low = Math.max(1, engine.streams().firstInLog());
    long counter = Math.max(low, from.counter());
    Streams.LogItem item = first(counter);
    if (item == null
        ? from.epoch() >= engine.intake().epoch()
        : item.log().epoch() == from.epoch()) {
      return counter;
    }
    long high = counter;
    if (item != null && item.log().epoch() < from.epoch()) {
      low = counter;
      high = engine.intake().progress().counter() + 1;
    }
    while (low < high) {
      long middle = (low + high) >>> 1;
      Streams.LogItem found = first(middle);
      if (found == null || found.log().compareTo(from) >= 0) high = middle;
      else low = found.log().counter() + 1;
    }
    return low;
  }

  private Streams.@org.jspecify.annotations.Nullable LogItem first(long counter) {
    var found = new Streams.LogItem[1];
    visitLog(
        counter,
        engine.intake().progress().counter(),
        item -> {
          found[0] = item;
          return false;
        });
    return found[0];
  }

  @Override
  public LogAddress tail() {
    confirm();
    return new LogAddress(engine.intake().epoch(), engine.intake().progress().counter());
  }

  @Override
  public LogSlot fillHole(LogAddress address) {
    return read(address);
  }

  // ---- read by stream address

  @Override
  public Optional<StreamEntry> read(StreamKey stream, long address) {
    List<StreamEntry> found = read(stream, List.of(address));
    return found.isEmpty() ? Optional.empty() : Optional.of(found.getFirst());
  }

  @Override
  public List<StreamEntry> read(StreamKey stream, List<Long> addresses) {
    StreamId id = id(stream);
    long end = confirmedEnd(id);
    var budget = new Budget();
    var found = new ArrayList<StreamEntry>(addresses.size());
    for (long address : addresses) {
      requireAddress(address);
      if (address > end) continue;
      StoredEntry entry = engine.streams().read(id, address);
      if (entry == null) throw tooOld(stream, address);
      found.add(budget.take(entry(id, entry)));
    }
    return found;
  }

  @Override
  public List<StreamEntry> read(StreamKey stream, long from, long to) {
    var budget = new Budget();
    var found = new ArrayList<StreamEntry>();
    scan(stream, from, to, entry -> found.add(budget.take(entry)));
    return found;
  }

  @Override
  public List<StreamEntry> readAll(StreamKey stream) {
    return read(stream, Math.max(1, oldest(stream)), Long.MAX_VALUE);
  }

  @Override
  public void scan(StreamKey stream, long from, long to, Predicate<StreamEntry> visitor) {
    requireAddress(from);
    StreamId id = id(stream);
    scan(stream, id, from, Math.min(to, confirmedEnd(id)), visitor);
  }

  private void scan(
      StreamKey stream, StreamId id, long from, long end, Predicate<StreamEntry> visitor) {
    if (from > end) return;
    engine
        .streams()
        .scan(
            id,
            from,
            end,
            new Predicate<>() {
              private long next = from;

              @Override
              public boolean test(StoredEntry entry) {
                // Streams are dense: what is missing was trimmed.
                if (entry.address() > next) throw tooOld(stream, next);
                next++;
                return visitor.test(entry(id, entry));
              }
            });
  }

  @Override
  public long check(StreamKey stream) {
    return confirmedEnd(id(stream));
  }

  @Override
  public long oldest(StreamKey stream) {
    StreamId id = id(stream);
    return confirmedEnd(id) == 0 ? 0 : Math.max(1, engine.streams().firstKept(id));
  }

  @Override
  public void trim(StreamKey stream, long before) {
    StreamId id = id(stream);
    long end = confirmedEnd(id);
    if (end == 0) return;
    StoredEntry last = engine.streams().read(id, end);
    if (last != null && last.kind() != Records.DATA) throw Residents.mixed(Key.ofStream(id));
    engine.streams().trim(id, Math.min(before, end));
    engine.streams().sync();
  }

  /// Returns when it is certain that this process shows all that was acknowledged before.
  private void confirm() {
    engine.health().checkOpen();
    engine.health().confirm();
  }

  private long confirmedEnd(StreamId stream) {
    confirm();
    return end(stream);
  }

  private long end(StreamId stream) {
    engine.health().checkOpen();
    return engine.residents().tail(stream);
  }

  // ---- follow

  @Override
  public Follower<LogSlot.Written> follow(LogAddress from) {
    confirm();
    return following(
        counterOf(from),
        new StoredFollower.Source<>() {
          @Override
          public long end() {
            return engine.intake().progress().counter();
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

  @Override
  public Follower<StreamEntry> follow(StreamKey stream, long from) {
    confirm();
    requireAddress(from);
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

  private <E> Follower<E> following(long first, StoredFollower.Source<E> source) {
    if (followers.incrementAndGet() > FOLLOWERS_MAX) {
      followers.decrementAndGet();
      throw new LimitExceeded(
          "there are %,d followers already; close some".formatted(FOLLOWERS_MAX));
    }
    return new StoredFollower<>(
        engine.health(), engine.intake().progress(), first, source, followers::decrementAndGet);
  }

  // ---- what entries and streams are

  @Override
  public StreamKey streamOf(Ref<?> ref) {
    return key(streamOf.apply(ref));
  }

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
        key(stream), entry.address(), entry.log(), time, kind(entry.kind()), entry.payload());
  }

  private static StreamEntry.Kind kind(byte kind) {
    return switch (kind) {
      case Records.DATA -> StreamEntry.Kind.DATA;
      case Records.PUT,
          Records.DELETE,
          Records.ANSWERED,
          Records.VERDICT,
          Records.DONE,
          Records.REFUSED ->
          StreamEntry.Kind.OBJECT;
      default -> StreamEntry.Kind.INTERNAL;
    };
  }

  private static void requireAddress(long address) {
    if (address < 1) {
      throw new IllegalArgumentException("address " + address + "; addresses begin at 1");
    }
  }

  private TooOld tooOld(StreamKey stream, long address) {
    long oldest = Math.max(1, engine.streams().firstKept(id(stream)));
    return new TooOld("stream " + stream, address, oldest);
  }

  /// How much a list may still grow.
  private static final class Budget {
    private long left = READ_BYTES_MAX;

    private static Budget unlimited() {
      var budget = new Budget();
      budget.left = Long.MAX_VALUE;
      return budget;
    }

    private StreamEntry take(StreamEntry entry) {
      left -= entry.data().length;
      if (left < 0) {
        throw new LimitExceeded(
            "more than %,d bytes (READ_BYTES_MAX) are read into one list; read a part, or scan"
                .formatted(READ_BYTES_MAX));
      }
      return entry;
    }
  }
}
