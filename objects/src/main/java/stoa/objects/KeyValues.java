package stoa.objects;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.KeyValueStore;
import stoa.Limits;
import stoa.ListenerLimits;
import stoa.NotShareable;
import stoa.Ref;
import stoa.StoaException;
import stoa.base.Answer;
import stoa.base.CallId;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.Repeats;
import stoa.base.StreamId;
import stoa.front.Service;
import stoa.front.SharedKeys;
import stoa.front.types.Keys;
import stoa.store.Store;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;
import stoa.store.calls.Terms;
import stoa.store.running.Request;
import stoa.store.running.Target;
import stoa.store.threads.Threads;

/// The listenable key-value store in bytes, for the process that has the store open and for its
/// clients. Thread-safe.
final class KeyValues {
  /*
   * A listener belongs to a session. The store notes the keys of a session's listeners under a key
   * of its own (ListeningKeys). It writes the note before the first registration at a key and
   * removes it after the last, so that the end of a session finds them all. A process that has the
   * store open is a session itself; when a process opens the store again, it ends the sessions of
   * earlier processes. The server ends the sessions of its clients.
   */
  private static final String SESSIONS = "stoa/listening";
  private static final Logger LOG = LoggerFactory.getLogger(KeyValues.class);

  private final Repeats repeats = new Repeats();

  private final Environment environment;
  private final Limits limits;
  private final Store store;
  private final Executor executor;
  private final ReentrantLock lock = new ReentrantLock();

  // The listeners of each session at each key. Guarded by lock.
  private final Map<Long, Map<StreamId, SessionListeners>> noted = new HashMap<>();

  // The feeds of keys that have listeners in this process. Guarded by lock.
  private final Map<StreamId, KeyFeed> feeds = new HashMap<>();

  // The keys that may have handlers: a put there takes as long as its handlers.
  private final Set<StreamId> listened = ConcurrentHashMap.newKeySet();

  // In order of insertion: a simulation must see the same order in every run.
  private final Set<KeyFeed> due = Collections.synchronizedSet(new LinkedHashSet<>());

  // Sessions of earlier processes that have not ended yet. Guarded by lock.
  private final List<Long> earlier = new ArrayList<>();

  /// The listeners of a session at a key: the listeners registered since this process opened the
  /// store, and whether there may be others.
  private static final class SessionListeners {
    private final boolean earlier;
    private final Set<Long> listeners = new HashSet<>();

    private SessionListeners(boolean earlier) {
      this.earlier = earlier;
    }
  }

  private final AtomicLong listeners = new AtomicLong();
  private volatile boolean earlierLeft;
  private volatile boolean failureTold;

  KeyValues(Store store, Environment environment, Limits limits, Threads threads) {
    this.store = store;
    this.environment = environment;
    this.limits = limits;
    this.executor =
        task -> {
          try {
            threads.listeners().execute(task);
          } catch (RejectedExecutionException closed) {
            LOG.debug("the store is closed; what its listeners have not handled is dropped");
          }
        };
    store.register(SharedKeys.SPACE, new ListenableKey.Factory(environment));
    store.register(SESSIONS, new ListeningKeys.Factory());
    threads.every(this::tick);
  }

  /// Ends the sessions of earlier processes, and reads the keys of the clients' listeners. Call it
  /// once.
  void begin() {
    var ended = new ArrayList<Long>();
    Iterator<byte[]> names = store.list(SESSIONS);
    while (names.hasNext()) {
      long session = new Decoder(names.next()).i64();
      if (session < 0) ended.add(session);
      else resume(session);
    }
    lock.lock();
    try {
      earlier.addAll(ended);
      earlierLeft = !ended.isEmpty();
    } finally {
      lock.unlock();
    }
    endEarlier();
  }

  private void resume(long session) {
    List<byte[]> names = names(session);
    lock.lock();
    try {
      var keys = noted.computeIfAbsent(session, _ -> new HashMap<>());
      for (byte[] name : names) {
        StreamId stream = key(name).stream();
        keys.put(stream, new SessionListeners(true));
        listened.add(stream);
      }
    } finally {
      lock.unlock();
    }
  }

