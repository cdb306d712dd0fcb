package stoa.trials;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.KeyEvent;
import stoa.KeyHandler;
import stoa.KeyListener;
import stoa.ListenerLimits;
import stoa.ListenerRegistration;
import stoa.Stoa;
import stoa.StoaException;
import stoa.sim.Chance;
import stoa.sim.check.CallHistory;
import stoa.sim.check.Linearizability;
import stoa.sim.check.ListenableModel;
import stoa.sim.check.ListenableModel.Input;
import stoa.sim.check.ListenableModel.Output;
import stoa.sim.check.ListenerRules;
import stoa.sim.check.ListenerRules.End;
import stoa.sim.check.ListenerRules.Put;
import stoa.sim.world.Recorder;

/// Puts on a few keys of the listenable store from many threads, the listeners at these keys with
/// the events that they received, and the check of all.
///
/// Thread-safe; a [Worker] has one owner.
final class RecordedKeys {
  /*
   * A witness at each key is registered before the first put, and receives all puts in their order.
   * No two puts have the same value, so that a repeated put shows there.
   *
   * (1) A witness never sees a refused put.
   * (2) The events of witnesses are linearizable together with the answers to puts and gets.
   * (3) At the end comes a put that every handler reports: a listener that received it has received
   *     everything, and one that does not receive it in time misses it.
   */
  private static final int KEYS = 2;
  private static final int LISTENERS_MAX = 3;
  private static final Duration TOLD_TIME_MAX = Duration.ofSeconds(60);
  private static final int ATTEMPTS_MAX = 5;
  private static final int BURST_MAX = 12;

  private final Recorder<Input, Output> recorder = new Recorder<>();
  private final Map<String, Span> puts = new ConcurrentHashMap<>();
  private final Map<String, Listener<List<String>>> witnesses = new TreeMap<>();
  private final ConcurrentLinkedQueue<Listener<String>> listeners = new ConcurrentLinkedQueue<>();
  private final AtomicLong unique = new AtomicLong();
  private final Consumer<String> reached;

  /// @param stoa the store at which the witnesses listen, to its end
  /// @param reached counts the actions, by name
  RecordedKeys(Stoa stoa, Consumer<String> reached) {
    this.reached = reached;
    for (int i = 0; i < KEYS; i++) {
      String key = "key " + i;
      var witness = new Listener<List<String>>(key, Recorded.Everything::new);
      witness.registered(stoa.store().register(key, witness, new Recorded.Everything()));
      witnesses.put(key, witness);
    }
  }

  /// The beginning of an action on a key, and its outcome.
  private static final class Span {
    private final String key;
    private final long began = System.nanoTime();
    private volatile long over = Long.MAX_VALUE;
    private volatile boolean refused;

    private Span(String key) {
      this.key = key;
    }

    void end() {
      over = System.nanoTime();
    }
  }

  /// A listener, and its events.
  private static final class Listener<W> implements KeyListener<W> {
    private final String key;
    private final Supplier<? extends KeyHandler<String, W>> handler;
    // The span of its registration.
    private final Span span;
    private volatile @Nullable ListenerRegistration registration;

    // Guarded by this.
    private final List<KeyEvent<W>> events = new ArrayList<>();
    private @Nullable StoaException cause;

    private Listener(String key, Supplier<? extends KeyHandler<String, W>> handler) {
      this.key = key;
      this.handler = handler;
      span = new Span(key);
    }

    void registered(ListenerRegistration made) {
      span.end();
      registration = made;
    }

    @Override
    public synchronized void on(KeyEvent<W> event) {
      events.add(event);
      notifyAll();
    }

    @Override
    public synchronized void ended(StoaException told) {
      cause = told;
      notifyAll();
    }

    synchronized List<KeyEvent<W>> events() {
      return List.copyOf(events);
    }

    synchronized @Nullable StoaException cause() {
      return cause;
    }

    boolean isOpen() {
      ListenerRegistration made = registration;
      return made != null && made.isOpen();
    }

    void close() {
      ListenerRegistration made = registration;
      if (made != null) made.close();
    }

