package stoa.objects;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import stoa.DeadlineExceeded;
import stoa.History;
import stoa.StoaException;
import stoa.TooOld;
import stoa.base.Answer;
import stoa.base.CallId;
import stoa.base.Decoder;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.front.ClassNames;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedState;
import stoa.front.SharedCall;
import stoa.front.SharedKeys;
import stoa.front.SharedStoa;
import stoa.front.types.SharedMethod;
import stoa.spi.Entered;
import stoa.store.Store;
import stoa.store.calls.KeyEntry;
import stoa.store.calls.Pace;
import stoa.store.past.Past;

/// Shows an operator the objects of a store: their types, keys, states and calls. It runs no code
/// of users' classes on a state that it shows; to make a state of the past, calls in front of it
/// are executed again.
///
/// Every answer is bounded in size. No question waits for calls in progress longer than
/// [#TIME_MAX]. Thread-safe; waits for the disk.
public final class LookService {
  /// How long one question may take.
  public static final Duration TIME_MAX = Duration.ofSeconds(20);

  // How long a list waits for the calls in progress of one object.
  private static final Duration ONE_MAX = Duration.ofSeconds(1);

  /// The most keys of one page.
  public static final int KEYS_MAX = 1_000;

  /// The most entries of one page of a history.
  public static final int ENTRIES_MAX = 1_000;

  // The most objects of a type that it counts.
  private static final long COUNT_MAX = 10_000_000;

  private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final int CALLS_MAX = 1_000;
  private static final int IN_MEMORY_MAX = 1_000_000;

  private final Store store;
  private final Catalog catalog;
  private final IntFunction<List<ObjectCall>> calls;

  /// @param calls returns running and waiting calls, at most a number
  LookService(Store store, Catalog catalog, IntFunction<List<ObjectCall>> calls) {
    this.store = store;
    this.catalog = catalog;
    this.calls = calls;
  }

  private static final class TimeLeft {
    private final long endNanos = System.nanoTime() + TIME_MAX.toNanos();

    boolean isOver() {
      return System.nanoTime() - endNanos > 0;
    }

    Duration left() {
      return Duration.ofNanos(Math.max(0, endNanos - System.nanoTime()));
    }
  }

  // ---- types and keys

  /// A type of objects.
  ///
  /// @param type its stored name
  /// @param objects how many objects exist
  /// @param more whether there are more than were counted
  public record Type(String type, long objects, boolean more) {}

  /// The types of which the store has or had objects, in the order of their names.
  public List<Type> types() {
    var time = new TimeLeft();
    var types = new ArrayList<Type>();
    var coded = catalog.codes().types();
    for (String type : known()) {
      long count = 0;
      Iterator<byte[]> all = store.list(type);
      while (all.hasNext() && count < COUNT_MAX && !time.isOver()) {
        all.next();
        count++;
      }
      boolean more = all.hasNext();
      if (count > 0 || more || coded.contains(type)) {
        types.add(new Type(type, count, more));
      }
    }
    return types;
  }

  /// Returns the spaces whose keys it lists.
  SortedSet<String> known() {
    var known = new TreeSet<String>(catalog.codes().types());
    for (String name : catalog.dictionary().after(ClassNames.CLASS)) {
      int end = name.lastIndexOf(' '); // those of values stand alone
      if (end > 0) known.add(name.substring(0, end));
    }
    known.add(SharedStoa.BLOBS);
    known.add(SharedKeys.SPACE);
    return known;
  }

  /// An object.
  ///
  /// @param key its encoded key
  /// @param version its newest version; 0 when the key is of a class that is gone, or when calls of
  ///   the object were in progress for too long
  /// @param bytes how long its encoded state is; -1 when that was not asked, or could not be found
  @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by no code
  public record Listed(byte[] key, long version, long bytes) {}

  /// A page of the objects of a type.
  ///
  /// @param objects the objects, in the order in which they began
  /// @param next how many objects of the type are in front of the next page; 0 when this is the
  ///   last one
  public record Page(List<Listed> objects, long next) {}