  /// Ends the sessions of earlier processes. While the log has no room they stay: then there are no
  /// puts that would send them events.
  private void endEarlier() {
    lock.lock();
    try {
      while (!earlier.isEmpty()) {
        endSession(earlier.getLast());
        earlier.removeLast();
      }
      earlierLeft = false;
    } catch (StoaException later) {
      repeats.tell(
          "listeners of an earlier process are not taken out yet: " + later.getMessage(),
          LOG::warn);
    } finally {
      lock.unlock();
    }
  }

  Store core() {
    return store;
  }

  Executor executor() {
    return executor;
  }

  /// Returns the session of this process.
  long ownSession() {
    return -store.owner();
  }

  /// Returns the name of a new listener of this process.
  ListenerId nextListening() {
    return new ListenerId(ownSession(), listeners.incrementAndGet());
  }

  /// Returns the key of an encoded name.
  Key key(byte[] name) {
    return key(name, environment.catalog().loader());
  }

  /// Returns the key of an encoded name, whose classes a loader has.
  static Key key(byte[] name, ClassLoader loader) {
    return new Key(SharedKeys.SPACE, name, new Ref<>(SharedKeys.SPACE, Keys.decode(name, loader)));
  }

  // ---- put and get

  /// Puts a value, or removes it; returns whether there was one.
  ///
  /// @param micros how long the value stays; 0 for always
  boolean put(Key key, byte @Nullable [] value, long micros) {
    byte[] put = command(value, micros);
    Pace pace = micros == 0 ? pace(key) : Pace.LONG;
    return done(
        store.put(store.target(key), Put.of(put), Terms.expecting(any()).at(pace)).answer());
  }

  private static byte[] command(byte @Nullable [] value, long micros) {
    return value == null || micros == 0
        ? new KeyCommand.Put(value).encoded()
        : new KeyCommand.PutFor(micros, value).encoded();
  }

  /// Removes the value of a key if its time is over; returns when to look again, `Long.MAX_VALUE`
  /// when it has no end any more.
  long end(byte[] name) {
    byte[] put = new KeyCommand.End().encoded();
    Answer answer =
        store.put(store.target(anyKey(name)), Put.of(put), Terms.expecting(any())).answer();
    return switch ((KeyAnswer) answer) {
      case KeyAnswer.Ends(long next) -> next == 0 ? Long.MAX_VALUE : next;
      case KeyAnswer.Refused(byte[] thrown) -> throw refusal(thrown);
      case KeyAnswer.Done _, KeyAnswer.Found _, KeyAnswer.Waiting _ ->
          throw new IllegalStateException("an end is answered with " + answer);
    };
  }

  /// Returns the key of an encoded name, also when this process lacks its class.
  private Key anyKey(byte[] name) {
    try {
      return key(name);
    } catch (NotShareable unknown) {
      return new Key(SharedKeys.SPACE, name, new Ref<>(SharedKeys.SPACE, Keys.text(name)));
    }
  }

  Request putAsync(Key key, byte @Nullable [] value, long micros) {
    byte[] put = command(value, micros);
    return store.putAsync(
        store.target(key),
        Put.of(put),
        Terms.expecting(any()).at(isListened(key) || micros != 0 ? Pace.LONG : Pace.SHORT));
  }

  /// Puts like [#putAsync(Key, byte\[\], long)], for a client of a server.
  Request putAsync(Key key, byte @Nullable [] value, long micros, Duration timeMax, CallId id) {
    byte[] put = command(value, micros);
    Pace pace = micros == 0 ? pace(key) : Pace.LONG;
    return store.putAsync(
        store.target(key), Put.of(put), Terms.expecting(any()).at(pace).within(timeMax).of(id));
  }

  /// Asks for the value; [#value] decodes the answer.
  Request get(Key key) {
    return store.get(
        store.target(key), new ListenableKey.Query.Value(), Terms.expecting(any()).at(pace(key)));
  }

  Request getAsync(Key key) {
    return getAsync(key, limits.callTimeMax());
  }

