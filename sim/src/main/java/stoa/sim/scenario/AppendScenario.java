package stoa.sim.scenario;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import stoa.Appended;
import stoa.Follower;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.LogSlot;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StreamEntry;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.log.Layout;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.SimulatedStore;

/// Clients append to streams, alone and to several at once, while the disk of the store fails and
/// the store restarts. Acknowledged appends must be there once, whole, at their addresses; streams
/// must be dense and in log order; the log must hold exactly the entries of the streams; and a
/// follower must see every acknowledged entry once, in order.
final class AppendScenario implements Scenario {
  private static final int STREAMS = 5;
  private static final int TURNS = 80;
  // The number of recoveries that may fail before the disk stops failing.
  private static final int ATTEMPTS_MAX = 5;
  private static final StoaConfig CONFIG = StoaConfig.of("file:simulated");

  private final String name;
  private final Layout layout;

  AppendScenario(String name, Layout layout) {
    this.name = name;
    this.layout = layout;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    PoweredDisk disk = PoweredDisk.simulated(chance.of("disk"), 40 * layout.shards());
    new Run(
            chance.of("work"),
            trace,
            layout.shards() == 1
                ? new SimulatedStore(chance, CONFIG, disk)
                : new SimulatedStore(chance, CONFIG, layout, disk))
        .run();
  }

  private record PendingAppend(
      String id, Set<StreamKey> streams, CompletableFuture<Appended> future) {}

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final SimulatedStore store;
    private final List<StreamKey> keys = new ArrayList<>();
    private final List<PendingAppend> asked = new ArrayList<>();
    private final Map<String, Appended> acknowledged = new TreeMap<>();
    private final Map<String, Set<StreamKey>> possible = new TreeMap<>();
    private final Set<String> refused = new HashSet<>();
    private Follower<LogSlot.Written> follower;
    private LogAddress followed = StreamStore.BEGINNING;
    private final List<String> seen = new ArrayList<>();
    private int ids;

    Run(Chance chance, Trace trace, SimulatedStore store) {
      this.chance = chance;
      this.trace = trace;
      this.store = store;
      for (int i = 0; i < STREAMS; i++) keys.add(StreamKey.of("stream " + i));
      follower = streams().follow(followed);
    }

    private StreamStore streams() {
      Stoa stoa = store.stoa();
      return stoa.streams();
    }

    void run() {
      for (int turn = 0; turn < TURNS; turn++) {
        int dice = chance.below(100);
        try {
          if (dice < 55) append();
          else if (dice < 85) step();
          else if (dice < 92) follow();
          else if (dice < 96) check();
          else restart();
          collect();
        } catch (Unavailable failed) {
          trace.add("failed " + failed.getClass().getSimpleName());
          restart();
        }
      }
      store.calm();
      restart();
      append();
      store.settle();
      collect();
      check();
      follow();
      List<String> log = new ArrayList<>();
      streams()
          .scan(
              StreamStore.BEGINNING,
              streams().tail(),
              slot -> {
                log.addAll(ids(slot));
                return true;
              });
      Demand.that(
          log.equals(seen), "who follows sees the whole log once: " + log + ", not " + seen);
      trace.add("end " + log);
    }

    private void step() {
      for (int i = chance.between(1, 4); i > 0; i--) store.step();
    }

    private void append() {
      String id = "i" + ids++;
      var data = new TreeMap<StreamKey, byte[]>();
      for (int i = chance.of(List.of(1, 1, 2, 4)); i > 0; i--) {
        String text = id + " " + "x".repeat(chance.of(List.of(0, 20, 2_000)));
        data.put(chance.of(keys), text.getBytes(StandardCharsets.UTF_8));
      }
      possible.put(id, Set.copyOf(data.keySet()));
      asked.add(new PendingAppend(id, data.keySet(), streams().appendAsync(data)));
    }

