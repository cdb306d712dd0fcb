package stoa.sim.scenario;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.objects.CodeService;
import stoa.objects.ObjectService;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.SimulatedStore;
import stoa.sim.world.SimulatedTally;
import stoa.sim.world.TallyVersions;

/// An operator deploys and takes back versions of a class while clients call its objects, the disk
/// fails, and programs with one of the versions open the store again. The active version must have
/// executed every addition once, and every version of every object must stay unchanged.
final class CodeScenario implements Scenario {
  private static final int TALLIES = 3;
  private static final int FACTORS = 5;
  private static final int TURNS = 120;

  // The number of recoveries that may fail before the disk stops failing.
  private static final int ATTEMPTS_MAX = 5;
  private static final StoaConfig CONFIG =
      StoaConfig.of("file:simulated")
          // So little that objects leave memory all the time.
          .withLimits(Limits.standard().withResidentBytesMax(4_000));

  /// Loaded when a run begins, since it opens a store.
  private static final class Factors {
    static final Map<String, Integer> BY_NAME = byName();

    /// Returns the factors of versions, by the names that a store gives to these.
    private static Map<String, Integer> byName() {
      var factors = new HashMap<String, Integer>();
      try (Stoa stoa = Stoa.open("memory:")) {
        CodeService code = ObjectService.of(stoa, _ -> true).code();
        for (int factor = 1; factor <= FACTORS; factor++) {
          var _ = code.deploy(TallyVersions.version(factor), _ -> {});
          factors.put(code.versions().getLast().version(), factor);
        }
      }
      return factors;
    }
  }

  @Override
  public String name() {
    return "code";
  }

  @Override
  public void run(Chance chance, Trace trace) {
    var store = new SimulatedStore(chance, CONFIG, PoweredDisk.simulated(chance.of("disk"), 120));
    new Run(chance.of("work"), trace, store).run();
  }

  /// @param factor the active factor when the client asked for the addition
  private record Addition(
      String id, int tally, int factor, CompletableFuture<SimulatedTally.Added> future) {}

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final SimulatedStore store;
    private final List<Addition> asked = new ArrayList<>();
    private final Map<String, Addition> acknowledged = new TreeMap<>();

    // By tally: the known sums of its versions.
    private final List<Map<Long, Long>> sums = new ArrayList<>();
    private final List<SimulatedTally> tallies = new ArrayList<>();
    private int active = 1;
    private int ids;

    Run(Chance chance, Trace trace, SimulatedStore store) {
      this.chance = chance;
      this.trace = trace;
      this.store = store;
      for (int i = 0; i < TALLIES; i++) sums.add(new TreeMap<>());
    }

    void run() {
      restart();
      for (int turn = 0; turn < TURNS; turn++) {
        int dice = chance.below(100);
        try {
          if (dice < 45) add();
          else if (dice < 75) step();
          else if (dice < 83) deploy();
          else if (dice < 86) rollBack();
          else if (dice < 95) check();
          else restart();
          collect();
        } catch (Unavailable failed) {
          trace.add("failed " + failed.getClass().getSimpleName());
          restart();
        }
      }
      store.calm();
      restart();
      check();
      trace.add("end " + store.diskDigest());
    }

    private void step() {
      for (int i = chance.between(1, 4); i > 0; i--) store.step();
    }

    private void add() {
      int which = chance.below(TALLIES);
      int other = (which + 1) % TALLIES;
      String id = "i" + ids++;
      String ballast = "x".repeat(chance.of(List.of(0, 0, 9_000)));
      long amount = chance.between(1, 9);
      SimulatedTally to = tallies.get(other);
      boolean both = chance.percent(30);
      var future =
          store
              .stoa()
              .async(
                  tallies.get(which),
                  t -> both ? t.addBoth(id, amount, ballast, to) : t.add(id, amount, ballast));
      asked.add(new Addition(id, which, active, future));
    }

