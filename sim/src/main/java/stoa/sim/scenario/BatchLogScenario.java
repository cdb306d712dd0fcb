package stoa.sim.scenario;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import stoa.Unavailable;
import stoa.base.StreamId;
import stoa.log.Batch;
import stoa.log.BatchOutcome;
import stoa.log.Entry;
import stoa.log.Streams;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.check.ExactlyOnce;
import stoa.sim.world.PoweredLog;
import stoa.sim.world.SimulatedLeader;
import stoa.storage.disk.StorageException;

/// A leader proposes batches to a log while power fails, leaders change, epochs are sealed and old
/// batches arrive again; a committed batch must be there once, and in every replica.
public final class BatchLogScenario implements Scenario {
  private static final int STREAMS = 3;
  private static final int TURNS = 60;

  private final String name;
  private final Logs logs;

  /// Creates the log of a run.
  interface Logs {
    PoweredLog open(Chance chance);
  }

  BatchLogScenario(String name, Logs logs) {
    this.name = name;
    this.logs = logs;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void run(Chance chance, Trace trace) {
    try (var log = logs.open(chance.of("log"))) {
      new Run(chance.of("work"), trace, log).run();
    }
  }

  private static final class Run {
    private final Chance chance;
    private final Trace trace;
    private final PoweredLog log;
    private final SimulatedLeader leader;
    private final ExactlyOnce ledger = new ExactlyOnce();
    private final List<StreamId> streams = new ArrayList<>();
    private final List<Batch> past = new ArrayList<>();
    // The batches that are written, and not known to be durable.
    private final List<Batch> written = new ArrayList<>();
    // The number of entries of the batch with each number.
    private final List<Integer> sizes = new ArrayList<>();

    Run(Chance chance, Trace trace, PoweredLog log) {
      this.chance = chance;
      this.trace = trace;
      this.log = log;
      this.leader = new SimulatedLeader(log);
      for (int i = 0; i < STREAMS; i++) streams.add(StreamId.of("stream " + i));
    }

    void run() {
      for (int turn = 0; turn < TURNS; turn++) {
        try {
          turn();
        } catch (StorageException | Unavailable failed) {
          trace.add("failed " + failed.getClass().getSimpleName());
          trace.reached("the disk fails outside of a batch");
          restart();
        }
      }
      log.calm();
      BatchLogContract.settle(log);
      restart();
      BatchLogContract.settle(log);
      for (var replica : log.replicas()) verify(replica);
      trace.add("end " + leader.log().tail());
    }

    private void turn() {
      int dice = chance.below(100);
      if (dice < 65) propose();
      else if (dice < 75) sync();
      else if (dice < 83) repeat();
      else if (dice < 88) seal();
      else if (dice < 94) checkpoint();
      else restart();
    }

    /// Makes durable what is written.
    private void sync() {
      leader.log().sync();
      acknowledge();
      trace.add("sync");
    }

    private void acknowledge() {
      for (Batch batch : written) acknowledge(batch);
      written.clear();
    }

    private void acknowledge(Batch batch) {
      past.add(batch);
      for (var entry : batch.entries()) {
        String id = new String(entry.payload(), StandardCharsets.UTF_8);
        ledger.acknowledged(entry.stream().toString(), id, entry.address());
      }
    }

    private void propose() {
      int count = chance.below(5);
      int number = sizes.size();
      sizes.add(count);
      List<Map.Entry<StreamId, String>> payloads = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String id = number + "/" + i + " " + "x".repeat(chance.below(200));
        payloads.add(Map.entry(chance.of(streams), id));
      }
      for (var payload : payloads) ledger.begin(payload.getKey().toString(), payload.getValue());
      Batch batch = leader.batch(payloads);
      boolean syncsApart = leader.log().syncsApart() && chance.below(2) == 0;
      BatchOutcome outcome = syncsApart ? leader.write(batch) : leader.propose(batch);
      trace.reached("a batch is " + outcome.getClass().getSimpleName());
      trace.add("batch " + number + " " + batch.token() + " " + outcome.getClass().getSimpleName());
      switch (outcome) {
        case BatchOutcome.Committed _ -> {
          written.add(batch);
          if (!syncsApart) acknowledge();
        }
        case BatchOutcome.Fenced _ -> {
          refuse(payloads);
          restart();
        }
        case BatchOutcome.Refused _ -> refuse(payloads);
        case BatchOutcome.Unknown _ -> {
          restart();
          boolean found = batch.entries().stream().anyMatch(this::isFound);
          if (count > 0) trace.reached("an unknown batch is " + (found ? "found" : "lost"));
        }
      }
    }

    private boolean isFound(Entry entry) {
      var stored = leader.log().streams().read(entry.stream(), entry.address());
      return stored != null && Arrays.equals(stored.payload(), entry.payload());
    }

    private void refuse(List<Map.Entry<StreamId, String>> payloads) {
      for (var payload : payloads) ledger.refused(payload.getKey().toString(), payload.getValue());
    }

    private void repeat() {
      if (past.isEmpty()) return;
      BatchOutcome outcome = leader.propose(chance.of(past));
      trace.add("repeat " + outcome.getClass().getSimpleName());
      trace.reached("a repeated batch is " + outcome.getClass().getSimpleName());
      Demand.that(
          !(outcome instanceof BatchOutcome.Committed), "a repeated batch is not committed again");
      if (outcome instanceof BatchOutcome.Unknown) restart();
    }

    private void seal() {
      long epoch = leader.log().tail().epoch() + chance.between(0, 2);
      leader.seal(epoch);
      trace.add("seal " + leader.log().tail());
      Demand.that(leader.log().tail().epoch() >= epoch, "a sealed log has reached epoch " + epoch);
    }

    private void checkpoint() {
      var stream = chance.of(streams);
      long last = leader.log().streams().last(stream);
      if (last == 0) return;
      leader.log().streams().checkpoint(stream, last, state(stream, last));
      trace.add("checkpoint " + last);
    }

    private void restart() {
      boolean read = false;
      while (!read) {
        log.restart();
        leader.resume();
        ledger.crashed();
        findWritten();
        trace.reached("a restart");
        trace.add("restart " + leader.log().tail());
        try {
          verify(leader.log().streams());
          read = true;
        } catch (StorageException | Unavailable failed) {
          trace.add("restart failed " + failed.getClass().getSimpleName());
          trace.reached("the disk fails again right after a recovery");
        }
      }
    }

    /// Checks that the log has no written batch behind one that it lacks.
    private void findWritten() {
      boolean lost = false;
      for (Batch batch : written) {
        if (batch.entries().isEmpty()) continue;
        boolean found = batch.entries().stream().allMatch(this::isFound);
        trace.reached("a written batch is " + (found ? "found" : "lost"));
        Demand.that(!found || !lost, "no batch is there behind one that is lost");
        lost |= !found;
      }
      written.clear();
    }

    private static byte[] state(StreamId stream, long address) {
      return (stream + "@" + address + "!".repeat(500)).getBytes(StandardCharsets.UTF_8);
    }

    private void verify(Streams replica) {
      Map<Integer, Integer> found = new HashMap<>();
      Map<stoa.LogAddress, Integer> addresses = new TreeMap<>();
      for (var stream : streams) {
        List<ExactlyOnce.Entry> list = new ArrayList<>();
        stoa.LogAddress before = new stoa.LogAddress(0, 0);
        for (var entry : BatchLogContract.entries(replica, stream)) {
          list.add(new ExactlyOnce.Entry(entry.payload(), entry.address()));
          int number = Integer.parseInt(entry.payload().substring(0, entry.payload().indexOf('/')));
          found.merge(number, 1, Integer::sum);
          addresses.merge(entry.log(), 1, Integer::sum);
          Demand.that(
              before.compareTo(entry.log()) < 0,
              "log addresses rise with stream addresses: " + entry.log() + " after " + before);
          before = entry.log();
          var mark = replica.lastMark(stream, entry.address());
          Demand.that(
              (mark == null ? 0 : mark.address()) == entry.address() / 4 * 4,
              "marks are where they were written");
        }
        ledger.require(stream.toString(), list, ExactlyOnce.Versions.DENSE);
        var checkpoint = replica.lastCheckpoint(stream, Long.MAX_VALUE);
        if (checkpoint == null) continue;
        trace.reached("a checkpoint is found");
        Demand.that(checkpoint.address() <= list.size(), "a checkpoint is not ahead of its stream");
        Demand.that(
            Arrays.equals(state(stream, checkpoint.address()), checkpoint.data()),
            "a checkpoint is as it was made");
      }
      found.forEach((number, count) ->
          Demand.that(
              Objects.equals(sizes.get(number), count),
              "batch " + number + " is there whole, not " + count + " of its entries"));
      addresses.forEach(
          (address, count) -> Demand.that(count == 1, "log address " + address + " is used once"));
    }
  }
}
