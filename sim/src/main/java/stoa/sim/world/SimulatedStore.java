package stoa.sim.world;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.log.Layout;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.Part;
import stoa.sim.Chance;
import stoa.storage.Device;
import stoa.store.threads.Threads;

/// A whole store on one thread, on a disk that can fail; a seed determines its clock and its order
/// of work. It runs the code of a `file:` store.
///
/// A scenario makes calls with [Stoa#async], and [#step] advances them; so several are in progress
/// at once, and when the disk fails. It makes calls that wait for their answers within [#await].
/// One owner, one thread.
///
/// ```java
/// public final class StockScenario implements Scenario {
///   public void run(Chance chance, Trace trace) {
///     var store = new SimulatedStore(chance, StoaConfig.of("file:simulated"),
///         PoweredDisk.simulated(chance.of("disk"), 50));
///     Stock stock = store.await(() -> store.stoa().create(Stock.class, "apples"));
///     var taken = store.stoa().async(stock, s -> s.take(3));
///     store.step();
///     store.restart();
///     // … acknowledged calls must be there: see ExactlyOnce, Recorder and Linearizability
///   }
/// }
/// ```
///
/// Run it with [Campaign].
public final class SimulatedStore {
  private final Chance chance;
  private final StoaConfig config;
  private final Base base;
  private SimulatedThreads threads;
  private Stoa stoa;
  private long micros = 1_000_000;
  private int opened;

  /// Opens a store.
  ///
  /// @param config only messages use its URL
  public SimulatedStore(Chance chance, StoaConfig config, PoweredDisk disk) {
    this(chance, config, Base.of(new PoweredDevice(disk, PoweredDevice.SMALL)));
  }

  /// Opens a store of several shards.
  ///
  /// @param config only messages use its URL
  public SimulatedStore(Chance chance, StoaConfig config, Layout layout, PoweredDisk disk) {
    this(chance, config, Base.of(new PoweredGlobalLog(layout, disk, PoweredDevice.SMALL)));
  }

  /// Opens a store on one disk that loses power, with seeds of its own.
  ///
  /// @param config its URL is used in messages only
  public static SimulatedStore onOneDisk(Chance chance, StoaConfig config) {
    return new SimulatedStore(chance, config, PoweredDisk.simulated(chance.of("disk"), 150));
  }

  /// Opens a store on three replicas, see [#replicated].
  ///
  /// @param config its URL is used in messages only
  public static SimulatedStore onThreeReplicas(Chance chance, StoaConfig config) {
    return replicated(
        chance,
        config,
        SimulatedGroup.Trouble.STANDARD,
        List.of(
            PoweredDisk.simulated(chance.of("a"), 200),
            PoweredDisk.simulated(chance.of("b"), 200),
            PoweredDisk.simulated(chance.of("c"), 200)));
  }

  /// Opens a store that several replicas keep, of which one leads. [#restart] ends the process of
  /// the leader, and maybe those of others, and makes one of all the leader.
  ///
  /// @param config its URL is used in messages only
  /// @param disks one for each replica
  public static SimulatedStore replicated(
      Chance chance, StoaConfig config, SimulatedGroup.Trouble trouble, List<PoweredDisk> disks) {
    return new SimulatedStore(chance, config, new Replicated(chance, trouble, disks));
  }

  private SimulatedStore(Chance chance, StoaConfig config, Base base) {
    this.chance = chance.of("store");
    this.config = config;
    this.base = base;
    threads = new SimulatedThreads(chance);
    stoa = open();
  }

  private Stoa open() {
    while (true) {
      threads = new SimulatedThreads(chance.of("threads " + opened++));
      try {
        return base.open(config, () -> micros, threads);
      } catch (Unavailable failed) {
        base.restart();
      }
    }
  }

  /// Returns the present store: another one after each [#restart].
  public Stoa stoa() {
    return stoa;
  }

  /// Runs one of the waiting pieces of work: the store logs a batch, executes some calls of an
  /// object, or brings a replica up to date with the leader.
  ///
  /// @return false when nothing waits
  public boolean step() {
    boolean moved = base.step();
    return threads.step() || moved;
  }

  /// Runs the waiting work until there is none.
  public void settle() {
    threads.settle();
  }

  /// Makes calls that wait for their answers. It first settles everything in progress.
  public <T> T await(Supplier<T> calls) {
    return threads.await(calls);
  }

