package stoa.sim.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.KeyEvent;
import stoa.KeyValueStore;
import stoa.Limits;
import stoa.ListenerLimits;
import stoa.ListenerRegistration;
import stoa.Ref;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.front.types.Keys;
import stoa.log.LocalBatchLog;
import stoa.log.Streams;
import stoa.objects.EmbeddedEngine;
import stoa.objects.ObjectService;
import stoa.objects.Part;
import stoa.objects.Standby;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Demand;
import stoa.sim.check.SimulatedFluke;
import stoa.sim.world.PoweredDevice;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.Runaway;
import stoa.sim.world.ShippedLog;
import stoa.sim.world.SimulatedAccount;
import stoa.sim.world.SimulatedHandlers;
import stoa.sim.world.SimulatedMishaps;
import stoa.sim.world.SimulatedTally;
import stoa.sim.world.SimulatedThreads;
import stoa.sim.world.TallyVersions;
import stoa.store.replicas.Divergence;

/// A replica follows another one, batch by batch, dies in the middle of anything and comes back,
/// and leads when the other one is gone. Its checkpoints must equal those of the leader to the
/// byte, it must find no difference in deterministic objects and handlers, and when it takes over,
/// its states must equal those from a replay of the log alone.
///
/// Two objects get other code now and then, which the follower gets from the log.
///
/// One object is not deterministic. If it has differed, the follower must find it before the end,
/// the leader must quarantine it, and it must continue with an accepted state.
final class StandbyScenario implements Scenario {
  private static final int ACCOUNTS = 3;
  private static final int MISHAPS = 2;
  private static final int KEYS = 2;
  private static final String FLUKE = "stoa.sim.Fluke";

  // The object that is not deterministic.
  private static final StreamId FLUKE_STREAM =
      new Key(FLUKE, Keys.encode("fluke"), new Ref<>(FLUKE, "fluke")).stream();
  private static final int TURNS = 250;

  // The number of failures of the follower's disk in a row before it stops failing.
  private static final int ATTEMPTS_MAX = 8;
  private static final StoaConfig CONFIG =
      StoaConfig.of("file:simulated")
          .withLimits(
              Limits.standard()
                  .withCallTimeMax(Duration.ofMillis(500))
                  .withResidentBytesMax(300_000));

  @Override
  public String name() {
    return "standby";
  }

  @Override
  public void run(Chance chance, Trace trace) {
    new Run(chance, trace).run();
  }

  private static final class Run {
    private final Chance chance;
    private final Chance work;
    private final Trace trace;
    private final List<Divergence> told = new ArrayList<>();
    private final List<CompletableFuture<?>> calls = new ArrayList<>();
    private final List<ListenerRegistration> registrations = new ArrayList<>();
    private Leader leader;

    // The threads of the process that executes calls now; a runaway call lets their time pass.
    private SimulatedThreads executing;

    private Follower follower;
    private int lives;

    Run(Chance chance, Trace trace) {
      this.chance = chance;
      this.work = chance.of("work");
      this.trace = trace;
      var device = new PoweredDevice(PoweredDisk.memory(256 << 20), PoweredDevice.SMALL);
      var log = new LocalBatchLog(device.device());
      var threads = new SimulatedThreads(chance.of("leader"));
      executing = threads;
      leader = new Leader(device, new ShippedLog(log), threads);
      follower = new Follower(chance.of("follower"));
    }

    void run() {
      ScopedValue.where(
              Runaway.TIME,
              () -> {
                for (int i = 0; i < 12; i++) executing.tick();
              })
          .where(SimulatedFluke.RUNS, new AtomicInteger())
          .run(this::inTime);
    }

    private void inTime() {
      for (int turn = 0; turn < TURNS; turn++) {
        leader.micros += work.below(10_000);
        int dice = work.below(100);
        if (dice < 40) call(turn);
        else if (dice < 65) steps(leader.threads);
        else if (dice < 82) ship(work.between(1, 6));
        else if (dice < 92) steps(follower.threads);
        else if (dice < 96) leader.threads.tick();
        else if (dice < 98) follower.threads.tick();
        else if (dice < 99) follower.restart();
        else if (work.below(3) == 0) failOver();
        if (work.percent(5)) report();
      }
      follower.mend();
      settle();
      ship(Integer.MAX_VALUE);
      follower.threads.settle();
      compareCheckpoints(true);
      report();
      failOver();
      settle();
      report();
      trace.add("end " + leader.log.tail() + " " + leader.device.diskDigest());
    }

    private void steps(SimulatedThreads threads) {
      for (int i = work.between(1, 8); i > 0; i--) {
        var _ = threads.step();
      }
    }

