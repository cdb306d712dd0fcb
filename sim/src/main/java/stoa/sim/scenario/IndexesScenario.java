package stoa.sim.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Limits;
import stoa.NotUnique;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.objects.ObjectCall;
import stoa.objects.ObjectService;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.world.SimulatedSheet;
import stoa.sim.world.SimulatedStore;
import stoa.sim.world.TallyVersions;
import stoa.spi.Collections;

/// Calls on objects with indexes are under way at once, some as parts of others, beside
/// transactions and deletions, while the disk of the store fails, the store restarts or gets
/// another leader, operators cancel calls, versions of the class are deployed, and the past is
/// released. Whenever nothing is under way, the indexes have what a recount has.
public final class IndexesScenario implements Scenario {
  private static final int SHEETS = 4;
  private static final int ROWS = 3;
  private static final int SHIFTS = 3;
  private static final int TURNS = 70;

  // The number of recoveries that may fail before the disk stops failing.
  private static final int ATTEMPTS_MAX = 5;
  private static final StoaConfig CONFIG =
      StoaConfig.of("file:simulated")
          // So little that objects leave memory all the time.
          .withLimits(Limits.standard().withResidentBytesMax(4_000));

  private final String name;
  private final BiFunction<Chance, StoaConfig, SimulatedStore> opening;

  private IndexesScenario(String name, BiFunction<Chance, StoaConfig, SimulatedStore> opening) {
    this.name = name;
    this.opening = opening;
  }

  /// Returns the scenario of a store on one disk.
  static IndexesScenario embedded() {
    return new IndexesScenario("indexes", SimulatedStore::onOneDisk);
  }

  /// Returns the scenario of a store on three replicas, whose leader changes.
  static IndexesScenario replicated() {
    return new IndexesScenario("indexes-replicated", SimulatedStore::onThreeReplicas);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    new Run(chance.of("work"), trace, opening.apply(chance, CONFIG)).run();
  }

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final SimulatedStore store;
    private final List<CompletableFuture<?>> asked = new ArrayList<>();

    Run(Chance chance, Trace trace, SimulatedStore store) {
      this.chance = chance;
      this.trace = trace;
      this.store = store;
    }

    void run() {
      for (int turn = 0; turn < TURNS; turn++) {
        int dice = chance.below(100);
        try {
          if (dice < 45) call();
          else if (dice < 60) step();
          else if (dice < 66) transact();
          else if (dice < 70) delete();
          else if (dice < 76) cancel();
          else if (dice < 82) release();
          else if (dice < 84) store.tick();
          else if (dice < 87) deploy();
          else if (dice < 91) check();
          else restart();
          collect();
        } catch (Unavailable | UnknownOutcome failed) {
          trace.add("failed");
          restart();
        }
      }
      store.calm();
      restart();
      check();
      trace.add("end " + store.diskDigest());
    }

    private SimulatedSheet sheet(int at) {
      return store.stoa().get(SimulatedSheet.class, at % SHEETS);
    }

    private String ballast() {
      return "x".repeat(chance.of(List.of(0, 0, 0, 70_000)));
    }

    private @Nullable String owner() {
      return chance.percent(30) ? null : "o" + chance.below(3);
    }

    // ---- work

    private void call() {
      int at = chance.below(SHEETS);
      int to = chance.below(ROWS);
      String ballast = ballast();
      String owner = owner();
      SimulatedSheet other = sheet(at + 1);
      int how = chance.below(5);
      trace.add("call " + how + " of " + at + " to " + to);
      asked.add(
          store
              .stoa()
              .async(
                  sheet(at),
                  sheet ->
                      switch (how) {
                        case 0, 1 -> sheet.move(to, ballast);
                        // In one direction, since a circle would throw.
                        case 2 -> at + 1 < SHEETS ? sheet.pass(other, to) : sheet.move(to, ballast);
                        case 3 -> sheet.give(owner, to);
                        default -> sheet.touch(ballast);
                      }));
    }

    private void step() {
      for (int i = chance.between(1, 8); i > 0; i--) store.step();
    }

    private void transact() {
      int at = chance.below(SHEETS);
      int to = chance.below(ROWS);
      String owner = owner();
      String ballast = ballast();
      attempt(stoa -> {
        SimulatedSheet one = sheet(at);
        SimulatedSheet two = sheet(at + 1);
        return stoa.<Boolean, RuntimeException>transact(() -> {
          return one.give(owner, two.row()) >= 0 && two.move(to, ballast) == to;
        });
      });
    }

    private void delete() {
      int at = chance.below(SHEETS);
      attempt(stoa -> stoa.delete(sheet(at)));
    }

    private void attempt(Function<Stoa, Boolean> work) {
      try {
        boolean done = store.await(() -> work.apply(store.stoa()));
        trace.add("done " + done);
      } catch (StoaException told) {
        tell(told);
        if (told instanceof Unavailable || told instanceof UnknownOutcome) throw told;
      }
    }

    private void tell(StoaException told) {
      boolean isExpected =
          told instanceof NotUnique
              || told instanceof Unavailable
              || told instanceof UnknownOutcome;
      trace.reached("a call ends with " + told.getClass().getSimpleName());
      trace.add((isExpected ? "told " : "failed ") + told.getClass().getSimpleName());
    }

    /// Takes back a call that waits, which may be one of the store on an index.
    private void cancel() {
      for (int i = chance.between(1, 3); i > 0; i--) call();
      step();
      var service = ObjectService.of(store.stoa(), _ -> true);
      for (ObjectCall call : service.operator().calls(5)) {
        if (chance.percent(40) || !service.operator().cancel(call.id())) continue;
        boolean isOfIndex = call.object().startsWith("stoa.Index");
        trace.reached("an operator cancels a call on " + (isOfIndex ? "an index" : "an object"));
      }
    }

    private void release() {
      SimulatedSheet sheet = sheet(chance.below(SHEETS));
      var history = store.stoa().history(sheet);
      long kept = store.await(() -> history.trim(history.version()));
      trace.add("kept " + kept);
    }

    private void deploy() {
      var version = TallyVersions.sheet(chance.below(SHIFTS));
      var _ =
          store.await(
              () -> ObjectService.of(store.stoa(), _ -> true).code().deploy(version, _ -> {}));
      trace.reached("a deployment");
    }

    private void restart() {
      trace.add("restart with " + asked.size() + " calls");
      asked.clear();
      for (int attempt = 0; ; attempt++) {
        try {
          store.restart();
          var _ = store.stoa();
          return;
        } catch (Unavailable failed) {
          if (attempt == ATTEMPTS_MAX) store.calm();
        }
      }
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
          tell(told);
          if (told instanceof Unavailable unavailable) throw unavailable;
        }
      }
    }

    private void check() {
      List<String> wrong =
          store.await(() ->
              Collections.installed()
                  .indexes()
                  .differences(store.stoa(), SimulatedSheet.class, null));
      Demand.that(wrong.isEmpty(), "indexes: " + wrong);
      trace.reached("the indexes are right");
    }
  }
}
