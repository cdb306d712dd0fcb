package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import stoa.log.BatchLog;
import stoa.log.Streams;
import stoa.sim.Chance;
import stoa.storage.disk.DeviceConfig;

/// The log of a [SimulatedGroup]: a restart crashes the group's leader and perhaps others, and
/// elects any of them. One owner.
public final class PoweredReplicatedLog implements PoweredLog {
  private final Chance chance;
  private final SimulatedGroup group;
  private BatchLog leader;

  /// Creates the log of a group with one replica on each disk; the first leads.
  public PoweredReplicatedLog(
      Chance chance, SimulatedGroup.Trouble trouble, List<PoweredDisk> disks, DeviceConfig config) {
    this.chance = chance.of("restarts");
    group = new SimulatedGroup(chance.of("consensus"), trouble, disks, config);
    leader = group.elect(0);
  }

  @Override
  public BatchLog leader() {
    return leader;
  }

  @Override
  public boolean step() {
    return group.step();
  }

  @Override
  public void restart() {
    if (group.hasLeader()) group.crash(group.leaderIndex());
    for (int i = 0; i < group.size(); i++) {
      if (chance.percent(30)) group.crash(i);
    }
    leader = group.elect(chance.below(group.size()));
  }

  @Override
  public List<Streams> replicas() {
    List<Streams> streams = new ArrayList<>();
    for (int i = 0; i < group.size(); i++) streams.add(group.streams(i));
    return streams;
  }

  @Override
  public void calm() {
    group.calm();
  }

  @Override
  public void close() {
    group.close();
  }
}
