package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import stoa.LogAddress;
import stoa.sim.check.ChangeHistory;
import stoa.sim.check.ChangeHistory.Told;

/// Consumers of changes miss nothing and get nothing twice, while leaders come and go.
class ChangesScenarioTest {
  private static final LogAddress BEGIN = new LogAddress(1, 0);

  @ParameterizedTest
  @ValueSource(strings = {"changes", "changes-replicated"})
  void everyChangeIsToldOnceInOrderAndWithItsTransaction(String name) {
    var reached = new TreeSet<String>();
    for (long seed = 0; seed < 4; seed++) {
      reached.addAll(SimulatedRun.require(Scenarios.named(name), seed).places().keySet());
    }
    for (var place :
        List.of(
            "a change with states",
            "a consumer begins with the present",
            "a consumer resumes",
            "a deployment",
            "a listener has heard everything",
            "a restart",
            "a transaction",
            "an acknowledgement",
            "an operator cancels a call",
            "something is kept")) {
      assertTrue(reached.contains(place), () -> place + " is not among " + reached);
    }
  }

  @Test
  void runsOfOneSeedHaveEqualTraces() {
    var scenario = Scenarios.named("changes");
    assertEquals(SimulatedRun.require(scenario, 5), SimulatedRun.require(scenario, 5));
  }

  private static Told told(
      int counter, int index, int size, String object, int version, String id) {
    return new Told(new LogAddress(1, counter), index, size, object, version, id);
  }

  private static ChangeHistory history(List<Told> changes) {
    var history = new ChangeHistory(BEGIN);
    for (Told change : changes) history.told(change, null, null);
    return history;
  }

  @Test
  void findsChangesThatAreMissingRepeatedReorderedOrTornApart() {
    var one = told(1, 0, 1, "a", 1, "i1");
    var both = List.of(told(2, 0, 2, "a", 2, "x2"), told(2, 1, 2, "b", 1, "x2"));
    var truth = Map.of("a", List.of("i1", "x2"), "b", List.of("x2"));
    history(List.of(one, both.getFirst(), both.getLast())).require(truth);
    history(List.of(one)).stored().require(Map.of("a", List.of("i1")));

    List<Consumer<ChangeHistory>> wrong =
        List.of(
            history -> history.require(truth), // both parts of the transaction are missing
            history -> history.told(one, null, null),
            history -> history.told(told(1, 0, 1, "b", 1, "i3"), null, null),
            history -> history.told(both.getLast(), null, null),
            history -> history.told(told(2, 0, 1, "a", 2, "x2"), null, null),
            history -> history.told(told(2, 0, 1, "a", 1, "i3"), null, null),
            history -> history.told(told(2, 0, 1, "a", 2, "i3"), List.of(), null),
            history -> history.told(told(2, 0, 1, "a", 2, "i3"), null, List.of("i3")),
            history -> {
              history.told(both.getFirst(), null, null);
              history.require(truth);
            },
            history -> {
              history.told(both.getFirst(), null, null);
              history.told(told(3, 1, 2, "b", 1, "x2"), null, null);
            });
    for (Consumer<ChangeHistory> each : wrong) {
      assertThrows(AssertionError.class, () -> each.accept(history(List.of(one))));
    }
  }
}
