package stoa.sim.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.BiFunction;
import stoa.DurableTimer;
import stoa.Limits;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.world.SimulatedBell;
import stoa.sim.world.SimulatedStore;
import stoa.sim.world.TallyVersions;

/// Methods schedule timers, move and cancel them, while the disk of the store fails, and the store
/// restarts or gets another leader: also in the middle of a firing. In some runs, an operator
/// deploys versions of the class meanwhile. A timer fires once for each of its times, and never
/// before it; those of one object fire in the order of their times; missed repeats are made up for
/// as their schedule says.
public final class TimersScenario implements Scenario {
  private static final int BELLS = 3;
  private static final int TURNS = 60;
  private static final int VERSIONS = 3;
  // The number of recoveries that may fail before the disk stops failing.
  private static final int ATTEMPTS_MAX = 5;
  private static final Duration EVERY = Duration.ofMillis(70);
  private static final StoaConfig CONFIG =
      StoaConfig.of("file:simulated")
          .withLimits(
              Limits.standard()
                  // So little that objects leave memory all the time.
                  .withResidentBytesMax(4_000));

  private final String name;
  private final BiFunction<Chance, StoaConfig, SimulatedStore> opening;

  private TimersScenario(String name, BiFunction<Chance, StoaConfig, SimulatedStore> opening) {
    this.name = name;
    this.opening = opening;
  }

  /// Returns the scenario of a store on one disk.
  static TimersScenario embedded() {
    return new TimersScenario("timers", SimulatedStore::onOneDisk);
  }

  /// Returns the scenario of a store on three replicas, whose leader changes.
  static TimersScenario replicated() {
    return new TimersScenario("timers-replicated", SimulatedStore::onThreeReplicas);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    new Run(chance, trace, opening.apply(chance, CONFIG)).run();
  }

  /// The knowledge of a call that schedules or cancels.
  private enum Known {
    DONE,
    NOT_DONE,
    UNKNOWN
  }

  /// A timer that fires once.
  private static final class Single {
    private final int bell;
    private final Known scheduled;
    private Known cancelled = Known.NOT_DONE;

    private Single(int bell, Known scheduled) {
      this.bell = bell;
      this.scheduled = scheduled;
    }
  }

  /// A timer that fires again and again.
  private record Repeated(int bell, Known scheduled, Instant first, boolean each) {}

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final SimulatedStore store;
    private final List<SimulatedBell> bells = new ArrayList<>();
    private final Map<String, Single> singles = new TreeMap<>();
    private final Map<String, Repeated> repeated = new TreeMap<>();
    // When timers were in the store for certain.
    private final Map<String, Instant> scheduledAt = new HashMap<>();
    private final Chance code;
    private final boolean deploys;
    private long micros = 1_000_000;
    private int ids;

    Run(Chance chance, Trace trace, SimulatedStore store) {
      this.chance = chance.of("work");
      code = chance.of("code");
      deploys = code.percent(50);
      this.trace = trace;
      this.store = store;
    }