    /// Waits until it has received an event, or receives nothing more, or the time is over.
    synchronized void awaitTold(Predicate<W> what, long deadline) throws InterruptedException {
      while (cause == null && isOpen() && events.stream().noneMatch(e -> what.test(e.value()))) {
        long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        if (left <= 0) return;
        wait(left);
      }
    }
  }

  /// Returns one thread that puts and listens.
  Worker worker(String name, Stoa stoa, Chance chance) {
    return new Worker(name, stoa, chance);
  }

  /// One thread of the work.
  final class Worker {
    private final Stoa stoa;
    private final Chance chance;
    private final Recorder.Client<Input, Output> client;
    private final List<Listener<String>> mine = new ArrayList<>();

    private Worker(String name, Stoa stoa, Chance chance) {
      this.stoa = stoa;
      this.chance = chance;
      client = recorder.client(name);
    }

    /// Makes the next call.
    void turn() throws Exception {
      String key = "key " + chance.below(KEYS);
      int dice = chance.below(100);
      if (dice < 50) put(key, value());
      else if (dice < 60) putMany(key);
      else if (dice < 68) remove(key);
      else if (dice < 80) get(key);
      else if (dice < 93 && mine.size() < LISTENERS_MAX) listen(key);
      else leave();
    }

    private boolean put(String key, String value) throws Exception {
      return begin(key, value).call();
    }

    /// Begins a put; calling the result returns whether it was done.
    private Callable<Boolean> begin(String key, String value) {
      var span = new Span(key);
      puts.put(value, span);
      var call = RecordedWork.begin(client, new Input.Put(key, value), reached);
      var put = stoa.store().putAsync(key, value);
      return () -> {
        var told =
            call.end(() -> {
              put.join();
              return new Output.Done();
            });
        switch (told) {
          case RecordedWork.Told.Answered<Output> _ -> span.end();
          case RecordedWork.Told.Refused<Output> _ -> span.refused = true;
          case RecordedWork.Told.Unknown<Output> _ -> {
            // It stays open.
          }
        }
        return told instanceof RecordedWork.Told.Answered<Output>;
      };
    }

    /// Puts a value that all handlers report, and returns it.
    private String putLast(String key) throws Exception {
      for (int attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        String value = Recorded.LAST + unique.incrementAndGet();
        if (put(key, value)) return value;
      }
      throw new AssertionError("nothing can be put under " + key);
    }

    private String value() {
      return "v" + unique.incrementAndGet() + "." + chance.below(20);
    }

    /// Begins several puts, whose events are on their way together, and waits for all.
    private void putMany(String key) throws Exception {
      var begun = new ArrayList<Callable<Boolean>>();
      for (int i = chance.between(2, BURST_MAX); i > 0; i--) begun.add(begin(key, value()));
      for (var one : begun) one.call();
    }

    private void remove(String key) throws Exception {
      RecordedWork.call(
          client,
          new Input.Remove(key),
          () -> new Output.Removed(stoa.store().remove(key)),
          reached);
    }

    private void get(String key) throws Exception {
      RecordedWork.call(
          client,
          new Input.Get(key),
          () -> new Output.Found(stoa.store().get(key, String.class)),
          reached);
    }

    private void listen(String key) {
      String end = "." + chance.below(20);
      Supplier<KeyHandler<String, String>> handler =
          switch (chance.below(3)) {
            case 0 -> () -> new Recorded.Ending(end);
            case 1 -> Recorded.Second::new;
            default -> () -> new Recorded.Fussy(end);
          };
      var limits = chance.percent(20) ? new ListenerLimits(2, 4_000) : ListenerLimits.STANDARD;
      var heard = new Listener<String>(key, handler);
      try {
        heard.registered(stoa.store().register(key, heard, handler.get(), limits));
      } catch (StoaException failed) {
        // It may be registered, and reports to no one.
        reached.accept("a registration failed: " + failed.getClass().getSimpleName());
        return;
      }
      mine.add(heard);
      listeners.add(heard);
    }

    private void leave() {
      if (mine.isEmpty()) return;
      var one = chance.of(mine);
      mine.remove(one);
      try {
        one.close();
        reached.accept("a listener leaves");
      } catch (StoaException failed) {
        reached.accept("a listener leaves without an answer");
      }
    }
  }

  // ---- the check