    /// Lets the leader finish, and announce its state.
    private void settle() {
      for (int i = 0; i < 2 * ACCOUNTS + 4; i++) {
        leader.threads.settle();
        leader.threads.tick();
      }
      leader.threads.settle();
      for (CompletableFuture<?> call : calls) {
        Demand.that(call.isDone(), "every call ends");
        try {
          var _ = call.join();
        } catch (CompletionException failed) {
          trace.reached("a call ends with " + String.valueOf(failed.getCause()).split(":", 2)[0]);
        }
      }
      calls.clear();
    }

    private void call(int turn) {
      int from = work.below(ACCOUNTS);
      SimulatedAccount account = leader.account(from);
      SimulatedAccount via = leader.account((from + 1) % ACCOUNTS);
      SimulatedAccount to = leader.account((from + 2) % ACCOUNTS);
      String id = "i" + turn + "x".repeat(work.of(List.of(0, 3_000, 9_000)));
      trace.add("call " + turn + " of " + from);
      Stoa stoa = leader.stoa;
      int dice = work.below(30);
      if (dice >= 27) {
        fluke(id);
        return;
      }
      if (dice >= 24) {
        tally(id);
        return;
      }
      if (dice >= 20) {
        mishap(id);
        return;
      }
      if (dice >= 13) {
        keyValue(id);
        return;
      }
      switch (dice) {
        case 0 -> calls.add(stoa.async(account, a -> a.addAndThrow(id)));
        case 1 -> calls.add(stoa.async(account, a -> a.addAndRunAway(id)));
        case 2, 3, 4 -> calls.add(stoa.async(account, a -> a.pass(id, via, to, 1)));
        case 5, 6, 7 -> calls.add(stoa.async(account, a -> a.send(id, to, 2)));
        case 8 ->
            leader.await(() ->
                stoa.transact(() -> {
                  account.add(id);
                  return via.send(id, to, 3);
                }));
        case 9 -> leader.await(() -> stoa.delete(leader.account(ACCOUNTS)));
        case 10 -> calls.add(stoa.async(leader.account(ACCOUNTS), a -> a.add(id)));
        case 11, 12 -> fluke(id);
        default -> calls.add(stoa.async(account, a -> a.add(id)));
      }
    }

    /// Deploys other code for a class, or calls an object of it. The follower has the program's
    /// class.
    private void tally(String id) {
      SimulatedTally one = leader.tallies.getFirst();
      SimulatedTally other = leader.tallies.getLast();
      switch (work.below(4)) {
        case 0 -> {
          int factor = work.between(2, 4);
          var _ =
              leader.ask(
                  () -> leader.service().code().deploy(TallyVersions.version(factor), _ -> {}));
          trace.reached("a deployment");
        }
        case 1 -> calls.add(leader.stoa.async(one, t -> t.addBoth(id, 1, "", other)));
        default -> calls.add(leader.stoa.async(other, t -> t.add(id, 2, "")));
      }
    }

    /// Makes a call fail, and keeps its exception.
    private void mishap(String id) {
      Stoa stoa = leader.stoa;
      int which = work.below(MISHAPS);
      SimulatedMishaps one = leader.mishaps("m" + which);
      SimulatedMishaps other = leader.mishaps("m" + (which + 1) % MISHAPS);
      SimulatedMishaps none = leader.mishaps("no" + work.below(3));
      int how = work.below(4);
      switch (work.below(6)) {
        case 0 -> calls.add(stoa.async(one, m -> m.ask(other, id)));
        case 1 -> calls.add(stoa.async(one, m -> m.keep(new IllegalStateException(id))));
        case 2 -> calls.add(stoa.async(none, m -> m.fail(id, how)));
        case 3 ->
            leader.await(() ->
                stoa.transact(() -> {
                  one.fail(id, how);
                  other.ask(one, id);
                  try {
                    none.fail(id, how);
                  } catch (IllegalArgumentException notThere) {
                    other.keep(notThere);
                  }
                  return true;
                }));
        case 4 -> leader.await(() -> stoa.delete(none));
        default -> calls.add(stoa.async(one, m -> m.fail(id, how)));
      }
    }

    /// Puts to a key with listeners, or adds or removes a listener.
    private void keyValue(String id) {
      KeyValueStore store = leader.stoa.store();
      String key = "key " + work.below(KEYS);
      switch (work.below(8)) {
        case 0, 1 -> {
          var limits = work.percent(40) ? new ListenerLimits(2, 12_000) : ListenerLimits.STANDARD;
          int which = work.below(6);
          leader.await(() -> registrations.add(listen(store, key, which, limits)));
        }
        case 2 -> {
          if (!registrations.isEmpty()) {
            var gone = registrations.remove(work.below(registrations.size()));
            leader.await(() -> {
              gone.close();
              return true;
            });
          }
        }
        case 3 -> leader.await(() -> store.remove(key));
        default -> calls.add(store.putAsync(key, id + "." + work.below(5)));
      }
    }