    void run() {
      recover();
      for (int turn = 0; turn < TURNS; turn++) {
        int dice = chance.below(100);
        try {
          if (dice < 40) schedule();
          else if (dice < 50) cancel();
          else if (dice < 55) repeat();
          else if (dice < 90) pass(Duration.ofMillis(chance.below(60)));
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
      pass(Duration.ofSeconds(10));
      Instant end = now();
      fireAll();
      check(end);
    }

    /// Makes a version of the class execute all later calls.
    private void deploy() {
      int version = code.below(VERSIONS);
      trace.add("deploy " + version);
      try {
        store.deploy(TallyVersions.bell(version));
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

    // ---- calls

    private Known call(Runnable call) {
      try {
        return store.await(() -> {
          call.run();
          return Known.DONE;
        });
      } catch (StoaException lost) {
        trace.add("lost " + lost.getClass().getSimpleName());
        restart();
        return Known.UNKNOWN;
      }
    }

    private void schedule() {
      int at = chance.below(BELLS);
      SimulatedBell bell = bells.get(at);
      Instant due = now().plusMillis(chance.between(-20, 150));
      String id = "t" + ids++;
      switch (chance.below(6)) {
        case 0 -> { // from another bell
          SimulatedBell other = bells.get((at + 1) % BELLS);
          single(id, at, call(() -> other.plan(id, due, bell)));
        }
        case 1 -> // a method that throws has scheduled all the same
            single(
                id,
                at,
                call(() -> {
                  try {
                    bell.planAndThrow(id, due);
                  } catch (IllegalArgumentException expected) {
                    Demand.that(id.equals(expected.getMessage()), id + " threw " + expected);
                  }
                }));
        case 2 -> single(id + "!", at, call(() -> bell.plan(id + "!", due, null)));
        case 3 -> { // its ring schedules another one
          Known known = call(() -> bell.plan(id + "+", due, null));
          single(id + "+", at, known);
          single(id, at, known);
        }
        case 4 -> // in a transaction, which rolls back or not
            single(
                id,
                at,
                chance.percent(50)
                    ? call(() ->
                        store
                            .stoa()
                            .<Boolean, RuntimeException>transact(() -> {
                              bell.plan(id, due, null);
                              return true;
                            }))
                    : rolledBack(() -> bell.plan(id, due, null)));
        default -> { // and moved to the time when it fires
          Known first = call(() -> bell.plan(id, due.plusMillis(30), null));
          Known moved = first == Known.DONE ? call(() -> bell.plan(id, due, null)) : Known.UNKNOWN;
          // The first time may have come before the timer was moved.
          if (due.plusMillis(30).isAfter(now()) && moved == Known.DONE) {
            single(id, at, first);
          }
        }
      }
    }

    private Known rolledBack(Runnable call) {
      var _ =
          call(() -> {
            try {
              store
                  .stoa()
                  .<Boolean, RuntimeException>transact(() -> {
                    call.run();
                    throw new IllegalArgumentException();
                  });
            } catch (IllegalArgumentException expected) {
              // rolled back
            }
          });
      return Known.NOT_DONE;
    }

    private void single(String id, int bell, Known scheduled) {
      trace.add(id + " " + bell + " " + scheduled);
      singles.put(id, new Single(bell, scheduled));
      boolean byRing = singles.containsKey(id + "+");
      if (scheduled == Known.DONE && !byRing) scheduledAt.put(id, now());
    }

    private void cancel() {
      if (singles.isEmpty()) return;
      String id = chance.of(List.copyOf(singles.keySet()));
      if (id.endsWith("+") || singles.containsKey(id + "+")) return;
      Single single = Objects.requireNonNull(singles.get(id));
      var was = new boolean[1];
      Known known = call(() -> was[0] = bells.get(single.bell).cancel(id));
      trace.add("cancel " + id + " " + known + " " + was[0]);
      if (known == Known.UNKNOWN) {
        if (single.cancelled == Known.NOT_DONE) single.cancelled = Known.UNKNOWN;
      } else if (was[0]) {
        single.cancelled = Known.DONE;
      }
    }

    private void repeat() {
      int at = chance.below(BELLS);
      boolean each = chance.percent(50);
      Instant first = now().plusMillis(chance.below(50));
      String id = "r" + ids++;
      Known known = call(() -> bells.get(at).repeat(id, first, EVERY, each));
      trace.add(id + " " + at + " " + each + " " + known);
      repeated.put(id, new Repeated(at, known, first, each));
    }

    // ---- failures

    private void restart() {
      trace.add("restart");
      store.restart();
      recover();
    }

    private void recover() {
      for (int attempt = 0; ; attempt++) {
        try {
          bells.clear();
          for (int i = 0; i < BELLS; i++) {
            bells.add(store.stoa().get(SimulatedBell.class, "bell " + i));
          }
          return;
        } catch (Unavailable failed) {
          if (attempt == ATTEMPTS_MAX) store.calm();
          store.restart();
        }
      }
    }

    // ---- the checks

    private void fireAll() {
      for (int i = 0; i < 200; i++) {
        store.tick();
        store.settle();
      }
    }

    private void check(Instant end) {
      var rings = new HashMap<String, List<SimulatedBell.Ring>>();
      for (int i = 0; i < BELLS; i++) {
        SimulatedBell bell = bells.get(i);
        List<SimulatedBell.Ring> ofBell = store.await(bell::rings);
        for (SimulatedBell.Ring ring : ofBell) {
          rings.computeIfAbsent(ring.timer(), _ -> new ArrayList<>()).add(ring);
          Demand.that(!ring.at().isBefore(ring.due()), "too early: " + ring);
        }
        checkOrder(ofBell);
      }
      singles.forEach((id, single) -> checkSingle(id, single, rings.getOrDefault(id, List.of())));
      repeated.forEach((id, one) -> checkRepeated(id, one, rings.getOrDefault(id, List.of()), end));
      trace.add("end " + rings.keySet() + " " + store.diskDigest());
    }

    /// A ring comes before another one that was due earlier only when it was due before the other
    /// one was scheduled for certain.
    private void checkOrder(List<SimulatedBell.Ring> rings) {
      for (int a = 0; a < rings.size(); a++) {
        for (int b = a + 1; b < rings.size(); b++) {
          SimulatedBell.Ring before = rings.get(a);
          SimulatedBell.Ring after = rings.get(b);
          Instant scheduled = scheduledAt.get(after.timer());
          if (scheduled == null || before.timer().startsWith("r")) continue;
          boolean inOrder =
              !after.due().isBefore(before.due()) || !scheduled.isBefore(before.due());
          Demand.that(inOrder, before + " rang before " + after + " of " + scheduled);
        }
      }
    }

    private void checkSingle(String id, Single single, List<SimulatedBell.Ring> rings) {
      int least = single.scheduled == Known.DONE && single.cancelled == Known.NOT_DONE ? 1 : 0;
      int most = single.scheduled == Known.NOT_DONE || single.cancelled == Known.DONE ? 0 : 1;
      Demand.that(
          rings.size() >= least && rings.size() <= most,
          "%s, scheduled %s and cancelled %s, rang %s"
              .formatted(id, single.scheduled, single.cancelled, rings));
    }

    private void checkRepeated(
        String id, Repeated timer, List<SimulatedBell.Ring> rings, Instant end) {
      if (rings.isEmpty() && timer.scheduled == Known.UNKNOWN) return;
      long last = Duration.between(timer.first, end).dividedBy(EVERY);
      long before = -1;
      for (SimulatedBell.Ring ring : rings) {
        long slot = Duration.between(timer.first, ring.at()).dividedBy(EVERY);
        Demand.that(timer.each || slot > before, id + " rang twice in a turn: " + rings);
        before = slot;
      }
      Demand.that(before == last, id + " rang last in turn " + before + " of " + last);
      Demand.that(
          !timer.each || rings.size() == last + 1,
          "%s rang %d times, not %d".formatted(id, rings.size(), last + 1));
      List<DurableTimer> listed =
          store.await(() -> store.stoa().timers().of(bells.get(timer.bell)));
      DurableTimer now =
          listed.stream().filter(one -> id.equals(one.name())).findFirst().orElseThrow();
      Demand.that(now.due().isAfter(end), id + " is due at " + now.due());
      Demand.that(now.fired() == rings.size(), id + " fired " + now.fired());
    }
  }
}