  /// Lists the objects of a type.
  ///
  /// @param skip how many to pass over
  /// @param max how many to list at most
  /// @param sized whether to tell how large they are, which makes the state of each
  /// @return none of a type that the store does not have
  public Page objects(String type, long skip, int max, boolean sized) {
    if (!known().contains(type)) return new Page(List.of(), 0);
    if (isShared(type)) {
      var _ = catalog.typeNamed(type); // so that its objects have code
    }
    var time = new TimeLeft();
    Iterator<byte[]> all = store.list(type);
    for (long left = skip; left > 0 && all.hasNext(); left--) all.next();
    var listed = new ArrayList<Listed>();
    int most = Math.clamp(max, 1, KEYS_MAX);
    while (all.hasNext() && listed.size() < most && (listed.isEmpty() || !time.isOver())) {
      byte[] name = all.next();
      long version = version(type, name, time);
      long bytes = sized && isShared(type) && version > 0 ? bytes(type, name, time) : -1;
      listed.add(new Listed(name, version, bytes));
    }
    return new Page(listed, all.hasNext() ? skip + listed.size() : 0);
  }

  private long version(String type, byte[] name, TimeLeft time) {
    Duration left = time.left();
    try {
      Duration most = left.compareTo(ONE_MAX) < 0 ? left : ONE_MAX;
      return store.position(catalog.key(type, name), most);
    } catch (StoaException unreadable) {
      return 0;
    }
  }

  private long bytes(String type, byte[] name, TimeLeft time) {
    try {
      State state = state(type, name, new At.Now(), new Shown.Bounds(1, 16), time);
      return state.bytes();
    } catch (StoaException | IllegalArgumentException unreadable) {
      return -1; // its own page says why
    }
  }

  private static boolean isShared(String type) {
    return !type.equals(SharedStoa.BLOBS) && !type.startsWith("stoa/");
  }

  private Key objectKey(String type, byte[] name) {
    if (!known().contains(type)) {
      throw new IllegalArgumentException(
          Showing.nameOf(new Key(type, name, type))
              + " was never in the store: where it would be there is no type "
              + type
              + "; ./stoa objects lists all types. A Long is written long:42");
    }
    if (!isShared(type)) {
      throw new IllegalArgumentException(
          type.equals(SharedStoa.BLOBS)
              ? "a blob has bytes and no state; read it by Stoa.get(Blob.class, key)"
              : "a key of the key-value store is no object; read it by Stoa.store()");
    }
    return catalog.key(type, name);
  }

  // ---- states

  /// Which version of an object is meant.
  public sealed interface At {
    /// The newest.
    record Now() implements At {}

    /// The version of a number.
    record Version(long version) implements At {}

    /// The newest that was logged up to a time.
    record Time(long micros) implements At {}
  }

  /// The state of an object.
  ///
  /// @param version the version
  /// @param newest the newest version of the object
  /// @param micros when the store logged the version, since 1970; 0 when that is unknown
  /// @param exists whether the object existed; otherwise `state` is of kind NULL
  /// @param lent whether it was lent to clients, so that the state is that before
  /// @param thrown whether its constructor threw; then `state` is what it threw
  /// @param bytes how long the encoded state is
  /// @param state the state
  public record State(
      long version,
      long newest,
      long micros,
      boolean exists,
      boolean lent,
      boolean thrown,
      int bytes,
      Shown state) {}

  /// The state of an object.
  ///
  /// @param name its encoded key
  /// @throws IllegalArgumentException when the store has no such type, or never had the object or
  ///   the version
  /// @throws TooOld when the version was released
  /// @throws DeadlineExceeded when a call up to the version is in progress for too long
  public State state(String type, byte[] name, At at, Shown.Bounds bounds) {
    return state(type, name, at, bounds, new TimeLeft());
  }