  Request getAsync(Key key, Duration timeMax) {
    var query = new ListenableKey.Query.Value();
    return store.getAsync(
        store.target(key), query, Terms.expecting(any()).at(pace(key)).within(timeMax));
  }

  /// Returns the value in the answer of a key, encoded; null when there is none.
  static byte @Nullable [] value(Answer answer) {
    return ((KeyAnswer.Found) answer).value();
  }

  /// Returns whether a key had a value or listener before a put.
  boolean done(Answer answer) {
    return switch ((KeyAnswer) answer) {
      case KeyAnswer.Done(boolean was) -> was;
      case KeyAnswer.Refused(byte[] thrown) -> throw refusal(thrown);
      case KeyAnswer.Found _, KeyAnswer.Waiting _, KeyAnswer.Ends _ ->
          throw new IllegalStateException("a put is answered with " + answer);
    };
  }

  private RuntimeException refusal(byte[] thrown) {
    Throwable cause = environment.catalog().marshaller().thrown(thrown);
    if (cause instanceof RuntimeException told) return told;
    throw new IllegalStateException(cause);
  }

  private Pace pace(Key key) {
    return isListened(key) ? Pace.LONG : Pace.BRIEF;
  }

  private boolean isListened(Key key) {
    return listened.contains(key.stream());
  }

  private static Existence any() {
    return new Existence.Any(null);
  }

  // ---- listeners

  /// Registers a listener, or finds it registered; durable on return. Waits.
  ///
  /// @param code the number of the handler's code, see [HandlerCodes]
  void register(ListenerId listening, Key key, ListenerLimits limits, byte[] handler, int code) {
    enter(listening, key);
    try {
      int most = KeyValueStore.LISTENERS_MAX;
      put(key, new KeyCommand.Register(listening, limits, most, handler, code));
    } catch (RuntimeException refused) {
      leave(listening, key);
      throw refused;
    }
  }

  /// Removes a listener; durable on return. Waits.
  void unregister(ListenerId listening, Key key) {
    put(key, new KeyCommand.Unregister(listening));
    leave(listening, key);
  }

  private void put(Key key, KeyCommand command) {
    var _ =
        done(
            store
                .put(
                    store.target(key),
                    Put.of(command.encoded()),
                    Terms.expecting(any()).at(pace(key)))
                .answer());
  }

  /// Begins to send a registered listener its events, from the first that it has not handled.
  void send(ListenerId listening, Key key, Service.Sink sink) {
    lock.lock();
    try {
      feeds
          .computeIfAbsent(key.stream(), _ -> new KeyFeed(this, store.target(key), executor))
          .add(listening, sink);
    } finally {
      lock.unlock();
    }
  }

  /// Stops sending to a listener. It stays registered.
  ///
  /// @param sink stops only if the events go to this sink; null for any sink
  void stop(ListenerId listening, Key key, Service.@Nullable Sink sink) {
    KeyFeed feed = feed(key);
    if (feed == null) return;
    feed.remove(listening, sink);
    lock.lock();
    try {
      if (feed.isEmpty()) feeds.remove(key.stream(), feed);
    } finally {
      lock.unlock();
    }
  }

  /// Notes that a listener has handled its events up to a number.
  void heard(ListenerId listening, Key key, long number) {
    KeyFeed feed = feed(key);
    if (feed != null) feed.heard(listening, number);
  }

  private @Nullable KeyFeed feed(Key key) {
    lock.lock();
    try {
      return feeds.get(key.stream());
    } finally {
      lock.unlock();
    }
  }

  /// Removes a listener that has received its end.
  void left(ListenerId listening, Key key) {
    executor.execute(() -> {
      stop(listening, key, null);
      try {
        leave(listening, key);
      } catch (StoaException failure) {
        LOG.debug("{} stays noted as listened to: {}", key, failure.getMessage());
      }
    });
  }

  // ---- sessions

  private Target session(long session) {
    byte[] name = new Encoder(16).i64(session).toBytes();
    return store.target(new Key(SESSIONS, name, "the listeners of session " + session));
  }

