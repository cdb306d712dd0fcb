package stoa.raft.core;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import stoa.raft.NodeConfig;

class StarvingTest {
  private static final int PATIENT = NodeConfig.DOUBLINGS_MAX;
  private static final int IMPATIENT = 0;
  private static final int SLOW_MILLIS = 2_000;

  // By how much the times after the end of a leader may differ, which are random.
  private static final long DIFFERENCE_MILLIS_MAX = 20;

  private static final Seeds SEEDS = new Seeds("stoa.raft.starving.seeds");

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 3})
  void aSlowNetworkHasALeaderThatCommits(long seed) {
    Seeds.requireNoticed(
        new StarvingScenario(SLOW_MILLIS, 0, IMPATIENT),
        seed,
        "no command was committed on a slow machine");
    SEEDS.run(new StarvingScenario(SLOW_MILLIS, 0, PATIENT), seed);
  }

  // In this run a candidate has a shorter log than the others, and its terms come first.
  @Test
  void aCandidateWithTooShortALogDoesNotHinderTheOthers() {
    SEEDS.run(new StarvingScenario(300, 0, PATIENT), 74);
  }

  // In these runs a leader has answers to read whenever it finds that it has heard nobody.
  @ParameterizedTest
  @ValueSource(longs = {12, 14, 18})
  void machinesThatRarelyRunHaveALeaderThatCommits(long seed) {
    SEEDS.run(new StarvingScenario(0, SLOW_MILLIS, PATIENT), seed);
  }

  @Test
  void theElectionAfterTheEndOfALeaderTakesNoLonger() {
    long patient = medianAfterTheEnd(PATIENT);
    long impatient = medianAfterTheEnd(IMPATIENT);
    assertTrue(
        patient <= impatient + DIFFERENCE_MILLIS_MAX, patient + " ms, and " + impatient + " ms");
  }

  private static long medianAfterTheEnd(int doublingsMax) {
    var times = new ArrayList<Long>();
    for (long seed = 0; seed < 40; seed++) {
      var run = SEEDS.run(new StarvingScenario(0, 0, doublingsMax), seed);
      times.addAll(run.measures().getOrDefault(StarvingScenario.AFTER_THE_END, List.of()));
    }
    Collections.sort(times);
    return times.get(times.size() / 2);
  }
}
