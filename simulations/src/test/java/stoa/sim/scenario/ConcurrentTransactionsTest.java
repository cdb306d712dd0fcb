package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TxOptions;
import stoa.sim.Chance;
import stoa.sim.check.OpacityProbe;
import stoa.sim.check.Serializability;
import stoa.sim.check.TransactionHistory;
import stoa.sim.world.Ring;
import stoa.sim.world.SimulatedNode;
import stoa.sim.world.SimulatedRegister;
import stoa.sim.world.SimulatedSeries;
import stoa.sim.world.SimulatedShelf;

/// Real threads run transactions on real stores, beside single calls: what all of them saw, be they
/// committed or doomed, must be strictly serializable.
class ConcurrentTransactionsTest {
  private static final int CLIENTS = 6;
  private static final int SERIES = 3;
  private static final long SUM = 1_001;
  private static final List<String> NAMES = List.of("a", "b", "c", "d", "e");

  @TempDir private Path directory;

  private final TransactionHistory history = new TransactionHistory();
  private final OpacityProbe probe = new OpacityProbe(SUM);
  private final Ring ring = Ring.of(NAMES);

  /// Where the store is and which threads call it.
  enum Setting {
    MEMORY,
    MEMORY_VIRTUAL,
    MEMORY_CROWDED,
    FILE;

    Stoa open(Path directory) {
      return Stoa.open(
          switch (this) {
            case FILE -> StoaConfig.of("file:" + directory);
            // Memory for hardly one object: they leave and come back all the time.
            case MEMORY_CROWDED ->
                StoaConfig.of("memory:").withLimits(Limits.standard().withResidentBytesMax(1_500));
            case MEMORY, MEMORY_VIRTUAL -> StoaConfig.of("memory:");
          });
    }

    ExecutorService threads() {
      return this == MEMORY_VIRTUAL
          ? Executors.newVirtualThreadPerTaskExecutor()
          : Executors.newFixedThreadPool(CLIENTS);
    }

