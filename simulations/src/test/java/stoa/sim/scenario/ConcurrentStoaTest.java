package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import stoa.Accessor;
import stoa.Limits;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.sim.Chance;
import stoa.sim.check.CallHistory;
import stoa.sim.check.CounterModel;
import stoa.sim.check.Linearizability;
import stoa.sim.check.QueueModel;
import stoa.sim.check.RegisterModel;
import stoa.sim.world.Recorder;
import stoa.sim.world.SimulatedRegister;

/// Real threads on real stores: what they saw must be linearizable.
class ConcurrentStoaTest {
  private static final int CLIENTS = 6;

  @Shared(name = "sim.test.Counter")
  static class Counter {
    private long value;

    protected Counter() {}

    public long increment(long by) {
      return value += by;
    }

    @Accessor
    public long value() {
      return value;
    }
  }

  @Shared(name = "sim.test.Queue")
  static class Queue {
    private final Deque<Long> elements = new ArrayDeque<>();

    protected Queue() {}

    public void put(long element) {
      elements.addLast(element);
    }

    public Optional<Long> take() {
      return Optional.ofNullable(elements.pollFirst());
    }
  }

  /// Where the store is and which threads call it.
  enum Setting {
    MEMORY_PLATFORM,
    MEMORY_VIRTUAL,
    MEMORY_CROWDED,
    FILE_PLATFORM,
    FILE_VIRTUAL;

    Stoa open(Path directory) {
      var config =
          switch (this) {
            case FILE_PLATFORM, FILE_VIRTUAL -> StoaConfig.of("file:" + directory);
            // Memory for hardly one object: they leave and come back all the time.
            case MEMORY_CROWDED ->
                StoaConfig.of("memory:").withLimits(Limits.standard().withResidentBytesMax(1_500));
            case MEMORY_PLATFORM, MEMORY_VIRTUAL -> StoaConfig.of("memory:");
          };
      return Stoa.open(config);
    }

    ExecutorService threads() {
      return switch (this) {
        case MEMORY_VIRTUAL, FILE_VIRTUAL -> Executors.newVirtualThreadPerTaskExecutor();
        case MEMORY_PLATFORM, MEMORY_CROWDED, FILE_PLATFORM ->
            Executors.newFixedThreadPool(CLIENTS);
      };
    }

    int calls() {
      return switch (this) {
        case FILE_PLATFORM, FILE_VIRTUAL -> 60;
        case MEMORY_PLATFORM, MEMORY_VIRTUAL, MEMORY_CROWDED -> 250;
      };
    }
  }

  static Stream<Setting> settings() {
    return Stream.of(Setting.values());
  }

  /// The work of one client in one turn.
  private interface Turn<I, O> {
    void run(Recorder.Client<I, O> client, Chance chance) throws Exception;
  }

  private static <I, O> CallHistory<I, O> record(Setting setting, Turn<I, O> turn)
      throws Exception {
    return record(setting, setting.calls(), turn);
  }

  private static <I, O> CallHistory<I, O> record(Setting setting, int calls, Turn<I, O> turn)
      throws Exception {
    var recorder = new Recorder<I, O>();
    var start = new CyclicBarrier(CLIENTS);
    try (var threads = setting.threads()) {
      List<Future<?>> ends = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        var client = recorder.client("client " + i);
        var chance = new Chance(i);
        ends.add(
            threads.submit(() -> {
              start.await();
              for (int call = 0; call < calls; call++) turn.run(client, chance);
              return null;
            }));
      }
      for (var end : ends) end.get();
    }
    return recorder.history();
  }

  @ParameterizedTest
  @MethodSource("settings")
  void countersAreLinearizable(Setting setting, @TempDir Path directory) throws Exception {
    try (var stoa = setting.open(directory)) {
      var counter = stoa.get(Counter.class, "counter");
      CallHistory<CounterModel.Input, Long> history =
          record(
              setting,
              (client, chance) -> {
                if (chance.percent(60)) {
                  client.call(new CounterModel.Input.Increment(1), () -> counter.increment(1));
                } else {
                  client.call(new CounterModel.Input.Read(), counter::value);
                }
              });
      Linearizability.require(new CounterModel(), history);
    }
  }

  @ParameterizedTest
  @MethodSource("settings")
  void registersAreLinearizableThroughProxiesOfTheirOwn(Setting setting, @TempDir Path directory)
      throws Exception {
    try (var stoa = setting.open(directory)) {
      CallHistory<RegisterModel.Input, RegisterModel.Output> history =
          record(
              setting,
              (client, chance) -> {
                var register = stoa.get(SimulatedRegister.class, "register");
                long value = chance.below(4);
                long expected = chance.below(4);
                switch (chance.below(3)) {
                  case 0 ->
                      client.call(
                          new RegisterModel.Input.Read(),
                          () -> new RegisterModel.Output.Value(register.value()));
                  case 1 ->
                      client.call(
                          new RegisterModel.Input.Write(value),
                          () -> {
                            register.write(value);
                            return new RegisterModel.Output.Done();
                          });
                  default ->
                      client.call(
                          new RegisterModel.Input.Swap(expected, value),
                          () -> new RegisterModel.Output.Swapped(register.swap(expected, value)));
                }
              });
      Linearizability.require(new RegisterModel(), history);
    }
  }

  @ParameterizedTest
  @MethodSource("settings")
  void queuesAreLinearizableWithCallsThatDoNotWait(Setting setting, @TempDir Path directory)
      throws Exception {
    try (var stoa = setting.open(directory)) {
      var queue = stoa.create(Queue.class, "queue");
      CallHistory<QueueModel.Input, Optional<Long>> history =
          record(
              setting,
              40,
              (client, chance) -> {
                long element = chance.any();
                // More takes than puts: in a short queue the order of two puts shows soon, and the
                // checker need not guess it for long.
                if (chance.percent(40)) {
                  client.call(
                      new QueueModel.Input.Put(element),
                      () -> {
                        queue.put(element);
                        return Optional.empty();
                      });
                } else {
                  client.call(
                      new QueueModel.Input.Take(), () -> stoa.async(queue, Queue::take).join());
                }
              });
      Linearizability.require(new QueueModel(), history);
    }
  }

  @ParameterizedTest
  @MethodSource("settings")
  void sumsOfManyCountersAreWhatWasAdded(Setting setting, @TempDir Path directory)
      throws Exception {
    try (var stoa = setting.open(directory)) {
      CallHistory<String, Long> history =
          record(
              setting,
              (client, chance) -> {
                String key = "counter " + chance.below(20);
                client.call(key, () -> stoa.get(Counter.class, key).increment(1));
              });
      long sum = 0;
      for (int i = 0; i < 20; i++) sum += stoa.get(Counter.class, "counter " + i).value();
      assertEquals(history.operations().size(), sum);
    }
  }

  @Test
  void whatWasRecordedBeforeAnOrderlyEndIsThereAfterwards(@TempDir Path directory)
      throws Exception {
    CallHistory<CounterModel.Input, Long> history;
    try (var stoa = Setting.FILE_PLATFORM.open(directory)) {
      var counter = stoa.get(Counter.class, "counter");
      history =
          record(
              Setting.FILE_PLATFORM,
              (client, _) ->
                  client.call(new CounterModel.Input.Increment(1), () -> counter.increment(1)));
    }
    try (var stoa = Setting.FILE_PLATFORM.open(directory)) {
      assertEquals(history.operations().size(), stoa.get(Counter.class, "counter").value());
    }
    Linearizability.require(new CounterModel(), history);
  }
}
