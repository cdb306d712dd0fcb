package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.LimitExceeded;
import stoa.Shared;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.Linearizability;
import stoa.sim.check.ObjectModel;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.Recorder;
import stoa.sim.world.SimulatedStore;

/// How to test a shared class of one's own under crashes.
class TutorialTest {
  /// The class under test.
  @Shared(name = "tutorial.Stock")
  static class Stock {
    private long items = 20;

    protected Stock() {}

    public long take(long count) {
      if (count > items) throw new IllegalStateException("only " + items);
      items -= count;
      return items;
    }

    public long bring(long count) {
      return items += count;
    }

    @Accessor
    public long items() {
      return items;
    }
  }

  /// The plain class says what must happen; the store must do the same, whatever happens to it.
  public static final class StockScenario implements Scenario {
    private static final ObjectModel<Stock> MODEL =
        new ObjectModel<>(Stock::new, StockScenario::copy, Stock::items);

    private record Asked(
        CompletableFuture<Long> answer,
        Recorder.Client<ObjectModel.Invocation<Stock>, ObjectModel.Answer>.Open call) {}

    private static Stock copy(Stock stock) {
      var copy = new Stock();
      copy.items = stock.items;
      return copy;
    }

    @Override
    public void run(Chance chance, Trace trace) {
      var disk = PoweredDisk.simulated(chance.of("disk"), 30);
      var store = new SimulatedStore(chance, StoaConfig.of("file:simulated"), disk);
      var time = new AtomicLong();
      var recorder =
          new Recorder<ObjectModel.Invocation<Stock>, ObjectModel.Answer>(time::incrementAndGet);
      var client = recorder.client("client");
      List<Asked> asked = new ArrayList<>();
      Stock stock = find(store);
      for (int turn = 0; turn < 60; turn++) {
        long count = chance.between(1, 6);
        boolean take = chance.percent(50);
        String name = (take ? "take " : "bring ") + count;
        var call =
            client.begin(
                new ObjectModel.Invocation<>(
                    name, plain -> take ? plain.take(count) : plain.bring(count)));
        Stock shared = stock;
        asked.add(
            new Asked(
                store.stoa().async(shared, s -> take ? s.take(count) : s.bring(count)), call));
        for (int i = chance.below(4); i > 0; i--) store.step();
        collect(asked, trace);
        if (chance.percent(10)) {
          trace.reached("a restart");
          store.restart();
          stock = find(store);
          // Nothing of before can still take effect.
          for (var one : asked) one.call().lost();
          asked.clear();
        }
      }
      store.calm();
      store.restart();
      for (var one : asked) one.call().lost();
      Stock last = find(store);
      client
          .begin(new ObjectModel.Invocation<>("items", Stock::items))
          .returned(new ObjectModel.Answer.Returned(store.await(last::items)));
      trace.add(recorder.history().toString());
      Linearizability.require(MODEL, recorder.history());
    }

    private static Stock find(SimulatedStore store) {
      while (true) {
        try {
          return store.await(() -> {
            var found = store.stoa().find(Stock.class, "apples");
            Stock stock = found.orElseGet(() -> store.stoa().create(Stock.class, "apples"));
            long items = stock.items();
            assertTrue(items >= 0);
            return stock;
          });
        } catch (StoaException failed) {
          store.restart();
        }
      }
    }

    private static void collect(List<Asked> asked, Trace trace) {
      for (var one : List.copyOf(asked)) {
        if (!one.answer().isDone()) continue;
        asked.remove(one);
        try {
          one.call().returned(new ObjectModel.Answer.Returned(one.answer().join()));
        } catch (CompletionException thrown) {
          switch (thrown.getCause()) {
            case IllegalStateException e ->
                one.call()
                    .returned(
                        new ObjectModel.Answer.Threw(
                            e.getClass().getName(), String.valueOf(e.getMessage())));
            case Unavailable _, LimitExceeded _ -> one.call().refused();
            case null, default -> {
              trace.reached("an unknown outcome");
              one.call().lost();
            }
          }
        }
      }
    }
  }

  @Test
  void aStockIsWhatItsPlainClassSaysOverAllCrashes() {
    Set<String> places = new TreeSet<>();
    for (int seed = 0; seed < 60; seed++) {
      places.addAll(SimulatedRun.require(new StockScenario(), seed).places().keySet());
    }
    assertTrue(places.containsAll(List.of("a restart", "an unknown outcome")), places::toString);
  }
}