    private void collect() {
      for (Addition one : List.copyOf(asked)) {
        if (!one.future().isDone()) continue;
        asked.remove(one);
        try {
          SimulatedTally.Added added = one.future().join();
          trace.add(one.id() + " at " + added);
          acknowledged.put(one.id(), one);
          sums.get(one.tally()).put(added.version(), added.sum());
        } catch (CompletionException failed) {
          if (!(failed.getCause() instanceof StoaException told)) {
            throw new AssertionError("a call fails", failed);
          }
          trace.reached("a call ends with " + told.getClass().getSimpleName());
        }
      }
    }

    private CodeService code() {
      return ObjectService.of(store.stoa(), _ -> true).code();
    }

    private void deploy() {
      int factor = chance.between(1, FACTORS);
      store.settle();
      collect();
      boolean fits =
          store.await(() ->
              code().deploy(TallyVersions.version(factor), _ -> {}).stream()
                  .allMatch(CodeService.Finding::fits));
      Demand.that(fits, "the version with the factor " + factor + " fits");
      look();
      Demand.that(active == factor, "the factor is " + active + ", and " + factor + " is deployed");
      trace.reached("a deployment");
    }

    private void rollBack() {
      store.settle();
      collect();
      List<CodeService.TypeVersion> versions = store.await(() -> code().versions());
      if (versions.size() < 2) return;
      String before = versions.get(versions.size() - 2).version();
      String type = versions.getLast().type();
      boolean fits =
          store.await(() ->
              code().deploy(code().files(type, before), Set.of(type), _ -> {}).stream()
                  .allMatch(CodeService.Finding::fits));
      Demand.that(fits, "the version before fits");
      look();
      trace.reached("a rollback");
    }

    /// Finds out which factor is active.
    private void look() {
      for (CodeService.TypeVersion version : store.await(() -> code().versions())) {
        if (version.active())
          active = Objects.requireNonNull(Factors.BY_NAME.get(version.version()));
      }
    }

    private void restart() {
      for (int attempt = 0; ; attempt++) {
        if (attempt == ATTEMPTS_MAX) store.calm();
        trace.reached("a restart");
        store.restart();
        collect();
        asked.clear();
        tallies.clear();
        try {
          for (int i = 0; i < TALLIES; i++) {
            String key = "t" + i;
            tallies.add(store.await(() -> store.stoa().get(SimulatedTally.class, key)));
          }
          look();
          check();
          return;
        } catch (Unavailable failed) {
          trace.reached("the disk fails during a recovery");
        }
      }
    }

    private void check() {
      for (int i = 0; i < TALLIES; i++) {
        int index = i;
        var found = new HashMap<String, SimulatedTally.Line>();
        long sum = 0;
        SimulatedTally tally = tallies.get(i);
        for (var line : store.await(tally::lines)) {
          Demand.that(found.put(line.id(), line) == null, line.id() + " is added once");
          sum += line.amount() * line.factor();
        }
        Demand.that(sum == store.await(tally::sum), "the sum is that of the lines");
        acknowledged.forEach((id, one) -> {
          if (one.tally() != index) return;
          SimulatedTally.Line line = found.get(id);
          if (line == null) throw new AssertionError(id + " was acknowledged, and is not there");
          Demand.that(
              line.factor() == one.factor(),
              id
                  + " was added by the factor "
                  + line.factor()
                  + ", and "
                  + one.factor()
                  + " was active");
        });
        Map<Long, Long> told = sums.get(i);
        if (told.isEmpty()) continue;
        long version = chance.of(List.copyOf(told.keySet()));
        long then = store.await(() -> store.stoa().history(tally).at(version).sum());
        long sumThen = Objects.requireNonNull(told.get(version));
        Demand.that(
            then == sumThen, "version " + version + " has the sum " + sumThen + ", not " + then);
        trace.reached("a past version is read");
      }
    }
  }
}