    private ListenerRegistration listen(
        KeyValueStore store, String key, int which, ListenerLimits limits) {
      return switch (which) {
        case 0 -> store.register(key, this::heard, new SimulatedHandlers.Witness(), limits);
        case 1 -> store.register(key, this::heard, new SimulatedHandlers.Third(), limits);
        case 2 -> store.register(key, this::heard, new SimulatedHandlers.Ending("3"), limits);
        case 3 -> store.register(key, this::heard, new SimulatedHandlers.Clumsy(), limits);
        case 4 -> store.register(key, this::heard, new SimulatedHandlers.Reporting(), limits);
        default -> store.register(key, this::heard, new SimulatedHandlers.Fussy("4"), limits);
      };
    }

    private void heard(KeyEvent<?> event) {
      trace.reached("an event heard");
    }

    private void fluke(String id) {
      SimulatedFluke fluke = leader.fluke();
      switch (work.below(6)) {
        case 0 -> calls.add(leader.stoa.async(fluke, SimulatedFluke::count));
        case 1 -> leader.await(() -> leader.stoa.delete(fluke));
        case 2 -> {
          Boolean was = leader.ask(() -> leader.service().operator().accept(FLUKE + "[fluke]"));
          if (was != null && was) trace.reached("a state is accepted");
        }
        default -> calls.add(leader.stoa.async(fluke, f -> f.add(id)));
      }
    }

    /// Reports the found differences to the leader.
    private void report() {
      for (Divergence evidence : told) {
        Demand.that(
            evidence.space().equals(FLUKE), "what is deterministic does not differ: " + evidence);
        trace.reached("an object differs");
        Boolean noted = leader.ask(() -> leader.service().operator().quarantine(evidence));
        if (noted != null && noted) trace.reached("an object is quarantined");
      }
      told.clear();
    }

    private void ship(int steps) {
      boolean more = true;
      for (int i = 0; i < steps && more; i++) more = follower.copy();
    }

    /// Ends the leader. Its calls and all steps not yet copied are lost; another replica joins.
    private void failOver() {
      follower.mend();
      trace.add("fail-over at " + follower.log.tail());
      trace.reached("a fail-over");
      compareCheckpoints(false);
      leader.threads.close();
      calls.clear();
      registrations.clear();
      var before = checkpoints(follower).keySet();
      follower.standby.close();
      follower.threads.settle();
      Demand.that(
          checkpoints(follower).keySet().equals(before), "nothing is written when it is closed");
      ShippedLog copied = leader.log.continuedOn(follower.log);
      long micros = leader.micros;

      String part = "life " + lives++;
      leader = lead(follower.device, copied, part);
      leader.micros = micros;
      var _ = leader.states(); // resumes the calls in progress
      String states = leader.states();

      // Another replica, which has only a copy of the log, must come to the same states.
      var plainDevice = new PoweredDevice(PoweredDisk.memory(256 << 20), PoweredDevice.SMALL);
      var plainLog = new LocalBatchLog(plainDevice.device());
      boolean more = true;
      while (more) more = copied.ship(plainLog, _ -> {});
      var plain = lead(plainDevice, copied.continuedOn(plainLog), part);
      plain.micros = micros;
      String made = plain.states();
      plain.threads.close();
      executing = leader.threads;
      Demand.that(
          states.equals(made),
          "the states are what the log makes of them: " + states + " and " + made);
      follower = new Follower(chance.of("follower of " + part));
    }

    private Leader lead(PoweredDevice device, ShippedLog log, String part) {
      executing = new SimulatedThreads(chance.of(part));
      return new Leader(device, log, executing);
    }

    private Map<String, byte[]> checkpoints(Follower of) {
      return leader.checkpoints(new Streams(of.device.device()));
    }

    private void compareCheckpoints(boolean all) {
      Map<String, byte[]> leads = leader.checkpoints(leader.log.streams());
      Map<String, byte[]> follows = checkpoints(follower);
      follows.forEach((where, bytes) -> {
        byte[] other = leads.get(where);
        Demand.that(
            other == null || java.util.Arrays.equals(other, bytes),
            "the checkpoint " + where + " is the leader's");
        if (other != null) trace.reached("a checkpoint is the leader's");
      });
      if (!all) return;
      for (String where : leads.keySet()) {
        Demand.that(follows.containsKey(where), "the checkpoint " + where + " is there");
      }
    }

