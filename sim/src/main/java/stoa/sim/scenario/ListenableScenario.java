package stoa.sim.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.KeyEvent;
import stoa.KeyHandler;
import stoa.KeyListener;
import stoa.LimitExceeded;
import stoa.Limits;
import stoa.ListenerLimits;
import stoa.ListenerRegistration;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.CallHistory;
import stoa.sim.check.Demand;
import stoa.sim.check.Linearizability;
import stoa.sim.check.ListenableModel;
import stoa.sim.check.ListenableModel.Input;
import stoa.sim.check.ListenableModel.Output;
import stoa.sim.check.ListenerRules;
import stoa.sim.check.ListenerRules.End;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.Recorder;
import stoa.sim.world.SimulatedHandlers;
import stoa.sim.world.SimulatedStore;

/// Clients put to and listen at keys of a listenable key-value store whose disk fails. Listeners
/// come and go, fall behind and have handlers that throw. Puts and gets must be linearizable, and
/// each listener must receive exactly its handler's results for the puts, in that order.
public final class ListenableScenario implements Scenario {
  private static final List<String> KEYS = List.of("a", "b");
  private static final int TURNS = 120;
  // The number of recoveries that may fail before the disk stops failing.
  private static final int ATTEMPTS_MAX = 5;
  private static final StoaConfig CONFIG =
      StoaConfig.of("file:simulated")
          .withLimits(
              Limits.standard()
                  .withCallTimeMax(Duration.ofMillis(500))
                  .withQueuedCallsMax(40)
                  // So little that keys leave memory all the time.
                  .withResidentBytesMax(4_000));

  private final String name;
  private final Function<Chance, PoweredDisk> disks;

  /// @param disks creates the disk of a run
  ListenableScenario(String name, Function<Chance, PoweredDisk> disks) {
    this.name = name;
    this.disks = disks;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    PoweredDisk disk = disks.apply(chance.of("disk"));
    new Run(chance, trace, new SimulatedStore(chance, CONFIG, disk)).run();
  }

  private record PendingCall(
      Input input,
      CompletableFuture<? extends Output> future,
      Recorder.Client<Input, Output>.Open call) {}

  /// A listener that knows the order of all puts on its key in one life of the store.
  private static final class Witness implements KeyListener<List<String>> {
    private final List<ListenerRules.Put> order = new ArrayList<>();

    @Override
    public void on(KeyEvent<List<String>> event) {
      Demand.that(event.number() == order.size() + 1, event + " is number " + (order.size() + 1));
      order.add(
          new ListenerRules.Put(text(event.value().getFirst()), text(event.value().getLast())));
    }

    private static @Nullable String text(String told) {
      return told.equals("null") ? null : told;
    }
  }

  private static final class Listener implements KeyListener<String> {
    private final String key;
    private final Supplier<? extends KeyHandler<String, String>> handler;
    private final Set<String> before;
    private final List<KeyEvent<String>> events = new ArrayList<>();
    private @Nullable ListenerRegistration registration;
    private Set<String> after = new HashSet<>();
    private @Nullable StoaException cause;

    private Listener(
        String key, Supplier<? extends KeyHandler<String, String>> handler, Set<String> before) {
      this.key = key;
      this.handler = handler;
      this.before = before;
    }

    @Override
    public void on(KeyEvent<String> event) {
      events.add(event);
    }

    @Override
    public void ended(StoaException told) {
      cause = told;
    }

    private ListenerRules.Told told(End otherwise) {
      boolean open = registration != null && registration.isOpen();
      End threw = otherwise == End.CUT ? End.THREW_AND_CUT : End.THREW;
      End end = cause instanceof CallFailed ? threw : open ? otherwise : End.CUT;
      return new ListenerRules.Told(key, handler, before, after, events, end);
    }
  }

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final SimulatedStore store;
    private final AtomicLong time = new AtomicLong();
    private final Recorder<Input, Output> recorder = new Recorder<>(time::incrementAndGet);
    private final List<PendingCall> asked = new ArrayList<>();
    private final Map<String, Witness> witnesses = new HashMap<>();
    private final List<Listener> listeners = new ArrayList<>();
    private final Map<String, Set<String>> over = new HashMap<>();
    private final Map<String, ListenerRules.Put> seen = new HashMap<>();
    private int values;

