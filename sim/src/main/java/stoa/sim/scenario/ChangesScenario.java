package stoa.sim.scenario;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.ChangeStream;
import stoa.Changes;
import stoa.Keep;
import stoa.Limits;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Subscription;
import stoa.TooOld;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.objects.ObjectCall;
import stoa.objects.ObjectService;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.ChangeHistory;
import stoa.sim.check.Demand;
import stoa.sim.world.SimulatedAudit;
import stoa.sim.world.SimulatedStore;
import stoa.sim.world.SimulatedTally;
import stoa.sim.world.TallyVersions;

/// Consumers follow the changes of objects, while the disk of the store fails, the store restarts
/// or gets another leader, versions of the class are deployed, and the past is released. One
/// consumer has a durable subscription, one begins with the present states, and one is a listener
/// in the store. Each is told every change that stands once, in order, and with its transaction.
public final class ChangesScenario implements Scenario {
  private static final int TALLIES = 3;
  private static final int FACTORS = 3;
  private static final int TURNS = 90;
  private static final String NAME = "mirror";

  // The number of recoveries that may fail before the disk stops failing.
  private static final int ATTEMPTS_MAX = 5;
  private static final StoaConfig CONFIG =
      StoaConfig.of("file:simulated")
          .withKeep(Keep.versions(2))
          // So little that objects leave memory all the time.
          .withLimits(Limits.standard().withResidentBytesMax(4_000));

  private final String name;
  private final BiFunction<Chance, StoaConfig, SimulatedStore> opening;

  private ChangesScenario(String name, BiFunction<Chance, StoaConfig, SimulatedStore> opening) {
    this.name = name;
    this.opening = opening;
  }

  /// Returns the scenario of a store on one disk.
  static ChangesScenario embedded() {
    return new ChangesScenario("changes", SimulatedStore::onOneDisk);
  }

  /// Returns the scenario of a store on three replicas, whose leader changes.
  static ChangesScenario replicated() {
    return new ChangesScenario("changes-replicated", SimulatedStore::onThreeReplicas);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    new Run(chance.of("work"), trace, opening.apply(chance, CONFIG)).run();
  }

  /// A consumer: its open stream, what it was told, and what it has stored.
  private static final class Consumer {
    private @Nullable ChangeStream<SimulatedTally> stream;
    private ChangeHistory history = new ChangeHistory(new LogAddress(0, 0));
    private @Nullable ChangeHistory stored;
  }

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final SimulatedStore store;
    private final List<SimulatedTally> tallies = new ArrayList<>();
    private final List<CompletableFuture<?>> asked = new ArrayList<>();
    private final Consumer subscriber = new Consumer();
    private final Consumer resyncing = new Consumer();
    private @Nullable LogAddress acknowledged;
    private @Nullable LogAddress acknowledgedBefore;
    private boolean listens;
    private int ids;

    Run(Chance chance, Trace trace, SimulatedStore store) {
      this.chance = chance;
      this.trace = trace;
      this.store = store;
    }

    void run() {
      recover();
      for (int turn = 0; turn < TURNS; turn++) {
        int dice = chance.below(100);
        try {
          if (dice < 30) add();
          else if (dice < 37) transact();
          else if (dice < 46) step();
          else if (dice < 52) store.tick();
          else if (dice < 62) read(subscriber, chance.below(12));
          else if (dice < 72) read(resyncing, chance.below(12));
          else if (dice < 76) acknowledge();
          else if (dice < 79) lose(chance.percent(50) ? subscriber : resyncing);
          else if (dice < 86) release();
          else if (dice < 88) deploy();
          else if (dice < 92) pass();
          else if (dice < 96) cancel();
          else restart();
          collect();
        } catch (Unavailable | UnknownOutcome failed) {
          trace.add("failed");
          restart();
        }
      }
      store.calm();
      restart();
      for (int i = 0; i < 100; i++) pass();
      end();
    }

    // ---- work

    private void step() {
      for (int i = chance.between(1, 5); i > 0; i--) store.step();
    }

    private void pass() {
      store.passTime(java.time.Duration.ofMillis(chance.below(200)));
      store.tick();
      store.settle();
    }

    private void add() {
      int which = chance.below(TALLIES);
      SimulatedTally other = tallies.get((which + 1) % TALLIES);
      String id = "i" + ids++;
      String ballast = "x".repeat(chance.of(List.of(0, 0, 0, 5_000)));
      // In one direction, since a circle would throw, and no consumer knows that of each call.
      boolean both = which < TALLIES - 1 && chance.percent(40);
      trace.add(id + " to " + which + (both ? " and the next" : ""));
      asked.add(
          store
              .stoa()
              .async(
                  tallies.get(which),
                  t -> both ? t.addBoth(id, 1, ballast, other) : t.add(id, 1, ballast)));
    }

