package stoa.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import stoa.Stoa;
import stoa.StreamKey;
import stoa.sim.Chance;
import stoa.sim.scenario.SimulatedRun;

class RemoteScenarioTest {
  @Test
  void historiesOverAServerThatIsKilledAndANetworkThatCutsAreExplained() {
    var passed =
        switch (SimulatedRun.of(new RemoteScenario(1, 130), 1)) {
          case SimulatedRun.Passed well -> well;
          case SimulatedRun.Failed failed ->
              throw new AssertionError(failed.line(), failed.cause());
        };
    assertEquals(1, passed.places().get("the server killed"));
    assertTrue(passed.places().getOrDefault("a connection cut", 0L) > 0, passed::toString);
    assertTrue(passed.places().getOrDefault("a transaction committed", 0L) > 0, passed::toString);
  }

  @Test
  void aCallThatRanTwiceIsNoticed() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      var work = new RecordedWork(stoa, new CallerProgress(), () -> true);
      var worker = work.worker("one", stoa, new Chance(1));
      for (int i = 0; i < 50; i++) worker.turn();
      stoa.get(Recorded.Counter.class, "counter 0").add(1);
      var wrong = assertThrows(AssertionError.class, () -> work.require(stoa));
      assertTrue(String.valueOf(wrong.getMessage()).contains("Read"), wrong::getMessage);
    }
  }

  @Test
  void anAppendThatIsThereTwiceIsNoticed() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      var work = new RecordedWork(stoa, new CallerProgress(), () -> true);
      var worker = work.worker("one", stoa, new Chance(1));
      for (int i = 0; i < 50; i++) worker.turn();
      StreamKey stream = StreamKey.of("recorded 0");
      stoa.streams().append(stream, stoa.streams().readAll(stream).getFirst().data());
      var wrong = assertThrows(AssertionError.class, () -> work.require(stoa));
      assertTrue(String.valueOf(wrong.getMessage()).contains("is there twice"), wrong::getMessage);
    }
  }

  @Test
  void anElementThatIsLostFromAListIsNoticed() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      var work = new RecordedWork(stoa, new CallerProgress(), () -> true);
      var worker = work.worker("one", stoa, new Chance(1));
      for (int i = 0; i < 50; i++) worker.turn();
      for (int i = 0; i < 3; i++) stoa.delete(stoa.get(Recorded.Series.class, "series 0." + i));
      var wrong = assertThrows(AssertionError.class, () -> work.require(stoa));
      assertTrue(
          String.valueOf(wrong.getMessage()).contains("not strictly serializable"),
          wrong::getMessage);
    }
  }
}