    Run(Chance chance, Trace trace, SimulatedStore store) {
      this.chance = chance.of("work");
      this.trace = trace;
      this.store = store;
    }

    void run() {
      begin();
      for (int turn = 0; turn < TURNS; turn++) {
        store.passTime(Duration.ofMillis(chance.below(10)));
        int dice = chance.below(100);
        try {
          if (dice < 36) put();
          else if (dice < 42) remove();
          else if (dice < 50) get();
          else if (dice < 60) listen();
          else if (dice < 64) leave();
          else if (dice < 86) step();
          else if (dice < 92) store.tick();
          else if (dice < 96) check();
          else restart();
          collect();
        } catch (LimitExceeded refused) {
          trace.reached("a call is refused with LimitExceeded");
          step();
        } catch (Unavailable | UnknownOutcome failed) {
          trace.add("failed " + failed.getClass().getSimpleName());
          trace.reached("the store fails");
          restart();
        }
      }
      store.calm();
      restart();
      for (int i = 0; i < 5; i++) put();
      listen();
      for (int i = 0; i < 5; i++) put();
      check();
      restart();
      Linearizability.require(new ListenableModel(), completed());
      trace.add("end " + recorder.history() + " " + store.diskDigest());
    }

    private void step() {
      for (int i = chance.between(1, 6); i > 0; i--) store.step();
    }

    // ---- puts and gets

    private void put() {
      String key = chance.of(KEYS);
      String value = "v" + values++ + " " + "x".repeat(chance.of(List.of(0, 40, 2_000)));
      value = value.strip() + "." + chance.below(5);
      var input = new Input.Put(key, value);
      var call = recorder.client("putter").begin(input);
      try {
        var future = store.stoa().store().putAsync(key, value).thenApply(_ -> new Output.Done());
        asked.add(new PendingCall(input, future, call));
        for (var one : listeners) {
          if (one.registration != null && one.key.equals(key)) one.after.add(value);
        }
      } catch (LimitExceeded refused) {
        call.refused();
        throw refused;
      }
    }

    private void remove() {
      String key = chance.of(KEYS);
      var call = recorder.client("remover").begin(new Input.Remove(key));
      try {
        boolean was = store.stoa().store().remove(key);
        call.returned(new Output.Removed(was));
      } catch (LimitExceeded | Unavailable refused) {
        call.refused();
        throw refused;
      } catch (UnknownOutcome unknown) {
        restart();
        call.lost();
      }
    }

    private void get() {
      String key = chance.of(KEYS);
      var input = new Input.Get(key);
      var call = recorder.client("getter").begin(input);
      try {
        var future =
            store
                .stoa()
                .store()
                .getAsync(key)
                .thenApply(value -> new Output.Found(Optional.ofNullable((String) value)));
        asked.add(new PendingCall(input, future, call));
      } catch (LimitExceeded refused) {
        call.refused();
        throw refused;
      }
    }

    private void collect() {
      for (var one : List.copyOf(asked)) {
        if (!one.future.isDone()) continue;
        asked.remove(one);
        try {
          one.call.returned(one.future.join());
          if (one.input instanceof Input.Put(String key, String value)) {
            over.computeIfAbsent(key, _ -> new LinkedHashSet<>()).add(value);
          }
        } catch (CompletionException thrown) {
          switch (thrown.getCause()) {
            case LimitExceeded _, Unavailable _ -> one.call.refused();
            // Its outcome is fixed by the end of this life of the store.
            case UnknownOutcome _ -> asked.add(one);
            case null, default -> throw new AssertionError("unexpected of " + one.input, thrown);
          }
          return;
        }
      }
    }

    // ---- listeners