  private State state(String type, byte[] name, At at, Shown.Bounds bounds, TimeLeft time) {
    Key key = objectKey(type, name);
    boolean now = at instanceof At.Now;
    long newest = now ? store.position(key, time.left()) : store.tail(key);
    if (newest == 0) throw new IllegalArgumentException(absent(key));
    long version =
        switch (at) {
          case At.Now() -> newest;
          case At.Version(long number) -> number;
          case At.Time(long micros) -> versionAt(key, micros, newest);
        };
    Past past = store.past(key, version).within(TIME_MAX);
    long micros = version == 0 ? 0 : micros(key, version);
    long generation = past.generation(time.left());
    if (generation == 0) {
      var none = new Shown(Shown.Kind.NULL, "", "", "null", 0, List.of());
      return new State(version, newest, micros, false, false, false, 0, none);
    }
    Answer answer =
        past.get(
            new ObjectHandler.ShowQuestion(bounds),
            new Existence.Generation(generation),
            Pace.LONG);
    if (!(answer instanceof ObjectAnswer.Shared(ObjectHandler.Seeing seen, _))) {
      throw new IllegalStateException(key + " is shown as " + answer);
    }
    return new State(
        version, newest, micros, true, seen.lent(), seen.thrown(), seen.bytes(), seen.state());
  }

  private static String absent(Key key) {
    return Showing.nameOf(key)
        + " was never in the store; ./stoa objects "
        + key.space()
        + " lists the keys. A Long is written long:42, text in quotes \"42\"";
  }

  private long micros(Key key, long version) {
    List<KeyEntry> events = store.events(key, version, version);
    return events.isEmpty() ? 0 : events.getFirst().entry().nowMicros();
  }

  /// The newest version that was logged up to a time, by bisection: the entries of an object have
  /// rising times, but for those of transactions, which have the time at which these began.
  private long versionAt(Key key, long micros, long newest) {
    long low = Math.max(0, store.oldest(key) - 1);
    long high = newest;
    while (low < high) {
      long middle = (low + high + 1) >>> 1;
      if (micros(key, middle) <= micros) low = middle;
      else high = middle - 1;
    }
    long oldest = store.oldest(key);
    if (low < oldest) throw new TooOld(key, low, oldest);
    return low;
  }

  // ---- histories

  /// An entry of an object's stream.
  ///
  /// @param version its number
  /// @param micros when the store logged it, since 1970
  /// @param what what it is, in a word: called, created, answered, canceled, completed, changed,
  ///   lent, returned, deleted
  /// @param method the method that was called; empty for others
  /// @param arguments its arguments, and those of the constructor if it began the object
  /// @param client the call of a client that it is; null for others
  /// @param ofMethod whether a method of another object, or a transaction, made the call
  /// @param about the call that an answer, a cancelation or a completion is about; 0 for others
  /// @param note the called object of an answer, the reason of a cancelation
  /// @param result what the call answered, named "returned" or "threw"; null when not asked, or
  ///   unknown
  public record Entry(
      long version,
      long micros,
      String what,
      String method,
      List<Shown> arguments,
      @Nullable CallId client,
      boolean ofMethod,
      long about,
      String note,
      @Nullable Shown result) {}

  /// A page of a history.
  ///
  /// @param entries the entries
  /// @param oldest the oldest version that the store has
  /// @param newest the newest version
  public record Entries(List<Entry> entries, long oldest, long newest) {}

  /// Lists entries of an object's stream, oldest first.
  ///
  /// @param name its encoded key
  /// @param from the first version; what was released is passed over
  /// @param to the last version
  /// @param results whether to execute the calls again to tell what they answered
  /// @throws IllegalArgumentException when the store never had the object
  public Entries history(
      String type, byte[] name, long from, long to, boolean results, Shown.Bounds bounds) {
    Key key = objectKey(type, name);
    long newest = store.tail(key);
    if (newest == 0) throw new IllegalArgumentException(absent(key));
    long oldest = Math.max(1, store.oldest(key));
    long first = Math.max(oldest, from);
    long last = Math.min(Math.min(newest, to), first + ENTRIES_MAX - 1);
    var time = new TimeLeft();
    var entries = new ArrayList<Entry>();
    if (first <= last) {
      for (KeyEntry event : store.events(key, first, last)) {
        entries.add(entry(key, event, results && !time.isOver(), bounds));
      }
    }
    return new Entries(entries, oldest, newest);
  }

