package stoa.test;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.opentest4j.AssertionFailedError;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.scenario.Scenario;
import stoa.sim.scenario.SimulatedRun;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.SimulatedGroup;
import stoa.sim.world.SimulatedStore;

/// Runs a program's work with its shared objects through crashes and failures of disks, and with
/// [#replicas(int)] through changes of the leader, at moments that a seed decides: also in the
/// middle of a call, of a commit and of the recovery. After each recovery it checks what must
/// always hold.
///
/// ```java
/// @Test
/// void noMoneyComesOrGoes() {
///   Simulation.of(Payments::new).seeds(200).run();
/// }
///
/// static final class Payments implements SimulatedWork {
///   public void begin(Stoa stoa) { … }
///   public void step(Stoa stoa, RandomGenerator random) {
///     stoa.transact(() -> { … });
///   }
///   public void check(Stoa stoa) { assertEquals(100, …); }
/// }
/// ```
///
/// The whole store is real, on one thread, without real disks or time. Equal seeds give equal runs,
/// in every JVM. A failure names its seed, and the line that runs this seed alone.
///
/// Immutable; a run belongs to the thread that calls [#run()].
public final class Simulation {
  /// The name of the system property that makes all simulations run one seed alone.
  public static final String SEED_PROPERTY = "stoa.test.seed";

  private static final int SEEDS = 100;
  private static final int STEPS = 60;
  private static final Duration TIME_MAX = Duration.ofSeconds(20);
  private static final int CRASHES_PERCENT = 8;
  private static final int REPLICAS_MAX = 5;
  private static final int WORK_MILLIS_MAX = 10;

  // After how many changes a disk fails by itself, in the mean.
  private static final int CHANGES_MEAN = 60;

  // How often a recovery may fail before the disks are left in peace.
  private static final int ATTEMPTS_MAX = 6;

  private static final int SHOWN_MAX = 12;

  private final Supplier<? extends SimulatedWork> work;
  private final long firstSeed;
  private final long lastSeed;
  private final int steps;
  private final int replicas;
  private final Duration timeMax;
  private final StoaConfig config;

  private Simulation(
      Supplier<? extends SimulatedWork> work,
      long firstSeed,
      long lastSeed,
      int steps,
      int replicas,
      Duration timeMax,
      StoaConfig config) {
    this.work = work;
    this.firstSeed = firstSeed;
    this.lastSeed = lastSeed;
    this.steps = steps;
    this.replicas = replicas;
    this.timeMax = timeMax;
    this.config = config;
  }

  /// Returns a simulation of 100 seeds with 60 steps each, on one disk, for at most 20 s.
  ///
  /// @param work makes the work of one seed
  public static Simulation of(Supplier<? extends SimulatedWork> work) {
    return new Simulation(work, 0, SEEDS - 1, STEPS, 1, TIME_MAX, StoaConfig.of("file:simulated"));
  }

  /// Returns this simulation with the seeds from 0.
  ///
  /// @param count how many
  public Simulation seeds(int count) {
    if (count < 1) throw new IllegalArgumentException(count + " seeds; give 1 or more");
    return new Simulation(work, 0, count - 1L, steps, replicas, timeMax, config);
  }

  /// Returns this simulation with one seed, as a failure names it.
  public Simulation seed(long seed) {
    return new Simulation(work, seed, seed, steps, replicas, timeMax, config);
  }

  /// Returns this simulation with another number of steps for each seed.
  public Simulation steps(int count) {
    if (count < 1) throw new IllegalArgumentException(count + " steps; give 1 or more");
    return new Simulation(work, firstSeed, lastSeed, count, replicas, timeMax, config);
  }

  /// Returns this simulation with a store that several replicas keep, each on a disk of its own.
  /// When the leader ends, one of the replicas leads.
  ///
  /// @param count 1 to 5
  public Simulation replicas(int count) {
    if (count < 1 || count > REPLICAS_MAX) {
      throw new IllegalArgumentException(count + " replicas; give 1 to " + REPLICAS_MAX);
    }
    return new Simulation(work, firstSeed, lastSeed, steps, count, timeMax, config);
  }

  /// Returns this simulation with another limit for its time. It begins no seed after that time,
  /// and one seed takes at most 20 s.
  public Simulation timeMax(Duration time) {
    return new Simulation(work, firstSeed, lastSeed, steps, replicas, time, config);
  }