    /// Takes back a call that is logged, perhaps, and has not run. Its verdict lies behind it in
    /// the log, with other entries between.
    private void cancel() {
      for (int i = chance.between(1, 3); i > 0; i--) add();
      step();
      var service = ObjectService.of(store.stoa(), _ -> true);
      for (ObjectCall call : service.operator().calls(5)) {
        if (chance.percent(40)) continue;
        trace.add("cancel a call on " + call.object());
        if (service.operator().cancel(call.id())) trace.reached("an operator cancels a call");
      }
      if (chance.percent(50)) add();
    }

    private void collect() {
      for (var each = asked.iterator(); each.hasNext(); ) {
        CompletableFuture<?> one = each.next();
        if (!one.isDone()) continue;
        each.remove();
        try {
          var _ = one.join();
        } catch (CompletionException failed) {
          if (!(failed.getCause() instanceof StoaException told)) {
            throw new AssertionError("a call fails", failed);
          }
          trace.reached("a call ends with " + told.getClass().getSimpleName());
        }
      }
    }

    private void transact() {
      int which = chance.below(TALLIES);
      SimulatedTally one = tallies.get(which);
      SimulatedTally two = tallies.get((which + 1) % TALLIES);
      String id = "x" + ids++;
      boolean rollsBack = chance.percent(20);
      trace.add(id + " in a transaction on " + which);
      try {
        boolean done =
            store.await(() ->
                store
                    .stoa()
                    .<Boolean, RuntimeException>transact(() -> {
                      var _ = one.add(id, 1, "");
                      var _ = two.add(id, 1, "");
                      if (rollsBack) throw new IllegalArgumentException();
                      return true;
                    }));
        trace.reached(done ? "a transaction" : "no transaction");
      } catch (IllegalArgumentException expected) {
        trace.reached("a transaction rolls back");
      } catch (StoaException lost) {
        trace.reached("a transaction ends with " + lost.getClass().getSimpleName());
        if (lost instanceof Unavailable failed) throw failed;
      }
    }

    private void deploy() {
      var version = TallyVersions.version(chance.between(1, FACTORS));
      var _ =
          store.await(
              () -> ObjectService.of(store.stoa(), _ -> true).code().deploy(version, _ -> {}));
      trace.reached("a deployment");
    }

    private void release() {
      SimulatedTally tally = chance.of(tallies);
      var history = store.stoa().history(tally);
      long version = store.await(history::version);
      long kept = store.await(() -> history.trim(version));
      trace.reached(kept == version ? "everything is released" : "something is kept");
    }

    // ---- consumers

    private void acknowledge() {
      ChangeHistory stored = subscriber.stored;
      if (stored == null) return;
      // Now and then an old one, as a consumer does that was slow: the position stays.
      LogAddress token = stored.token();
      if (chance.percent(20) && acknowledgedBefore != null) token = acknowledgedBefore;
      LogAddress position = token;
      store.await(() -> {
        subscription().acknowledge(position);
        return true;
      });
      if (acknowledged == null || position.compareTo(acknowledged) > 0) {
        acknowledgedBefore = acknowledged;
        acknowledged = position;
      }
      trace.reached("an acknowledgement");
      checkPosition();
    }

    private Subscription subscription() {
      return store.stoa().subscribe(NAME, java.time.Duration.ofDays(1_000));
    }

    private void checkPosition() {
      LogAddress position = store.await(() -> store.stoa().subscriptions().getFirst().position());
      Demand.that(
          acknowledged == null || position.compareTo(acknowledged) >= 0,
          "the position " + position + " is not in front of " + acknowledged);
    }

    /// Begins a consumer anew from what it has stored, as after a crash of the consumer.
    private void lose(Consumer consumer) {
      ChangeStream<SimulatedTally> open = consumer.stream;
      if (open != null) open.close();
      consumer.stream = null;
    }

    private ChangeStream<SimulatedTally> open(Consumer consumer) {
      Changes<SimulatedTally> what = Changes.of(SimulatedTally.class);
      if (chance.percent(60)) what = what.withStates();
      Changes<SimulatedTally> chosen = what;
      ChangeHistory stored = consumer.stored;
      if (stored != null) {
        consumer.history = stored.stored();
        LogAddress token = stored.token();
        trace.reached("a consumer resumes");
        return store.await(() -> store.stoa().changes(chosen.after(token)));
      }
      if (consumer == subscriber) {
        consumer.history = new ChangeHistory(store.await(() -> subscription().position()));
        return store.await(() -> subscription().changes(chosen));
      }
      trace.reached("a consumer begins with the present");
      consumer.history = new ChangeHistory(new LogAddress(0, 0));
      return store.await(() -> store.stoa().changes(chosen.withStates().fromPresent()));
    }

