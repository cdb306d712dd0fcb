package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import stoa.sim.Chance;
import stoa.sim.Trace;
import stoa.sim.check.ExactlyOnce;

class CampaignTest {
  /// A list that keeps appends in memory until they are synced; a crash drops what was not.
  public static class CarefulList implements Scenario {
    /// Whether an append is acknowledged only after its sync.
    boolean careful() {
      return true;
    }

    @Override
    public void run(Chance chance, Trace trace) {
      var ledger = new ExactlyOnce();
      List<ExactlyOnce.Entry> durable = new ArrayList<>();
      List<ExactlyOnce.Entry> volatileTail = new ArrayList<>();
      for (int i = 0; i < 50; i++) {
        String id = "i" + i;
        ledger.begin("list", id);
        int version = durable.size() + volatileTail.size() + 1;
        volatileTail.add(new ExactlyOnce.Entry(id, version));
        boolean crash = chance.percent(10);
        if (careful() && !crash) {
          durable.addAll(volatileTail);
          volatileTail.clear();
        }
        if (!crash) ledger.acknowledged("list", id, version);
        trace.add(id + (crash ? " crash" : " done"));
        if (!crash) continue;
        ledger.crashed();
        volatileTail.clear();
        ledger.require("list", durable, ExactlyOnce.Versions.DENSE);
      }
    }
  }

  /// The same, acknowledging too early.
  public static final class HastyList extends CarefulList {
    @Override
    boolean careful() {
      return false;
    }
  }

  /// Waits for ever, and clears up when it is interrupted.
  private static final class Endless implements Scenario {
    private final CountDownLatch never = new CountDownLatch(1);
    private volatile boolean cleared;

    @Override
    public Duration timeMax() {
      return Duration.ofSeconds(1);
    }

    @Override
    public void run(Chance chance, Trace trace) throws InterruptedException {
      trace.reached("the wait");
      try {
        never.await();
      } finally {
        cleared = true;
      }
    }
  }

  private static String output(boolean expected, String... args) {
    var bytes = new ByteArrayOutputStream();
    var out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    assertEquals(expected, Campaign.parse(List.of(args)).run(out), bytes::toString);
    return bytes.toString(StandardCharsets.UTF_8);
  }

  @Test
  void saysThatAllIsWell() {
    String name = CarefulList.class.getName();
    assertEquals(
        name + ": seeds 5-24, 1000 trace lines, all well\n",
        output(true, "--scenario", name, "--seeds", "5-24"));
  }

  @Test
  void printsOneLineWithTheCommandThatReplaysAFailure() {
    String name = HastyList.class.getName();
    var lines = output(false, "--scenario", name, "--seeds", "0-99").lines().toList();
    assertEquals(11, lines.size(), "ten failures are enough");
    String command = "./stoa test --campaign --scenario " + name + " --seeds 0-0  # ";
    assertTrue(lines.getFirst().startsWith(command), lines.getFirst());
    assertTrue(lines.getFirst().contains("LOST in list: i0 was acknowledged at version 1"));
    assertTrue(lines.getLast().endsWith("10 failed"), lines.getLast());
  }

  @Test
  void aReplayOfOneSeedShowsTheEndOfItsTrace() {
    String replay = output(false, "--scenario", HastyList.class.getName(), "--seeds", "3");
    assertTrue(replay.contains("\ni0 done\n"), replay);
    assertTrue(replay.contains("AssertionError: not exactly once"), replay);
  }

  @Test
  void aRunThatDoesNotEndIsInterruptedAndClearsUpBeforeTheNext() {
    var scenario = new Endless();
    var failed = assertInstanceOf(SimulatedRun.Failed.class, SimulatedRun.of(scenario, 1));
    assertTrue(scenario.cleared);
    assertTrue(failed.line().contains("did not end within 1 s"), failed.line());
    assertTrue(failed.details().contains("reached 1 times: the wait"), failed.details());
  }

  @Test
  void refusesArgumentsThatMakeNoSense() {
    for (var args :
        List.of(
            List.of("--scenario", "java.lang.String"),
            List.of("--scenario", "no.such.Class"),
            List.of("--scenario"),
            List.of("--seeds", "1-x"),
            List.of("--whatever"))) {
      assertThrows(IllegalArgumentException.class, () -> Campaign.parse(args));
    }
  }

  @Test
  void runsOfOneSeedHaveEqualTracesAndOfAnotherNot() {
    var scenario = new CarefulList();
    var one = assertInstanceOf(SimulatedRun.Passed.class, SimulatedRun.of(scenario, 1));
    assertEquals(one, SimulatedRun.of(scenario, 1));
    assertNotEquals(one, SimulatedRun.of(scenario, 2));
  }

  @Test
  void aPartsChoicesDependOnTheSeedAndItsNameAlone() {
    var chance = new Chance(7);
    long before = chance.of("disk").any();
    chance.any();
    assertEquals(before, chance.of("disk").any());
    assertNotEquals(before, chance.of("clients").any());
    assertNotEquals(before, new Chance(8).of("disk").any());
    assertFalse(new Chance(1).percent(0));
    assertTrue(new Chance(1).percent(100));
  }

  @Test
  void theHelpNamesEachOptionAndEachScenario() {
    String help = Campaign.help();
    for (String option : List.of("--scenario", "--seeds", "--digests")) {
      assertTrue(help.contains("  " + option + " "), help);
    }
    for (Scenario scenario : Scenarios.ALL) assertTrue(help.contains(scenario.name()), help);
  }
}