    /// The replica that leads.
    private static final class Leader {
      private final PoweredDevice device;
      private final ShippedLog log;
      private final SimulatedThreads threads;
      private final Stoa stoa;
      private final List<SimulatedTally> tallies = new ArrayList<>();
      private long micros = 1_000_000;

      Leader(PoweredDevice device, ShippedLog log, SimulatedThreads threads) {
        this.device = device;
        this.log = log;
        this.threads = threads;
        stoa =
            EmbeddedEngine.openReplicated(
                CONFIG, device.device(), () -> log, () -> micros, threads, Part.WHOLE);
        // The class of the program is active from here on, until the deployment of another one.
        threads.await(() -> {
          for (String key : List.of("one", "other")) {
            tallies.add(stoa.get(SimulatedTally.class, key));
          }
          return tallies;
        });
      }

      SimulatedAccount account(int index) {
        return stoa.get(SimulatedAccount.class, "account " + index);
      }

      SimulatedMishaps mishaps(String id) {
        return stoa.get(SimulatedMishaps.class, id);
      }

      SimulatedFluke fluke() {
        return stoa.get(SimulatedFluke.class, "fluke");
      }

      ObjectService service() {
        return ObjectService.of(stoa, _ -> false);
      }

      void await(Supplier<?> calls) {
        var _ = ask(calls);
      }

      /// Returns the results of calls; null when the store refuses them, with an abort for example.
      <T> @Nullable T ask(Supplier<T> calls) {
        try {
          return threads.await(calls);
        } catch (StoaException refused) {
          return null;
        }
      }

      String states() {
        return threads.await(() -> {
          var states = new StringBuilder();
          for (int i = 0; i <= ACCOUNTS; i++) {
            SimulatedAccount account = account(i);
            states.append(account.balance()).append(account.lines()).append('\n');
          }
          for (SimulatedTally tally : tallies) {
            states.append(tally.sum()).append(tally.lines()).append('\n');
          }
          for (int i = 0; i < MISHAPS; i++) states.append(mishaps("m" + i).texts()).append('\n');
          for (int i = 0; i < KEYS; i++) states.append(stoa.store().get("key " + i)).append('\n');
          return states.toString();
        });
      }

      /// Returns the checkpoints of the present generations, of all streams that this log saw.
      Map<String, byte[]> checkpoints(Streams streams) {
        var found = new TreeMap<String, byte[]>();
        for (StreamId stream : log.seen()) {
          if (stream.equals(FLUKE_STREAM)) continue;
          Streams.At mark = log.streams().lastMark(stream, Long.MAX_VALUE);
          Streams.At at = streams.lastCheckpoint(stream, Long.MAX_VALUE);
          while (at != null && mark != null && at.address() >= mark.address()) {
            found.put(stream + " " + at.address(), at.data());
            at = streams.lastCheckpoint(stream, at.address() - 1);
          }
        }
        return found;
      }
    }

    /// The following replica, on a disk that fails.
    private final class Follower {
      private final Chance own;
      private final PoweredDevice device;
      private LocalBatchLog log;
      private SimulatedThreads threads;
      private Standby standby;
      private int opened;

      Follower(Chance own) {
        this.own = own;
        device = new PoweredDevice(PoweredDisk.simulated(own.of("disk"), 200), PoweredDevice.SMALL);
        threads = new SimulatedThreads(own);
        log = new LocalBatchLog(device.device());
        standby = open();
      }

      private Standby open() {
        for (int attempt = 0; ; attempt++) {
          if (attempt == ATTEMPTS_MAX) device.calm();
          threads = new SimulatedThreads(own.of("threads " + opened++));
          try {
            log = new LocalBatchLog(device.device());
            return EmbeddedEngine.openStandby(
                CONFIG,
                device.device(),
                new Streams(device.device()),
                () -> 1_000_000,
                threads,
                Part.WHOLE,
                told::add);
          } catch (RuntimeException failed) {
            trace.reached("the disk fails while a replica begins to follow");
            device.restart();
          }
        }
      }

      /// Copies one step; returns whether there may be more.
      boolean copy() {
        try {
          return leader.log.ship(log, standby::applied);
        } catch (RuntimeException failed) {
          trace.add("the follower fails " + failed.getClass().getSimpleName());
          trace.reached("the follower's disk fails");
          restart();
          return true;
        }
      }

      void restart() {
        trace.reached(
            standby.progress().waiting() > 0
                ? "a follower dies with work to do"
                : "a follower dies at rest");
        standby.close();
        device.restart();
        standby = open();
      }

      /// Stops the failures of the disk, and restarts if it has failed.
      void mend() {
        device.calm();
        try {
          log.streams().sync();
          var _ = checkpoints(this);
        } catch (RuntimeException failed) {
          restart();
        }
      }
    }
  }
}
