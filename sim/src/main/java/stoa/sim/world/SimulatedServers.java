package stoa.sim.world;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.log.Streams;
import stoa.sim.Chance;
import stoa.sim.Trace;

/// The servers of a [SimulatedGroup], of which the simulation chooses the leader. A server that
/// another one replaces does not notice it, and has its store open until it dies. One owner.
public final class SimulatedServers implements GroupServers {
  /// A store at a server that leads, or led.
  private record Leader(int replica, Fibers.Life life) {}

  private final int number;
  private final Fibers fibers;
  private final Fibers.Life own;
  private final Chance trouble;
  private final Trace trace;
  private final Stores stores;
  private final SimulatedGroup replicas;

  // The leaders that are alive, and perhaps some that are not.
  private final List<Leader> all = new ArrayList<>();

  // The last one.
  private @Nullable Leader newest;
  private int lives;

  /// Creates up to three servers without a leader.
  public SimulatedServers(Place place, Stores stores) {
    number = place.number();
    fibers = place.fibers();
    own = fibers.life("group " + number);
    trouble = place.trouble();
    trace = place.trace();
    this.stores = stores;
    replicas =
        new SimulatedGroup(
            place.chance().of("shard " + number), // fixed seeds draw these choices by this name
            trouble.percent(50)
                ? SimulatedGroup.Trouble.NONE
                : new SimulatedGroup.Trouble(1, 10, 2),
            Stream.generate(() -> PoweredDisk.memory(64 << 20))
                .limit(trouble.between(1, 3))
                .toList(),
            PoweredDevice.SMALL);
    own.execute(() -> {
      while (true) {
        fibers.pause(trouble.between(1, 300_000));
        for (int i = trouble.below(8); i > 0; i--) {
          var _ = replicas.step();
        }
      }
    });
  }

  @Override
  public void begin() {
    own.execute(this::lead);
  }

  @Override
  public void replace() {
    own.execute(this::lead);
  }

  /// Makes another server the leader, or the same one after its death.
  private void lead() {
    int replica = trouble.below(replicas.size());
    trace.add("store " + number + " is led by " + replica);
    for (Leader one : all) {
      if (one.replica != replica || one.life.isOver()) continue;
      one.life.end();
      replicas.crash(replica);
    }
    all.removeIf(one -> one.life.isOver());
    var next = new Leader(replica, fibers.life("store " + number + "." + ++lives));
    all.add(next);
    newest = next;
    stores.open(next.life, () -> replicas.elect(replica));
  }

  @Override
  public void kill() {
    for (Leader one : all) {
      if (one.equals(newest) || one.life.isOver()) continue;
      one.life.end();
      replicas.crash(one.replica);
      return;
    }
  }

  @Override
  public void failed(Fibers.Life life) {
    if (!isNewest(life)) return;
    fibers.after(
        trouble.between(1, 2_000_000),
        () -> {
          if (isNewest(life)) replace();
        });
  }

  private boolean isNewest(Fibers.Life life) {
    Leader last = newest;
    return last != null && last.life.equals(life);
  }

  @Override
  public void calm() {
    replicas.calm();
  }

  @Override
  public Streams streams() {
    return replicas.leader().streams();
  }

  @Override
  public boolean isLevel() {
    replicas.settle();
    ReplicaContents.requireSame(
        IntStream.range(0, replicas.size()).mapToObj(replicas::replica).toList());
    return true;
  }
}
