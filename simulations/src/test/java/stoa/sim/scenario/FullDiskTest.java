package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import stoa.History;
import stoa.StoaConfig;
import stoa.sim.Chance;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.SimulatedSeries;
import stoa.sim.world.SimulatedStore;
import stoa.storage.disk.SimulatedDisk;

/// A store whose disk is full now and then, and which goes on.
class FullDiskTest {
  private static final StoaConfig CONFIG = StoaConfig.of("file:simulated");

  @Test
  void thePastShowsWhatNestedCallsAnsweredThoughThereWasNoRoomForIt() {
    int refused = 0;
    for (int seed = 0; seed < 40; seed++) refused += pastAfterFullDisk(new Chance(seed));
    assertTrue(refused >= 40, "refused " + refused);
  }

  /* Answers how many calls found no room. */
  private static int pastAfterFullDisk(Chance chance) {
    var power = PoweredDisk.simulated(chance, 0);
    var disk = (SimulatedDisk) power.disk();
    var store = new SimulatedStore(chance, CONFIG, power);
    var one = store.await(() -> store.stoa().create(SimulatedSeries.class, "one"));
    var other = store.await(() -> store.stoa().create(SimulatedSeries.class, "other"));
    var third = store.await(() -> store.stoa().create(SimulatedSeries.class, "third"));
    var calls = new ArrayList<CompletableFuture<List<String>>>();
    for (int i = 0; i < 60; i++) {
      String element = i + " " + "x".repeat(chance.below(3_000));
      disk.limit(chance.percent(80) ? disk.bytes() : Long.MAX_VALUE / 2);
      calls.add(store.stoa().async(one, series -> series.appendBehind(other, element)));
      if (chance.percent(50))
        calls.add(store.stoa().async(third, series -> series.append(element)));
      for (int step = chance.below(5); step > 0; step--) store.step();
    }
    store.settle();
    int refused = 0;
    for (var call : calls) if (call.isCompletedExceptionally()) refused++;
    disk.limit(Long.MAX_VALUE / 2);
    List<String> now = store.await(one::elements);
    History<SimulatedSeries> past = store.stoa().history(one);
    long last = store.await(past::version);
    List<String> before = List.of();
    for (long version = 1; version <= last; version++) {
      long at = version;
      List<String> then = store.await(() -> past.at(at).elements());
      assertEquals(now.subList(0, then.size()), then);
      assertTrue(then.size() >= before.size(), "version " + version);
      before = then;
    }
    assertEquals(now, before);
    return refused;
  }
}
