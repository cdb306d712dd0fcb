package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import stoa.log.BatchLog;
import stoa.log.Streams;
import stoa.sim.Chance;
import stoa.storage.disk.DeviceConfig;

/// A [SimulatedShard] under test: a restart crashes its leader and perhaps others, and elects any
/// of them. One owner.
public final class ReplicatedShard implements ShardUnderTest {
  private final Chance chance;
  private final SimulatedShard shard;
  private BatchLog leader;

  /// Creates a shard with one replica on each disk; the first leads.
  public ReplicatedShard(
      Chance chance, SimulatedShard.Trouble trouble, List<PoweredDisk> disks, DeviceConfig config) {
    this.chance = chance.of("restarts");
    shard = new SimulatedShard(chance.of("consensus"), trouble, disks, config);
    leader = shard.elect(0);
  }

  @Override
  public BatchLog leader() {
    return leader;
  }

  @Override
  public boolean step() {
    return shard.step();
  }

  @Override
  public void restart() {
    if (shard.hasLeader()) shard.crash(shard.leaderIndex());
    for (int i = 0; i < shard.replicas(); i++) {
      if (chance.percent(30)) shard.crash(i);
    }
    leader = shard.elect(chance.below(shard.replicas()));
  }

  @Override
  public List<Streams> replicas() {
    List<Streams> streams = new ArrayList<>();
    for (int i = 0; i < shard.replicas(); i++) streams.add(shard.streams(i));
    return streams;
  }

  @Override
  public void calm() {
    shard.calm();
  }

  @Override
  public void close() {
    shard.close();
  }
}