    int turns() {
      return switch (this) {
        case FILE -> 20;
        case MEMORY_CROWDED -> 50;
        case MEMORY, MEMORY_VIRTUAL -> 120;
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  void transactionsAndCallsAreStrictlySerializable(Setting setting) throws Exception {
    try (Stoa stoa = setting.open(directory)) {
      create(stoa);
      var start = new CyclicBarrier(CLIENTS);
      try (var threads = setting.threads()) {
        List<Future<?>> ends = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          String name = "c" + i;
          var chance = new Chance(i);
          ends.add(
              threads.submit(() -> {
                start.await();
                for (int turn = 0; turn < setting.turns(); turn++) {
                  turn(stoa, chance, name + "." + turn);
                }
                return true;
              }));
        }
        for (var end : ends) end.get();
      }
      lists(stoa, new Chance(CLIENTS), "last", TxOptions.reading());
    }
    probe.require();
    Serializability.require(history.transactions());
    assertTrue(probe.count() > 0);
  }

  private void create(Stoa stoa) {
    stoa.transact(() -> {
      Map<String, SimulatedNode> nodes = new TreeMap<>();
      for (String name : NAMES) nodes.put(name, stoa.create(SimulatedNode.class, name));
      ring.references()
          .forEach((from, to) ->
              Objects.requireNonNull(nodes.get(from)).link(Objects.requireNonNull(nodes.get(to))));
      stoa.create(SimulatedRegister.class, "x").write(SUM);
      stoa.create(SimulatedRegister.class, "y").write(0);
      for (int i = 0; i < SERIES; i++) stoa.create(SimulatedSeries.class, "s" + i);
      stoa.create(SimulatedShelf.class, "shelf");
      return true;
    });
  }

  private void turn(Stoa stoa, Chance chance, String name) {
    switch (chance.below(10)) {
      case 0, 1 -> move(stoa, chance.of(NAMES), chance.of(NAMES));
      case 2, 3 -> pair(stoa, chance, name);
      case 4 -> single(stoa, chance, name);
      case 5 -> lists(stoa, chance, name, TxOptions.reading());
      default -> lists(stoa, chance, name, TxOptions.STANDARD);
    }
  }

  private void single(Stoa stoa, Chance chance, String name) {
    String key = "s" + chance.below(SERIES);
    var series = stoa.get(SimulatedSeries.class, key);
    var open = history.begin(name);
    if (chance.percent(50)) {
      int step = chance.below(ShelfSteps.STEPS);
      ShelfSteps.run(shelf(stoa), step, chance.of(ShelfSteps.LISTS), name, open);
    } else if (chance.percent(50)) {
      open.read(key, series.elements());
    } else {
      open.append(key, name);
      open.read(key, series.append(name));
    }
    open.committed();
  }

  private static SimulatedShelf shelf(Stoa stoa) {
    return stoa.get(SimulatedShelf.class, "shelf");
  }

  private void lists(Stoa stoa, Chance chance, String name, TxOptions options) {
    List<Integer> steps = new ArrayList<>();
    // The calls on the shelf, negative where there is none.
    List<Integer> shelfSteps = new ArrayList<>();
    List<String> shelfLists = new ArrayList<>();
    for (int i = chance.between(1, 4); i > 0; i--) {
      steps.add(chance.below(4 * SERIES));
      shelfSteps.add(
          chance.percent(50)
              ? -1
              : options.readOnly() ? chance.below(2) : chance.below(ShelfSteps.STEPS));
      shelfLists.add(chance.of(ShelfSteps.LISTS));
    }
    // An attempt begins before its body does: when the body of the one before has ended.
    var attempts = new ArrayList<TransactionHistory.Open>();
    attempts.add(history.begin(name));
    stoa.transact(
        options,
        () -> {
          var open = attempts.getLast();
          if (attempts.size() > 1) attempts.get(attempts.size() - 2).aborted();
          for (int i = 0; i < steps.size(); i++) {
            String key = "s" + steps.get(i) % SERIES;
            var series = stoa.get(SimulatedSeries.class, key);
            if (shelfSteps.get(i) >= 0) {
              String element = name + "." + attempts.size() + "." + i;
              ShelfSteps.run(shelf(stoa), shelfSteps.get(i), shelfLists.get(i), element, open);
            } else if (options.readOnly() || steps.get(i) < 2 * SERIES) {
              open.read(key, series.elements());
            } else {
              String element = name + "." + attempts.size() + "." + i;
              open.append(key, element);
              open.read(key, series.append(element));
            }
          }
          attempts.add(history.begin(name + " again"));
          return true;
        });
    // The last one was never begun.
    attempts.getLast().aborted();
    attempts.get(attempts.size() - 2).committed();
    if (options.readOnly()) assertEquals(2, attempts.size(), "who only reads never conflicts");
  }

  private void move(Stoa stoa, String moved, String target) {
    stoa.transact(() -> {
      Map<String, String> references = new TreeMap<>();
      for (String name : NAMES) {
        var next = Objects.requireNonNull(stoa.get(SimulatedNode.class, name).next());
        references.put(name, String.valueOf(stoa.ref(next).key()));
      }
      ring.require(references)
          .move(moved, target)
          .forEach((from, to) ->
              stoa.get(SimulatedNode.class, from).link(stoa.get(SimulatedNode.class, to)));
      return true;
    });
  }

  private void pair(Stoa stoa, Chance chance, String name) {
    long change = chance.between(-20, 20);
    boolean reading = chance.percent(50);
    stoa.transact(() -> {
      var x = stoa.get(SimulatedRegister.class, "x");
      var y = stoa.get(SimulatedRegister.class, "y");
      long first = x.value();
      long second = y.value();
      probe.saw(name, first, second);
      if (reading) return true;
      x.write(first + change);
      y.write(second - change);
      return true;
    });
  }
}