  private Entry entry(Key key, KeyEntry event, boolean results, Shown.Bounds bounds) {
    return switch (event.event()) {
      case KeyEntry.What.Put(byte[] value, int code) ->
          put(key, event, value, code, results, bounds);
      case KeyEntry.What.Answered(long call, String space, byte[] target) ->
          other(event, "answered", call, Showing.nameOf(new Key(space, target, space)));
      case KeyEntry.What.TakenBack(long call, String reason) ->
          other(event, "canceled", call, reason);
      case KeyEntry.What.Stood(long call) -> other(event, "completed", call, "");
      case KeyEntry.What.Deleted() -> other(event, "deleted", 0, "");
    };
  }

  private static Entry other(KeyEntry event, String what, long about, String note) {
    long micros = event.entry().nowMicros();
    long version = event.entry().address();
    return new Entry(version, micros, what, "", List.of(), null, false, about, note, null);
  }

  private Entry put(
      Key key, KeyEntry event, byte[] value, int code, boolean results, Shown.Bounds bounds) {
    String what = "called";
    String method = "";
    var arguments = new ArrayList<Shown>();
    String note = "";
    Shown result = null;
    try {
      ObjectType then = catalog.typeAt(key.space(), code);
      byte[] opening = event.opening();
      if (opening != null) {
        for (@Nullable Object one :
            store.limited(key, () -> SharedCall.arguments(then.marshaller(), opening))) {
          arguments.add(new Showing(bounds).show("new", Entered.IndexedValue.shown(one)));
        }
      }
      var in = new Decoder(value);
      ObjectType.Called called = then.called(in);
      if (called == null) {
        what =
            switch (PlacedState.event(value)) {
              case History.Event.Changed _ -> "changed";
              case History.Event.Lent _ -> "lent";
              case History.Event.Returned _ -> "returned";
              default -> "created";
            };
      } else {
        SharedMethod shared = called.method();
        method = shared.id();
        @Nullable Object[] values =
            store.limited(
                key, () -> then.marshaller().arguments(shared, value, in.position(), value.length));
        for (@Nullable Object one : values) {
          arguments.add(new Showing(bounds).show("", Entered.IndexedValue.shown(one)));
        }
      }
      if (results) result = result(key, event.entry().address(), then, bounds);
    } catch (StoaException unreadable) {
      method = method.isEmpty() ? catalog.methodOf(key, value) : method;
      note = "it cannot be read: " + unreadable.getMessage();
    }
    KeyEntry.Source source = event.source();
    return new Entry(
        event.entry().address(),
        event.entry().nowMicros(),
        what,
        method,
        arguments,
        source == null ? null : source.call(),
        source != null && source.isOfMethod(),
        0,
        note,
        result);
  }

  /// Returns the answer of a call when it is executed again; null when that cannot be told.
  private @Nullable Shown result(Key key, long address, ObjectType then, Shown.Bounds bounds) {
    var factory = catalog.factory(key.space(), catalog.active(key.space()));
    Answer answer;
    try {
      answer = store.replay(key, address, factory);
    } catch (StoaException unknown) {
      return null; // what is in front of it was released, say
    }
    if (answer == null) return null;
    byte[] encoded = answer.encoded();
    return switch (encoded[0]) {
      case ObjectAnswer.RETURNED ->
          new Showing(bounds)
              .show(
                  "returned",
                  store.limited(key, () -> then.marshaller().value(encoded, 1, encoded.length)));
      case ObjectAnswer.THREW ->
          new Showing(bounds)
              .show(
                  "threw",
                  store.limited(key, () -> then.marshaller().thrown(encoded, 1, encoded.length)));
      default -> null;
    };
  }

  // ---- what is in use

