package stoa.sim.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.History;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.world.SimulatedSpark;
import stoa.sim.world.SimulatedStore;
import stoa.sim.world.TallyVersions;
import stoa.spi.Collections;

/// Objects and values of keys that end by themselves are created and renewed, while the disk of the
/// store fails, and the store restarts or gets another leader. In some runs, an operator deploys
/// versions of the class meanwhile. None ends before its time; at the end all have ended, and
/// neither indexes nor timers have anything of them.
public final class ExpiryScenario implements Scenario {
  private static final int SPARKS = 4;
  private static final int TURNS = 60;
  private static final int VERSIONS = 3;
  // The number of recoveries that may fail before the disk stops failing.
  private static final int ATTEMPTS_MAX = 5;
  private static final Duration LIFE = Duration.ofMillis(SimulatedSpark.LIFE_MILLIS);
  private static final StoaConfig CONFIG =
      StoaConfig.of("file:simulated")
          .withLimits(
              Limits.standard()
                  // So little that objects leave memory all the time.
                  .withResidentBytesMax(4_000));

  private final String name;
  private final BiFunction<Chance, StoaConfig, SimulatedStore> opening;

  private ExpiryScenario(String name, BiFunction<Chance, StoaConfig, SimulatedStore> opening) {
    this.name = name;
    this.opening = opening;
  }

  /// Returns the scenario of a store on one disk.
  static ExpiryScenario embedded() {
    return new ExpiryScenario("expiry", SimulatedStore::onOneDisk);
  }

  /// Returns the scenario of a store on three replicas, whose leader changes.
  static ExpiryScenario replicated() {
    return new ExpiryScenario("expiry-replicated", SimulatedStore::onThreeReplicas);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    new Run(chance, trace, opening.apply(chance, CONFIG)).run();
  }

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final SimulatedStore store;
    // When each was changed last for certain; null when that is not known.
    private final @Nullable Instant[] sparked = new @Nullable Instant[SPARKS];
    private final @Nullable Instant[] kept = new @Nullable Instant[SPARKS];
    private final Chance code;
    private final boolean deploys;
    private long micros = 1_000_000;

    Run(Chance chance, Trace trace, SimulatedStore store) {
      this.chance = chance.of("work");
      code = chance.of("code");
      deploys = code.percent(50);
      this.trace = trace;
      this.store = store;
    }

    void run() {
      for (int turn = 0; turn < TURNS; turn++) {
        int dice = chance.below(100);
        try {
          if (dice < 30) glow();
          else if (dice < 45) keep();
          else if (dice < 60) look();
          else if (dice < 92) pass(Duration.ofMillis(chance.below(60)));
          else restart();
          if (deploys && code.percent(8)) deploy();
          for (int i = chance.below(6); i > 0; i--) store.step();
        } catch (Unavailable failed) {
          trace.add("failed");
          restart();
        }
      }
      store.calm();
      restart();
      // The call that ends an object may be its first one by a new version, which gives it another
      // timer; that finds nothing a life later.
      for (int round = 0; round < 2; round++) {
        pass(Duration.ofSeconds(10));
        for (int i = 0; i < 100; i++) {
          store.tick();
          store.settle();
        }
      }
      check();
    }

    /// Makes a version of the class execute all later calls.
    private void deploy() {
      int version = code.below(VERSIONS);
      trace.add("deploy " + version);
      try {
        store.deploy(TallyVersions.spark(version));
        trace.reached("a deployment");
      } catch (StoaException lost) {
        trace.add("lost " + lost.getClass().getSimpleName());
        restart();
      }
    }

    private Instant now() {
      return Instant.EPOCH.plusNanos(micros * 1_000);
    }

    private void pass(Duration time) {
      trace.add("pass " + time);
      store.passTime(time);
      micros += time.toNanos() / 1_000;
      store.tick();
    }