    private boolean read(Consumer consumer, int count) {
      ChangeStream<SimulatedTally> stream = consumer.stream;
      try {
        if (stream == null) {
          stream = open(consumer);
          consumer.stream = stream;
        }
        for (int i = 0; i < count; i++) {
          Optional<Change<SimulatedTally>> next = store.await(stream::poll);
          if (next.isEmpty()) return false;
          tell(consumer, stream, next.get());
        }
        return true;
      } catch (TooOld released) {
        Demand.that(consumer != subscriber, "the subscription keeps the log: " + released);
        trace.reached("a consumer without a subscription is too late");
        lose(consumer);
        consumer.stored = null;
        return true;
      }
    }

    private void tell(
        Consumer consumer, ChangeStream<SimulatedTally> stream, Change<SimulatedTally> change) {
      Change.At at = change.at();
      String object = (String) at.object().key();
      trace.add("told " + object + " " + at.version() + " at " + at.address());
      switch (change) {
        case Change.Present<SimulatedTally> present ->
            consumer.history.present(object, at.version(), ids(present.after()));
        case Change.Called<SimulatedTally> call -> {
          SimulatedTally before = call.before();
          SimulatedTally after = call.after();
          if (before != null) trace.reached("a change with states");
          consumer.history.told(
              new ChangeHistory.Told(
                  at.address(),
                  at.index(),
                  at.size(),
                  object,
                  at.version(),
                  (String) call.arguments().getFirst()),
              before == null ? null : ids(before),
              after == null ? null : ids(after));
          if (!at.isLast()) return;
          Demand.that(
              stream.token().equals(at.address()), "the token is that of the last transaction");
          if (chance.percent(70)) consumer.stored = consumer.history.stored();
        }
        case Change.Created<SimulatedTally> _,
            Change.Changed<SimulatedTally> _,
            Change.Deleted<SimulatedTally> _ ->
            throw new AssertionError("nobody did " + change);
      }
    }

    private static List<String> ids(SimulatedTally tally) {
      return tally.lines().stream().map(SimulatedTally.Line::id).toList();
    }

    // ---- failures

    private void restart() {
      trace.reached("a restart");
      store.restart();
      recover();
    }

    private void recover() {
      for (int attempt = 0; ; attempt++) {
        try {
          collect();
          asked.clear();
          subscriber.stream = null;
          resyncing.stream = null;
          tallies.clear();
          for (int i = 0; i < TALLIES; i++) {
            String key = "t" + i;
            tallies.add(store.stoa().get(SimulatedTally.class, key));
          }
          var _ = store.await(this::subscription);
          checkPosition();
          if (!listens) {
            listens = store.await(this::listen);
          }
          return;
        } catch (Unavailable | UnknownOutcome failed) {
          trace.reached("the disk fails during a recovery");
          if (attempt == ATTEMPTS_MAX) store.calm();
          store.restart();
        }
      }
    }

    private boolean listen() {
      Stoa stoa = store.stoa();
      if (!stoa.listeners().all().isEmpty()) return true;
      SimulatedAudit audit = stoa.get(SimulatedAudit.class, "all");
      stoa.listeners().listen("audit", Changes.of(SimulatedTally.class).fromBeginning(), audit);
      return true;
    }

    // ---- the checks

    private void end() {
      while (read(subscriber, 100)) step();
      while (read(resyncing, 100)) step();
      var truth = new TreeMap<String, List<String>>();
      for (int i = 0; i < TALLIES; i++) {
        SimulatedTally tally = tallies.get(i);
        List<String> has = store.await(() -> ids(tally));
        if (!has.isEmpty()) truth.put("t" + i, has);
      }
      subscriber.history.require(truth);
      resyncing.history.require(truth);
      checkListener(truth);
      trace.add("end " + truth + " " + store.diskDigest());
    }

    private void checkListener(Map<String, List<String>> truth) {
      SimulatedAudit audit = store.stoa().get(SimulatedAudit.class, "all");
      List<SimulatedAudit.HeardCall> heard = store.await(audit::heard);
      var numbers = new HashSet<String>();
      LogAddress last = new LogAddress(0, 0);
      var told = new TreeMap<String, List<String>>();
      for (SimulatedAudit.HeardCall one : heard) {
        Demand.that(one.address().compareTo(last) >= 0, one + " is heard in order");
        last = one.address();
        Demand.that(
            numbers.add(one.address() + " " + one.index()),
            one + " is heard once, unless it fails");
        told.computeIfAbsent(one.object(), _ -> new ArrayList<>()).add(one.id());
      }
      Demand.that(
          told.equals(truth), "the listener has heard " + told + ", and the objects have " + truth);
      trace.reached("a listener has heard everything");
    }
  }
}