    private void listen() {
      String key = chance.of(KEYS);
      collect();
      String end = "." + chance.below(5);
      Supplier<? extends KeyHandler<String, String>> handler =
          switch (chance.below(3)) {
            case 0 -> SimulatedHandlers.Third::new;
            case 1 -> () -> new SimulatedHandlers.Ending(end);
            default -> () -> new SimulatedHandlers.Fussy(end);
          };
      var heard = new Listener(key, handler, Set.copyOf(over.getOrDefault(key, Set.of())));
      var limits = chance.percent(40) ? new ListenerLimits(2, 4_000) : ListenerLimits.STANDARD;
      heard.registration = store.stoa().store().register(key, heard, handler.get(), limits);
      listeners.add(heard);
      trace.add("listen " + key + " " + handler.get().getClass().getSimpleName() + " " + end);
    }

    private void leave() {
      if (listeners.isEmpty()) return;
      var one = chance.of(listeners);
      Objects.requireNonNull(one.registration).close();
      int told = one.events.size();
      store.await(() -> true);
      Demand.that(told == one.events.size(), "a closed listener is told nothing more");
      trace.reached("a listener leaves");
    }

    private void check() {
      store.await(() -> {
        collect();
        return true;
      });
      if (!asked.isEmpty()) return;
      for (int i = 0; i < 3; i++) {
        // The latest acknowledgements, and the questions that could not be asked before.
        store.tick();
        store.settle();
      }
      // When the disk has failed, listeners have ended, or are about to learn it.
      for (String key : KEYS) {
        try {
          var _ = store.await(() -> Optional.ofNullable(store.stoa().store().get(key)));
        } catch (StoaException failed) {
          restart();
          return;
        }
      }
      verify(End.SETTLED);
      trace.reached("all is settled");
    }

    private void verify(End otherwise) {
      for (var witness : witnesses.values()) {
        ListenerRules.requireChain(witness.order);
        for (var put : witness.order) {
          if (put.value() != null) seen.put(put.value(), put);
        }
      }
      for (var one : listeners) {
        ListenerRules.require(
            Objects.requireNonNull(witnesses.get(one.key)).order, one.told(otherwise));
        if (!one.events.isEmpty()) trace.reached("a listener hears");
        if (one.cause != null) {
          trace.reached("a listener is ended with " + one.cause.getClass().getSimpleName());
        }
        trace.add(one.key + " " + one.events.size() + " " + one.cause);
      }
    }

    // ---- crashes

    private void restart() {
      collect();
      verify(End.CUT);
      store.restart();
      begin();
    }

    private void begin() {
      boolean begun = false;
      for (int attempt = 0; !begun; attempt++) {
        if (attempt == ATTEMPTS_MAX) store.calm();
        trace.add("begin");
        listeners.clear();
        witnesses.clear();
        over.clear();
        try {
          for (String key : KEYS) {
            var witness = new Witness();
            witnesses.put(key, witness);
            var _ = store.stoa().store().register(key, witness, new SimulatedHandlers.Witness());
          }
          begun = true;
        } catch (StoaException failed) {
          trace.reached("the disk fails during a recovery");
          store.restart();
        }
      }
      for (var one : asked) one.call.lost();
      asked.clear();
    }

    /// Returns the calls, completed by the handlers' observations: a put that a handler has seen is
    /// done.
    private CallHistory<Input, Output> completed() {
      var puts = new HashMap<Integer, Input>();
      var events = new ArrayList<CallHistory.Event<Input, Output>>();
      for (var event : recorder.history().events()) {
        if (event instanceof CallHistory.Invoked<Input, Output> invoked) {
          puts.put(invoked.call(), invoked.input());
        }
        var known = puts.get(event.call()) instanceof Input.Put put ? seen.get(put.value()) : null;
        boolean end = !(event instanceof CallHistory.Invoked);
        if (end && known != null) {
          Output replaced = new Output.Replaced(Optional.ofNullable(known.before()));
          events.add(new CallHistory.Returned<>(event.call(), replaced));
        } else {
          events.add(event);
        }
      }
      return new CallHistory<>(events);
    }
  }
}
