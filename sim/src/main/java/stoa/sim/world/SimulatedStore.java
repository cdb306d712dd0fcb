package stoa.sim.world;

import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.log.Layout;
import stoa.objects.EmbeddedEngine;
import stoa.objects.Part;
import stoa.sim.Chance;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.store.threads.Threads;

/// A whole store on one thread, on a disk that can fail, with its clock and its order of work in
/// the hands of a seed. What a `file:` store does, it does in the same code.
///
/// Calls are made with [Stoa#async] and advance by [#step]; so several are under way at once, and
/// under way when the disk fails. What waits for its answer is made within [#await]. One owner, one
/// thread.
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
///     // … what was acknowledged must be there: see ExactlyOnce, Recorder and Linearizability
///   }
/// }
/// ```
///
/// Run it with [Campaign].
public final class SimulatedStore {
  /* So small that a short run fills segments, and writes and merges indexes. */
  private static final DeviceConfig DEVICE = new DeviceConfig(64 << 10, 4 << 10, 4 << 10, 8 << 10);

  private final Chance chance;
  private final StoaConfig config;
  private final Base base;
  private SimulatedThreads threads;
  private Stoa stoa;
  private long micros = 1_000_000;
  private int opened;

  /// Opens a store.
  ///
  /// @param config its URL is used in messages only
  public SimulatedStore(Chance chance, StoaConfig config, PoweredDisk disk) {
    this(chance, config, Base.of(new PoweredDevice(disk, DEVICE)));
  }

  /// Opens a store of several shards.
  ///
  /// @param config its URL is used in messages only
  public SimulatedStore(Chance chance, StoaConfig config, Layout layout, PoweredDisk disk) {
    this(chance, config, Base.of(new GlobalShard(layout, disk, DEVICE)));
  }

  /// Opens a store that several replicas keep, of which one leads. [#restart] ends the process of
  /// the leader, and maybe those of others, and makes one of all the leader.
  ///
  /// @param config its URL is used in messages only
  /// @param disks one for each replica
  public static SimulatedStore replicated(
      Chance chance, StoaConfig config, SimulatedShard.Trouble trouble, List<PoweredDisk> disks) {
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

  /// The store as it is open now: another one after each [#restart].
  public Stoa stoa() {
    return stoa;
  }

  /// Runs one of the pieces of work that wait: a batch is logged, some calls of an object are
  /// executed, or a replica gets what the leader has.
  ///
  /// @return false when nothing waits
  public boolean step() {
    boolean moved = base.step();
    return threads.step() || moved;
  }

  /// Runs what waits until nothing does.
  public void settle() {
    threads.settle();
  }

  /// Makes calls that wait for their answers. Everything under way is settled first.
  public <T> T await(Supplier<T> calls) {
    return threads.await(calls);
  }

  /// Moves the clock of the calls on.
  public void passTime(Duration time) {
    micros += time.toNanos() / 1_000;
  }

  /// Lets the time limit of calls run on by one unit of 50 ms. From within a call it makes that
  /// call a long one.
  public void tick() {
    threads.tick();
  }

  /// Lets the storage device do one step of its maintenance.
  ///
  /// @return false when there is nothing to do
  public boolean maintain() {
    return base.maintain();
  }

  /// Ends the process that has the store open, with whatever is under way, by a failure of its
  /// disk, and opens the store again on what survived. Proxies of before are of no more use.
  public void restart() {
    threads.close();
    base.restart();
    stoa = open();
  }

  /// A digest of every byte on the disk, in hexadecimal: the same for the same seed in every JVM.
  public String diskDigest() {
    return base.diskDigest();
  }

  /// Makes the disk fail no more by itself.
  public void calm() {
    base.calm();
  }

  /// What the store is on.
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

    static Base of(GlobalShard shards) {
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
    private final SimulatedShard shard;

    private Replicated(Chance chance, SimulatedShard.Trouble trouble, List<PoweredDisk> disks) {
      this.chance = chance.of("leaders");
      this.disks = List.copyOf(disks);
      shard = new SimulatedShard(chance.of("consensus"), trouble, disks, DEVICE);
      shard.elect(0);
    }

    @Override
    public Stoa open(StoaConfig config, Clock clock, Threads threads) {
      if (!shard.hasLeader()) shard.elect(chance.below(disks.size()));
      Device device = shard.device(shard.leaderIndex());
      return EmbeddedEngine.openReplicated(
          config, device, shard::leader, clock, threads, Part.WHOLE);
    }

    @Override
    public void restart() {
      if (shard.hasLeader()) shard.crash(shard.leaderIndex());
      for (int i = 0; i < disks.size(); i++) {
        if (chance.percent(CRASHING_PERCENT)) shard.crash(i);
      }
      shard.elect(chance.below(disks.size()));
    }

    @Override
    public boolean maintain() {
      return shard.hasLeader() && shard.device(shard.leaderIndex()).maintain();
    }

    @Override
    public boolean step() {
      return shard.step();
    }

    @Override
    public String diskDigest() {
      return disks.stream()
          .map(disk -> DiskDigest.of(disk.disk()))
          .collect(Collectors.joining(" "));
    }

    @Override
    public void calm() {
      shard.calm();
    }
  }
}