  /// Puts a last value, waits until all listeners have received it, and checks the records.
  ///
  /// @throws AssertionError with an inconsistency
  void require(Stoa stoa) throws Exception {
    var last = worker("last", stoa, new Chance(0));
    Map<String, List<Put>> orders = new TreeMap<>();
    long deadline = System.nanoTime() + TOLD_TIME_MAX.toNanos();
    for (var witness : witnesses.values()) {
      String value = last.putLast(witness.key);
      witness.awaitTold(told -> told.getFirst().equals(value), deadline);
      for (var one : listeners) {
        if (one.key.equals(witness.key)) one.awaitTold(told -> told.contains(value), deadline);
      }
      orders.put(witness.key, order(witness, value));
    }
    for (var one : listeners) {
      ListenerRules.require(orders.getOrDefault(one.key, List.of()), told(one));
      var cause = one.cause();
      if (cause != null) reached.accept("a listener ended: " + cause.getClass().getSimpleName());
      for (var _ : one.events()) reached.accept("an event heard");
    }
    Linearizability.require(new ListenableModel(), seen(orders));
  }

  /// Returns the puts on a key, in the order of its witness.
  private List<Put> order(Listener<List<String>> witness, String last) {
    if (witness.cause() != null) {
      throw new AssertionError("a witness ended: " + witness.cause(), witness.cause());
    }
    var order = new ArrayList<Put>();
    for (var event : witness.events()) {
      if (event.number() > order.size() + 1) {
        throw new AssertionError("event " + event + " follows on number " + order.size());
      }
      var put = new Put(text(event.value().getFirst()), text(event.value().getLast()));
      int at = (int) event.number() - 1;
      if (at == order.size()) order.add(put);
      else if (!order.get(at).equals(put)) {
        throw new AssertionError("told again as another: " + event + ", was " + order.get(at));
      }
    }
    ListenerRules.requireChain(order);
    if (order.isEmpty() || order.getFirst().before() != null) {
      throw new AssertionError("the first put is missing in " + order);
    }
    if (order.stream().noneMatch(put -> last.equals(put.value()))) {
      throw new AssertionError(last + " was not told in time behind " + order);
    }
    for (Put put : order) {
      String value = put.value();
      if (value == null) continue;
      Span span = puts.get(value);
      if (span == null || span.refused) {
        throw new AssertionError(put + " was seen, and " + (span == null ? "not made" : "refused"));
      }
    }
    return order;
  }

  private static @Nullable String text(String told) {
    return told.equals("null") ? null : told;
  }

  private ListenerRules.Told told(Listener<String> one) {
    Set<String> before = new HashSet<>();
    Set<String> after = new HashSet<>();
    puts.forEach((value, span) -> {
      if (!span.key.equals(one.key)) return;
      if (span.over < one.span.began) before.add(value);
      if (span.began > one.span.over) after.add(value);
    });
    End end = one.cause() instanceof CallFailed ? End.THREW : one.isOpen() ? End.SETTLED : End.CUT;
    return new ListenerRules.Told(one.key, one.handler, before, after, one.events(), end);
  }

  /// Returns the calls, completed by the events of the witnesses: a put in an event is done.
  private CallHistory<Input, Output> seen(Map<String, List<Put>> orders) {
    Map<String, Put> seen = new HashMap<>();
    for (var order : orders.values()) {
      for (Put put : order) if (put.value() != null) seen.put(put.value(), put);
    }
    Map<Integer, Put> open = new TreeMap<>();
    var events = new ArrayList<CallHistory.Event<Input, Output>>();
    for (var event : recorder.history().events()) {
      if (event instanceof CallHistory.Invoked<Input, Output>(int call, _, Input input)) {
        Put put = input instanceof Input.Put made ? seen.get(made.value()) : null;
        if (put != null) open.put(call, put);
        events.add(event);
      } else {
        Put put = open.remove(event.call());
        events.add(put == null ? event : replaced(event.call(), put));
      }
    }
    open.forEach((call, put) -> events.add(replaced(call, put)));
    return new CallHistory<>(events);
  }

  private static CallHistory.Event<Input, Output> replaced(int call, Put put) {
    return new CallHistory.Returned<>(call, new Output.Replaced(Optional.ofNullable(put.before())));
  }
}
