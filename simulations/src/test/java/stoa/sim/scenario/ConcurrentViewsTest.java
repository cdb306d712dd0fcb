package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import stoa.Limits;
import stoa.Snapshot;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.View;
import stoa.sim.Chance;
import stoa.sim.check.Linearizability;
import stoa.sim.check.RegisterModel;
import stoa.sim.world.Recorder;
import stoa.sim.world.SimulatedRegister;

/// Real threads that see objects through views of every kind: what they saw must be linearizable,
/// or sequentially consistent, as the view promises.
class ConcurrentViewsTest {
  private static final int CLIENTS = 6;
  private static final int CALLS = 200;

  /// How much memory there is.
  enum Memory {
    AMPLE,
    /// For hardly one object: states leave and come back all the time.
    CROWDED;

    Stoa open() {
      Limits limits = Limits.standard();
      return Stoa.open(
          StoaConfig.of("memory:")
              .withLimits(this == AMPLE ? limits : limits.withResidentBytesMax(2_000)));
    }
  }

  /// The work of one client.
  private interface Body {
    void run(int client) throws Exception;
  }

  private static void together(Body body) throws Exception {
    var start = new CyclicBarrier(CLIENTS);
    try (var threads = Executors.newFixedThreadPool(CLIENTS)) {
      List<Future<?>> ends = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int client = i;
        ends.add(
            threads.submit(() -> {
              start.await();
              body.run(client);
              return null;
            }));
      }
      for (var end : ends) end.get();
    }
  }

  @ParameterizedTest
  @EnumSource
  void localViewsAreLinearizableBesideRemoteOnes(Memory memory) throws Exception {
    try (var stoa = memory.open()) {
      var register = stoa.create(SimulatedRegister.class, "register");
      var shared = stoa.view(SimulatedRegister.class, stoa.ref(register), new View.Local());
      var recorder = new Recorder<RegisterModel.Input, RegisterModel.Output>();
      together(index -> {
        var client = recorder.client("client " + index);
        var chance = new Chance(index);
        var own = stoa.view(SimulatedRegister.class, stoa.ref(register), new View.Local());
        for (int call = 0; call < CALLS; call++) {
          long value = chance.below(4);
          long expected = chance.below(4);
          var view = List.of(register, shared, own).get(chance.below(3));
          switch (chance.below(4)) {
            case 0 ->
                client.call(
                    new RegisterModel.Input.Write(value),
                    () -> {
                      view.write(value);
                      return new RegisterModel.Output.Done();
                    });
            case 1 ->
                client.call(
                    new RegisterModel.Input.Swap(expected, value),
                    () -> new RegisterModel.Output.Swapped(view.swap(expected, value)));
            default ->
                client.call(
                    new RegisterModel.Input.Read(),
                    () -> new RegisterModel.Output.Value(view.value()));
          }
        }
      });
      Linearizability.require(new RegisterModel(), recorder.history());
    }
  }

  @ParameterizedTest
  @EnumSource
  void snapshotsAreLinearizableReadsOfAllObjects(Memory memory) throws Exception {
    try (var stoa = memory.open()) {
      var register = stoa.create(SimulatedRegister.class, "register");
      var recorder = new Recorder<RegisterModel.Input, RegisterModel.Output>();
      together(index -> {
        var client = recorder.client("client " + index);
        var chance = new Chance(index);
        for (int call = 0; call < CALLS; call++) {
          long value = chance.below(4);
          if (chance.percent(40)) {
            client.call(
                new RegisterModel.Input.Write(value),
                () -> {
                  register.write(value);
                  return new RegisterModel.Output.Done();
                });
          } else {
            client.call(
                new RegisterModel.Input.Read(),
                () -> {
                  try (Snapshot snapshot = stoa.snapshot()) {
                    return new RegisterModel.Output.Value(snapshot.on(register).value());
                  }
                });
          }
        }
      });
      Linearizability.require(new RegisterModel(), recorder.history());
    }
  }

  @ParameterizedTest
  @EnumSource
  void snapshotsCutAllObjectsAtOnePlace(Memory memory) throws Exception {
    try (var stoa = memory.open()) {
      var registers = new ArrayList<SimulatedRegister>();
      for (int i = 0; i < 4; i++) {
        registers.add(stoa.create(SimulatedRegister.class, "register " + i));
      }
      together(index -> {
        for (int call = 1; call <= CALLS; call++) {
          if (index == 0) {
            // Each is written after the one before it.
            for (var register : registers) register.write(call);
            continue;
          }
          try (Snapshot snapshot = stoa.snapshot()) {
            long first = snapshot.on(registers.getFirst()).value();
            long before = first;
            for (var register : registers) {
              long value = snapshot.on(register).value();
              assertTrue(value <= before && value >= first - 1, value + " after " + before);
              before = value;
            }
          }
        }
      });
    }
  }

  @Test
  void ownWritesAreSeenThroughCachedViews() throws Exception {
    try (var stoa = Memory.AMPLE.open()) {
      together(index -> {
        var mine = stoa.create(SimulatedRegister.class, "register " + index);
        var cached = stoa.view(SimulatedRegister.class, stoa.ref(mine), new View.Cached());
        for (int call = 0; call < CALLS; call++) {
          (call % 2 == 0 ? mine : cached).write(call);
          assertEquals(call, cached.value());
        }
      });
    }
  }
}