  /// Returns the noted names of the keys with listeners of a session.
  List<byte[]> names(long session) {
    Request asked =
        store.get(session(session), ListeningKeys.QUERY, Terms.expecting(any()).at(Pace.SHORT));
    return ((ListeningKeys.Names) asked.answer()).all();
  }

  private void enter(ListenerId listening, Key key) {
    long session = listening.session();
    lock.lock();
    try {
      listened.add(key.stream());
      var keys = noted.computeIfAbsent(session, _ -> new HashMap<>());
      SessionListeners there = keys.get(key.stream());
      if (there == null) {
        byte[] put = ListeningKeys.listens(key.name());
        var _ =
            store
                .put(session(session), Put.of(put), Terms.expecting(any()).at(Pace.SHORT))
                .answer();
        there = new SessionListeners(false);
        keys.put(key.stream(), there);
      }
      there.listeners.add(listening.listener());
    } finally {
      lock.unlock();
    }
  }

  private void leave(ListenerId listening, Key key) {
    long session = listening.session();
    SessionListeners there = left(session, key, listening.listener());
    if (there == null) return;
    // A listener of an earlier process may not have registered again yet.
    if (there.earlier && hasListeners(session, key)) return;
    lock.lock();
    try {
      if (!there.listeners.isEmpty()) return; // another one came meanwhile
      var keys = noted.get(session);
      if (keys == null || keys.get(key.stream()) != there) return;
      var _ =
          store
              .put(
                  session(session),
                  Put.of(ListeningKeys.leaves(key.name())),
                  Terms.expecting(any()).at(Pace.SHORT))
              .answer();
      keys.remove(key.stream());
    } finally {
      lock.unlock();
    }
  }

  /// Notes the removal of a listener from a key. When it was the last known listener of its session
  /// there, returns the note to remove; otherwise null.
  private @Nullable SessionListeners left(long session, Key key, long listener) {
    lock.lock();
    try {
      var keys = noted.get(session);
      SessionListeners there = keys == null ? null : keys.get(key.stream());
      if (there == null) return null;
      there.listeners.remove(listener);
      return there.listeners.isEmpty() ? there : null;
    } finally {
      lock.unlock();
    }
  }

  private boolean hasListeners(long session, Key key) {
    var query = new ListenableKey.Query.Listens(session);
    return done(store.get(store.target(key), query, Terms.expecting(any()).at(pace(key))).answer());
  }

  /// Ends the client sessions that are not open any more.
  void endAllBut(Set<Long> open) {
    List<Long> known;
    lock.lock();
    try {
      known = noted.keySet().stream().filter(one -> one > 0 && !open.contains(one)).toList();
    } finally {
      lock.unlock();
    }
    known.forEach(this::endSession);
  }

  /// Removes all listeners of a session; durable on return. Waits. The session must not register
  /// more.
  void endSession(long session) {
    Target target = session(session);
    long generation = store.generation(target.key());
    lock.lock();
    try {
      noted.remove(session);
    } finally {
      lock.unlock();
    }
    if (generation == 0) return;
    for (byte[] name : names(session)) {
      put(key(name), new KeyCommand.EndSession(session));
    }
    store.delete(target, Terms.expecting(new Existence.Generation(generation)));
  }

  /// Removes the listeners of a session at one key; durable on return. Waits.
  void endSession(long session, byte[] name) {
    put(key(name), new KeyCommand.EndSession(session));
  }

  // ---- ticks

  /// Lets a feed do its postponed work at the next tick.
  void tickLater(KeyFeed feed) {
    due.add(feed);
  }

  private void tick() {
    if (earlierLeft) executor.execute(this::endEarlier);
    if (store.hasFailed() && !failureTold) {
      failureTold = true;
      lock.lock();
      try {
        due.addAll(feeds.values());
      } finally {
        lock.unlock();
      }
    }
    if (due.isEmpty()) return;
    var now = new ArrayList<>(due);
    now.forEach(due::remove);
    executor.execute(() -> now.forEach(KeyFeed::tick));
  }
}
