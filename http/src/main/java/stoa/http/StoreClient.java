package stoa.http;

import java.util.Collection;
import java.util.Objects;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Closed;
import stoa.Stoa;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.front.types.SharedType;

/// The store as a client of its own servers, with the code that the store executes now. When that
/// changes, requests that have begun keep the client with the old code. Thread-safe.
final class StoreClient implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StoreClient.class);
  private static final long AGE_NANOS_MAX = TimeUnit.SECONDS.toNanos(5);
  private static final long AGE_NANOS_MIN = TimeUnit.MILLISECONDS.toNanos(200);

  private final CodeSource source;
  private final ClassLoader loader;
  private final Collection<String> names;
  private final Supplier<Stoa> opening;

  private final ReentrantLock refreshing = new ReentrantLock();

  // Guarded by this.
  private @Nullable Opened present;
  private long lookedNanos;
  private boolean closed;

  /// Creates it.
  ///
  /// @param loader has the classes of the server
  /// @param names the shared classes among them
  /// @param opening connects to the store, on a thread whose context loader has the classes
  StoreClient(
      CodeSource source, ClassLoader loader, Collection<String> names, Supplier<Stoa> opening) {
    this.source = source;
    this.loader = loader;
    this.names = names;
    this.opening = opening;
  }

  /// One use of the store, until it is closed. Thread-safe.
  final class Use implements AutoCloseable {
    private final Opened opened;

    private Use(Opened opened) {
      this.opened = opened;
    }

    /// Returns the store.
    Stoa stoa() {
      return opened.stoa;
    }

    /// Returns the forms of the types.
    JsonForms forms() {
      return opened.forms;
    }

    /// Returns the forms of keys.
    Shares shares() {
      return opened.shares;
    }

    /// Returns the types by their stored names.
    SortedMap<String, SharedType> types() {
      return opened.code.types();
    }

    /// Returns the methods of a type.
    Operations operations(SharedType type) {
      return opened.operations.computeIfAbsent(type, known -> new Operations(known, opened.forms));
    }

    /// Returns the methods of a type that it knows.
    Operations operations(String type) {
      return operations(Objects.requireNonNull(opened.code.types().get(type), type));
    }

    @Override
    public void close() {
      leave(opened);
    }
  }

  private static final class Opened {
    private final SharedCode code;
    private final Stoa stoa;
    private final Shares shares;
    private final JsonForms forms;
    private final ConcurrentHashMap<SharedType, Operations> operations = new ConcurrentHashMap<>();

    // Guarded by the client.
    private int uses;
    private boolean isPast;

    Opened(SharedCode code, Stoa stoa) {
      this.code = code;
      this.stoa = stoa;
      shares = new Shares(stoa, code.keys());
      forms = new JsonForms(shares);
    }
  }

  /// Begins a use, with code that is at most some seconds old.
  ///
  /// @throws stoa.Unavailable when no server answers
  Use use() {
    return use(AGE_NANOS_MAX);
  }

  /// Begins a use with fresh code, for a request that misses something.
  Use useFresh() {
    return use(AGE_NANOS_MIN);
  }

  /// Begins a use that knows some types, with a look for new code when one is unknown.
  ///
  /// @throws Problem when there is no such type
  Use useOf(Collection<String> types) {
    Use use = use();
    if (use.types().keySet().containsAll(types)) return use;
    use.close();
    Use fresh = useFresh();
    for (String type : types) {
      if (fresh.types().containsKey(type)) continue;
      String all = String.join(", ", fresh.types().keySet());
      fresh.close();
      throw Problem.absent(
          "there is no shared type " + type + "; there are " + (all.isEmpty() ? "none yet" : all));
    }
    return fresh;
  }

  private Use use(long ageNanosMax) {
    Use fresh = take(ageNanosMax);
    if (fresh != null) return fresh;
    // One request asks the servers; the others go on with what is known.
    boolean mine = refreshing.tryLock();
    if (!mine) {
      Use known = take(Long.MAX_VALUE);
      if (known != null) return known;
      refreshing.lock();
    }
    try {
      Use meanwhile = take(ageNanosMax);
      if (meanwhile != null) return meanwhile;
      refresh();
      return Objects.requireNonNull(take(Long.MAX_VALUE), "the store is open");
    } finally {
      refreshing.unlock();
    }
  }

  /// Begins to use the present client; returns null when what it knows is too old.
  private synchronized @Nullable Use take(long ageNanosMax) {
    if (closed) throw new Closed("the server stops");
    Opened now = present;
    if (now == null || System.nanoTime() - lookedNanos > ageNanosMax) return null;
    now.uses++;
    return new Use(now);
  }

  private void refresh() {
    Opened before = present();
    Opened now = before;
    try {
      SortedMap<String, String> active = source.active();
      if (before == null || !before.code.active().equals(active)) {
        now = opened(SharedCode.of(active, source, loader, names));
      }
    } catch (IllegalArgumentException | StoaException silent) {
      if (before == null) throw new Unavailable(String.valueOf(silent.getMessage()), silent);
      LOG.debug("the code of the store is not known now: {}", silent.getMessage());
    }
    if (now != null) replace(before, now);
  }

  private synchronized @Nullable Opened present() {
    return present;
  }

  private synchronized void replace(@Nullable Opened before, Opened now) {
    lookedNanos = System.nanoTime();
    present = now;
    if (closed) end(now);
    else if (before != null && before != now) {
      before.isPast = true;
      if (before.uses == 0) end(before);
    }
  }

  private Opened opened(SharedCode code) {
    Thread thread = Thread.currentThread();
    ClassLoader context = thread.getContextClassLoader();
    thread.setContextClassLoader(code.loader());
    try {
      return new Opened(code, opening.get());
    } finally {
      thread.setContextClassLoader(context);
    }
  }

  private synchronized void leave(Opened opened) {
    opened.uses--;
    if (opened.isPast && opened.uses == 0) end(opened);
  }

  private static void end(Opened opened) {
    Thread.ofVirtual().name("stoa-http-end").start(opened.stoa::close);
  }

  /// Takes no more requests, and closes when those in progress have ended.
  synchronized void retire() {
    closed = true;
    Opened now = present;
    if (now == null) return;
    present = null;
    now.isPast = true;
    if (now.uses == 0) end(now);
  }

  @Override
  public synchronized void close() {
    if (closed) return;
    closed = true;
    if (present != null) {
      present.stoa.close();
      present = null;
    }
  }
}