  /// An object that was in memory for a while.
  ///
  /// @param object its type and key
  /// @param changes how many entries its stream got a second
  /// @param runs how many of its calls ran on average
  /// @param waits how many of its calls waited on average
  /// @param bytes what it takes in memory
  /// @param slowest the method that ran longest; empty when none was seen to run
  public record Used(
      String object, double changes, double runs, double waits, long bytes, String slowest) {}

  private static final class Use {
    private long from;
    private long to;
    private long bytes;
    private int running;
    private int waiting;
    private String slowest = "";
    private Duration longest = Duration.ZERO;

    private long work() {
      return 1_000L * (running + waiting) + (to - from);
    }
  }

  /// Watches the objects in memory for a while.
  ///
  /// @param watched for how long, at most [#TIME_MAX]
  /// @param max how many to tell of each sort: those with most changes, calls and bytes
  /// @throws InterruptedException when the thread is interrupted meanwhile
  public List<Used> used(Duration watched, int max) throws InterruptedException {
    long nanos = Math.min(watched.toNanos(), TIME_MAX.toNanos());
    var uses = new HashMap<String, Use>();
    look(uses);
    long began = System.nanoTime();
    int samples = (int) Math.max(1, nanos / SAMPLE_NANOS);
    var left = new CountDownLatch(samples);
    try (var clock = Executors.newSingleThreadScheduledExecutor()) {
      var ticks =
          clock.scheduleAtFixedRate(
              () -> {
                if (left.getCount() == 0) return;
                sample(uses);
                left.countDown();
              },
              0,
              SAMPLE_NANOS,
              TimeUnit.NANOSECONDS);
      // It ends early when the store is closed meanwhile.
      while (!ticks.isDone() && !left.await(SAMPLE_NANOS, TimeUnit.NANOSECONDS)) {}
      clock.shutdownNow();
    }
    samples -= (int) left.getCount();
    look(uses);
    double seconds = (System.nanoTime() - began) / 1e9;
    return told(uses, Math.max(1, samples), seconds, Math.clamp(max, 1, KEYS_MAX));
  }

  private void sample(Map<String, Use> uses) {
    for (ObjectCall call : calls.apply(CALLS_MAX)) {
      Use use = uses.computeIfAbsent(call.object(), _ -> new Use());
      if (call.progress() == ObjectCall.Progress.WAITING) {
        use.waiting++;
      } else {
        use.running++;
        if (call.age().compareTo(use.longest) >= 0) {
          use.longest = call.age();
          use.slowest = call.method();
        }
      }
    }
  }

  private void look(Map<String, Use> uses) {
    store.eachInMemory((key, tail, bytes) -> {
      boolean internal = key.space().startsWith("stoa/") && !key.isStream();
      if (internal || key.space().equals("stoa") || uses.size() >= IN_MEMORY_MAX) return;
      Use use = uses.computeIfAbsent(key.toString(), _ -> new Use());
      if (use.from == 0) use.from = tail;
      use.to = tail;
      use.bytes = bytes;
    });
  }

  private static List<Used> told(Map<String, Use> uses, int samples, double seconds, int max) {
    var chosen = new HashMap<String, Use>();
    for (var order :
        List.<Comparator<Map.Entry<String, Use>>>of(
            Comparator.comparingLong(one -> one.getValue().work()),
            Comparator.comparingLong(one -> one.getValue().bytes))) {
      uses.entrySet().stream()
          .sorted(order.reversed())
          .limit(max)
          .forEach(one -> chosen.put(one.getKey(), one.getValue()));
    }
    return chosen.entrySet().stream()
        .sorted(
            Comparator.comparingLong((Map.Entry<String, Use> one) -> one.getValue().work())
                .reversed()
                .thenComparing(Map.Entry::getKey))
        .map(one -> {
          Use use = one.getValue();
          return new Used(
              one.getKey(),
              Math.max(0, use.to - use.from) / seconds,
              (double) use.running / samples,
              (double) use.waiting / samples,
              use.bytes,
              use.slowest);
        })
        .toList();
  }
}
