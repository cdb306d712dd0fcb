package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.log.LocalBatchLog;
import stoa.log.Streams;
import stoa.objects.EmbeddedEngine;
import stoa.objects.Part;
import stoa.sim.Chance;
import stoa.sim.world.ShippedLog;
import stoa.sim.world.SimulatedThreads;
import stoa.storage.Device;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.MemoryDisk;
import stoa.store.replicas.Divergence;

/// The collections of the box at a replica that follows.
class StandbyCollectionsTest {
  private static final StoaConfig CONFIG = StoaConfig.of("file:simulated");

  private static Device device() {
    return Device.open(new MemoryDisk(256 << 20), DeviceConfig.standard(), Runnable::run);
  }

  @Test
  void collectionsHaveTheSameCheckpointsAtAReplicaThatFollows() {
    Device one = device();
    Device other = device();
    var log = new ShippedLog(new LocalBatchLog(one));
    var copied = new LocalBatchLog(other);
    var leads = new SimulatedThreads(new Chance(1));
    var follows = new SimulatedThreads(new Chance(2));
    var told = new ArrayList<Divergence>();
    Stoa stoa =
        EmbeddedEngine.openReplicated(CONFIG, one, () -> log, () -> 1_000_000, leads, Part.WHOLE);
    var standby =
        EmbeddedEngine.openStandby(
            CONFIG, other, new Streams(other), () -> 1_000_000, follows, Part.WHOLE, told::add);
    for (int round = 0; round < 10; round++) {
      int begin = round * 300;
      leads.await(() -> {
        var map = stoa.map("map", String.class, String.class);
        var sorted = stoa.navigableMap("sorted", Integer.class, String.class);
        var list = stoa.list("list", String.class);
        for (int i = begin; i < begin + 300; i++) {
          String text = "x".repeat(i % 13 * 30) + i;
          map.put("key" + i * 31 % 977, text);
          sorted.put(i * 7 % 500, text);
          list.add(text);
          if (i % 4 == 0) map.remove("key" + i);
          if (list.size() > 200) list.remove(100);
        }
        return true;
      });
      for (int i = 0; i < 10; i++) {
        leads.settle();
        leads.tick();
      }
      leads.settle();
      boolean more = true;
      while (more) {
        more = log.ship(copied, standby::applied);
        follows.settle();
      }
    }
    assertEquals(new ArrayList<Divergence>(), told);
    assertTrue(standby.progress().compared() > 10, standby.progress()::toString);
    var made = checkpoints(one, log);
    var same = checkpoints(other, log);
    assertTrue(made.size() > 5, made.keySet()::toString);
    assertEquals(made.keySet(), same.keySet());
    made.forEach((where, bytes) -> assertArrayEquals(bytes, same.get(where), where));
  }

  private static Map<String, byte[]> checkpoints(Device device, ShippedLog log) {
    var streams = new Streams(device);
    var found = new TreeMap<String, byte[]>();
    for (var stream : log.seen()) {
      Streams.At at = streams.lastCheckpoint(stream, Long.MAX_VALUE);
      while (at != null) {
        found.put(stream + " " + at.address(), at.data());
        at = streams.lastCheckpoint(stream, at.address() - 1);
      }
    }
    return found;
  }
}