    private void restart() {
      trace.add("restart");
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

    /// Makes a call; returns its result, null when it is lost.
    private <R> @Nullable R call(Function<Stoa, R> call) {
      try {
        return store.await(() -> call.apply(store.stoa()));
      } catch (StoaException lost) {
        trace.add("lost " + lost.getClass().getSimpleName());
        restart();
        return null;
      }
    }

    private void glow() {
      int at = chance.below(SPARKS);
      int color = chance.below(3);
      int how = chance.below(3);
      int other = (at + 1) % SPARKS;
      Boolean done =
          call(stoa -> {
            SimulatedSpark spark = stoa.get(SimulatedSpark.class, at);
            SimulatedSpark next = stoa.get(SimulatedSpark.class, other);
            switch (how) {
              case 0 -> spark.glow(color);
              case 1 -> spark.pass(next);
              default ->
                  stoa.<Boolean, RuntimeException>transact(() -> {
                    spark.glow(color);
                    next.glow(spark.color());
                    return true;
                  });
            }
            return true;
          });
      trace.add("glow " + at + " " + how + " " + done);
      if (done == null) return;
      sparked[at] = now();
      if (how != 0) sparked[other] = now();
    }

    private void keep() {
      int at = chance.below(SPARKS);
      boolean isBrief = chance.percent(70);
      Boolean done =
          call(stoa -> {
            if (isBrief) stoa.store().put(at, "value", LIFE);
            else if (!stoa.store().remove(at)) return false;
            return true;
          });
      trace.add("keep " + at + " " + isBrief + " " + done);
      kept[at] = done != null && isBrief ? now() : null;
    }

    /// Nothing ends before its time.
    private void look() {
      int at = chance.below(SPARKS);
      Instant changed = sparked[at];
      if (changed != null && now().isBefore(changed.plus(LIFE))) {
        Boolean present = call(stoa -> stoa.find(SimulatedSpark.class, at).isPresent());
        Demand.that(
            present == null || present,
            "spark " + at + " of " + changed + " has ended before " + now());
      }
      Instant put = kept[at];
      if (put == null || !now().isBefore(put.plus(LIFE))) return;
      Object value = call(stoa -> Objects.requireNonNullElse(stoa.store().get(at), "none"));
      Demand.that(
          value == null || value.equals("value"),
          "the value " + at + " of " + put + " has ended before " + now());
    }

    // ---- the checks at the end

    private void check() {
      for (int i = 0; i < SPARKS; i++) {
        int at = i;
        boolean gone =
            store.await(() -> {
              Stoa stoa = store.stoa();
              return stoa.find(SimulatedSpark.class, at).isEmpty() && stoa.store().get(at) == null;
            });
        Demand.that(gone, at + " has not ended");
        checkTimes(at);
      }
      List<?> timers = store.await(() -> store.stoa().timers().next(10));
      Demand.that(timers.isEmpty(), "timers of nothing: " + timers);
      List<String> wrong =
          store.await(() ->
              Collections.installed()
                  .indexes()
                  .differences(store.stoa(), SimulatedSpark.class, null));
      Demand.that(wrong.isEmpty(), "indexes: " + wrong);
      trace.add("end " + store.diskDigest());
    }

    /// In the history, each end comes a life or more after the last call before it.
    private void checkTimes(int at) {
      List<History.Entry> all =
          store.await(() -> {
            Stoa stoa = store.stoa();
            return stoa.history(stoa.get(SimulatedSpark.class, at)).entries(1, 10_000);
          });
      Instant called = null;
      for (History.Entry entry : all) {
        switch (entry.event()) {
          case History.Event.Called _ -> called = entry.time();
          case History.Event.Deleted _ -> {
            Demand.that(
                called == null || !entry.time().isBefore(called.plus(LIFE)),
                "spark " + at + " ended at " + entry.time() + ", called at " + called);
            called = null;
          }
          default -> {}
        }
      }
    }
  }
}