  /// Makes a version of a class execute all later calls.
  ///
  /// @param files its class files by their names
  /// @throws stoa.StoaException when the store refuses it, or fails meanwhile
  public void deploy(Map<String, byte[]> files) {
    var _ = await(() -> ObjectService.of(stoa(), _ -> true).code().deploy(files, _ -> {}));
  }

  /// Advances the clock of the calls.
  public void passTime(Duration time) {
    micros += time.toNanos() / 1_000;
  }

  /// Advances the time limit of calls by one unit of 50 ms. From within a call it makes that call a
  /// long one.
  public void tick() {
    threads.tick();
  }

  /// Lets the storage device do one step of its maintenance.
  ///
  /// @return false when there is nothing to do
  public boolean maintain() {
    return base.maintain();
  }

  /// Ends the process that has the store open, with all work in progress, by a failure of its disk,
  /// and opens the store again on the surviving data. Earlier proxies are unusable.
  public void restart() {
    threads.close();
    base.restart();
    stoa = open();
  }

  /// Returns a digest of every byte on the disk, in hexadecimal: the same for the same seed in
  /// every JVM.
  public String diskDigest() {
    return base.diskDigest();
  }

  /// Stops the disk's own failures.
  public void calm() {
    base.calm();
  }

  /// The base of a store: a device, the shards of one process, or a group.
  private interface Base {
    Stoa open(StoaConfig config, Clock clock, Threads threads);

    void restart();

    boolean maintain();

    /// Lets one thing happen among the replicas.
    ///
    /// @return false when there is nothing
    default boolean step() {
      return false;
    }

    String diskDigest();

    void calm();

    static Base of(PoweredDevice device) {
      return new Base() {
        @Override
        public Stoa open(StoaConfig config, Clock clock, Threads threads) {
          return EmbeddedEngine.open(config, device::device, clock, threads);
        }

        @Override
        public void restart() {
          device.restart();
        }

        @Override
        public boolean maintain() {
          return device.device().maintain();
        }

        @Override
        public String diskDigest() {
          return device.diskDigest();
        }

        @Override
        public void calm() {
          device.calm();
        }
      };
    }

    static Base of(PoweredGlobalLog shards) {
      return new Base() {
        @Override
        public Stoa open(StoaConfig config, Clock clock, Threads threads) {
          return EmbeddedEngine.openGlobal(config, shards::log, clock, threads);
        }

        @Override
        public void restart() {
          shards.restart();
        }

        @Override
        public boolean maintain() {
          return shards.maintain();
        }

        @Override
        public String diskDigest() {
          return shards.diskDigest();
        }

        @Override
        public void calm() {
          shards.calm();
        }
      };
    }
  }

  /// Several replicas that agree.
  private static final class Replicated implements Base {
    private static final int CRASHING_PERCENT = 30;

    private final Chance chance;
    private final List<PoweredDisk> disks;
    private final SimulatedGroup group;

    private Replicated(Chance chance, SimulatedGroup.Trouble trouble, List<PoweredDisk> disks) {
      this.chance = chance.of("leaders");
      this.disks = List.copyOf(disks);
      group = new SimulatedGroup(chance.of("consensus"), trouble, disks, PoweredDevice.SMALL);
      group.elect(0);
    }

    @Override
    public Stoa open(StoaConfig config, Clock clock, Threads threads) {
      if (!group.hasLeader()) group.elect(chance.below(disks.size()));
      Device device = group.device(group.leaderIndex());
      return EmbeddedEngine.openReplicated(
          config, device, group::leader, clock, threads, Part.WHOLE);
    }

    @Override
    public void restart() {
      if (group.hasLeader()) group.crash(group.leaderIndex());
      for (int i = 0; i < disks.size(); i++) {
        if (chance.percent(CRASHING_PERCENT)) group.crash(i);
      }
      group.elect(chance.below(disks.size()));
    }

    @Override
    public boolean maintain() {
      return group.hasLeader() && group.device(group.leaderIndex()).maintain();
    }

    @Override
    public boolean step() {
      return group.step();
    }

    @Override
    public String diskDigest() {
      return disks.stream()
          .map(disk -> DiskDigest.of(disk.disk()))
          .collect(Collectors.joining(" "));
    }

    @Override
    public void calm() {
      group.calm();
    }
  }
}