    private void collect() {
      for (var one : List.copyOf(asked)) {
        if (!one.future().isDone()) continue;
        asked.remove(one);
        try {
          Appended at = one.future().join();
          trace.add(one.id() + " at " + at.log());
          acknowledged.put(one.id(), at);
        } catch (CompletionException thrown) {
          switch (thrown.getCause()) {
            case LimitExceeded _, Unavailable _ -> refused.add(one.id());
            case UnknownOutcome _ -> trace.reached("an append ends with UnknownOutcome");
            case null, default -> throw new AssertionError("unexpected of " + one, thrown);
          }
        }
      }
    }

    private void restart() {
      collect();
      boolean read = false;
      for (int attempt = 0; !read; attempt++) {
        if (attempt == ATTEMPTS_MAX) store.calm();
        trace.add("restart");
        trace.reached("a restart");
        store.restart();
        asked.clear();
        follower = streams().follow(followed);
        try {
          check();
          read = true;
        } catch (Unavailable failed) {
          trace.add("recovery failed");
        }
      }
    }

    /// Follows the log. A follower after a restart begins with the last entry that it saw.
    private void follow() {
      var next = follower.poll();
      while (next.isPresent()) {
        followed(next.get());
        next = follower.poll();
      }
    }

    private void followed(LogSlot.Written slot) {
      if (slot.address().equals(followed)) {
        trace.reached("a follower goes on");
        return;
      }
      Demand.that(followed.compareTo(slot.address()) < 0, "a follower sees rising addresses");
      followed = slot.address();
      seen.addAll(ids(slot));
    }

    private static List<String> ids(LogSlot.Written slot) {
      return slot.entries().stream()
          .filter(entry -> entry.kind() == StreamEntry.Kind.DATA)
          .map(Run::id)
          .toList();
    }

    private static String id(StreamEntry entry) {
      String text = new String(entry.data(), StandardCharsets.UTF_8);
      return text.substring(0, text.indexOf(' '));
    }

    private void check() {
      StreamStore streams = streams();
      var found = new TreeMap<String, Set<StreamKey>>();
      var addresses = new TreeMap<LogAddress, String>();
      for (StreamKey key : keys) {
        long address = 0;
        LogAddress before = StreamStore.BEGINNING;
        List<StreamEntry> entries = streams.readAll(key);
        for (StreamEntry entry : entries) {
          String id = id(entry);
          Demand.that(entry.address() == ++address, "stream " + key + " is dense");
          Demand.that(
              before.compareTo(entry.log()) < 0, "log addresses rise with stream addresses");
          before = entry.log();
          Demand.that(
              found.computeIfAbsent(id, _ -> new HashSet<>()).add(key), id + " is there once");
          String other = addresses.put(entry.log(), id);
          Demand.that(
              other == null || other.equals(id), "log address " + entry.log() + " is used once");
          Appended at = acknowledged.get(id);
          Demand.that(
              at == null || (at.log().equals(entry.log()) && at.address(key) == address),
              id + " is where it was acknowledged");
          Demand.that(!refused.contains(id), id + " was refused, and is not there");
        }
        Demand.that(streams.check(key) == address, "check tells the last address");
      }
      for (String id : acknowledged.keySet()) {
        Demand.that(found.containsKey(id), id + " was acknowledged, and is there");
      }
      found.forEach((id, where) -> {
        Demand.that(where.equals(possible.get(id)), id + " is there whole");
        if (where.size() > 1) trace.reached("an append to several streams is found whole");
      });
      log(streams, addresses);
    }

    private void log(StreamStore streams, Map<LogAddress, String> addresses) {
      LogAddress tail = streams.tail();
      for (long counter = 1; counter <= tail.counter(); counter += chance.between(1, 4)) {
        LogAddress address = new LogAddress(tail.epoch(), counter);
        LogSlot slot = streams.read(address);
        String id = addresses.get(address);
        if (id == null && slot instanceof LogSlot.Hole) trace.reached("a hole is told");
        Demand.that(
            id == null
                ? !(slot instanceof LogSlot.Written written) || ids(written).isEmpty()
                : slot instanceof LogSlot.Written written && ids(written).contains(id),
            "the log has at " + address + " what the streams have");
      }
      var next = new LogAddress(tail.epoch(), tail.counter() + 1);
      Demand.that(
          streams.fillHole(next) instanceof LogSlot.NotYetWritten, next + " is not yet written");
    }
  }
}