  /// Returns this simulation with other types and limits of the store.
  ///
  /// @param value the simulation ignores its URL
  public Simulation config(StoaConfig value) {
    return new Simulation(
        work, firstSeed, lastSeed, steps, replicas, timeMax, value.withUrl("file:simulated"));
  }

  /// Runs the seeds one after the other, until all have passed, one has failed, or the time is
  /// over.
  ///
  /// @return how many seeds have passed
  /// @throws AssertionError when a check has failed; its message has the seed, what happened
  ///   before, and the line that runs the seed again
  public int run() {
    Long only = Long.getLong(SEED_PROPERTY);
    long seed = only == null ? firstSeed : only;
    long last = only == null ? lastSeed : only;
    long end = System.nanoTime() + timeMax.toNanos();
    var scenario = new Worked();
    int passed = 0;
    do {
      switch (SimulatedRun.of(scenario, seed)) {
        case SimulatedRun.Passed _ -> passed++;
        case SimulatedRun.Failed failed -> throw told(seed, failed);
      }
    } while (seed++ < last && System.nanoTime() - end < 0);
    return passed;
  }

  private static AssertionFailedError told(long seed, SimulatedRun.Failed failed) {
    List<String> before = failed.trace().last();
    List<String> shown = before.subList(Math.max(0, before.size() - SHOWN_MAX), before.size());
    return new AssertionFailedError(
        ("seed %d: %s%nBefore it happened:%n  %s%nTo replay it, run this test with .seed(%1$d) before"
                + " .run(), or with -D%s=%1$d")
            .formatted(seed, failed.cause(), String.join("\n  ", shown), SEED_PROPERTY),
        failed.cause());
  }

  /// The runs, as the simulator knows them.
  private final class Worked implements Scenario {
    @Override
    public String name() {
      return "work";
    }

    @Override
    public void run(Chance chance, Trace trace) {
      new Run(chance, trace).run();
    }
  }

  private final class Run {
    private final Chance chance;
    private final Trace trace;
    private final SimulatedStore store;
    private final SimulatedWork working = work.get();
    private final RandomGenerator random;

    private Run(Chance chance, Trace trace) {
      this.chance = chance.of("steps");
      this.trace = trace;
      random = new SplittableRandom(chance.of("work").any());
      List<PoweredDisk> disks =
          IntStream.range(0, replicas)
              .mapToObj(i -> PoweredDisk.simulated(chance.of("disk " + i), CHANGES_MEAN))
              .toList();
      store =
          replicas == 1
              ? new SimulatedStore(chance, config, disks.getFirst())
              : SimulatedStore.replicated(chance, config, SimulatedGroup.Trouble.STANDARD, disks);
    }

    void run() {
      until("begins", () -> working.begin(store.stoa()));
      for (int step = 1; step <= steps; step++) {
        store.passTime(Duration.ofMillis(chance.below(WORK_MILLIS_MAX)));
        for (int i = chance.below(3); i > 0; i--) store.step();
        trace.add("step " + step);
        boolean works = works(() -> working.step(store.stoa(), random));
        if (!works || chance.percent(CRASHES_PERCENT)) crash();
      }
      store.calm();
      crash();
    }

    private void crash() {
      trace.add("crash");
      store.restart();
      until("recovers", () -> working.check(store.stoa()));
    }

    /// Does something until the store does not fail meanwhile.
    private void until(String what, Runnable task) {
      for (int attempt = 1; !works(task); attempt++) {
        trace.add("crash while it " + what);
        if (attempt == ATTEMPTS_MAX) store.calm();
        if (attempt > 2 * ATTEMPTS_MAX) {
          throw new AssertionError("the store fails again and again though its disk does not");
        }
        store.restart();
      }
    }

    /// Does something.
    ///
    /// @return false when the store has failed meanwhile
    private boolean works(Runnable task) {
      try {
        Object _ =
            store.await(() -> {
              task.run();
              return true;
            });
        return true;
      } catch (Unavailable | UnknownOutcome failed) {
        trace.add("the store fails: " + failed.getMessage());
        return false;
      } catch (StoaException refused) {
        if (isFailure(refused.getCause())) return false;
        throw refused;
      }
    }

    private static boolean isFailure(@Nullable Throwable cause) {
      return cause instanceof Unavailable || cause instanceof UnknownOutcome;
    }
  }
}
