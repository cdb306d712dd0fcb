package stoa.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import stoa.Stoa;

class SimulationTest {
  private static final int SEEDS = 15;

  // No result depends on it.
  private static final Duration TIME_MAX = Duration.ofMinutes(4);

  /// Moves money between accounts.
  private abstract static class Payments implements SimulatedWork {
    @Override
    public void begin(Stoa stoa) {
      Account first = stoa.get(Account.class, 0);
      if (first.balance() + stoa.get(Account.class, 1).balance() == 0) first.deposit(100);
    }

    @Override
    public void step(Stoa stoa, RandomGenerator random) {
      int from = random.nextInt(2);
      Account payer = stoa.get(Account.class, from);
      Account payee = stoa.get(Account.class, 1 - from);
      if (payer.balance() > 0) pay(stoa, payer, payee);
    }

    abstract void pay(Stoa stoa, Account payer, Account payee);

    @Override
    public void check(Stoa stoa) {
      long sum =
          stoa.transact(
              () -> stoa.get(Account.class, 0).balance() + stoa.get(Account.class, 1).balance());
      assertEquals(100, sum);
    }
  }

  private static final class Together extends Payments {
    @Override
    void pay(Stoa stoa, Account payer, Account payee) {
      stoa.transact(() -> {
        payer.withdraw(1);
        payee.deposit(1);
      });
    }
  }

  /// Wrong: a crash between the calls loses money.
  private static final class OneAfterTheOther extends Payments {
    @Override
    void pay(Stoa stoa, Account payer, Account payee) {
      payer.withdraw(1);
      payee.deposit(1);
    }
  }

  @Test
  void aTransactionSurvivesAllCrashes() {
    assertEquals(SEEDS, Simulation.of(Together::new).seeds(SEEDS).timeMax(TIME_MAX).run());
  }

  @Test
  void aTransactionSurvivesChangesOfTheLeader() {
    assertEquals(
        SEEDS, Simulation.of(Together::new).seeds(SEEDS).replicas(3).timeMax(TIME_MAX).run());
  }

  @Test
  void aCrashBetweenTwoCallsBreaksTheRule() {
    var told =
        assertThrows(
            AssertionError.class,
            () -> Simulation.of(OneAfterTheOther::new).seeds(SEEDS).timeMax(TIME_MAX).run());
    Matcher seed =
        Pattern.compile("seed (\\d+): .*expected: <100>", Pattern.DOTALL)
            .matcher(told.getMessage());
    assertTrue(seed.find(), told.getMessage());
    long found = Long.parseLong(seed.group(1));
    // The same seed fails in the same way.
    var again =
        assertThrows(
            AssertionError.class, () -> Simulation.of(OneAfterTheOther::new).seed(found).run());
    assertEquals(told.getMessage(), again.getMessage());
  }

  @Test
  void aChangeOfTheLeaderBetweenTwoCallsBreaksTheRule() {
    assertThrows(
        AssertionError.class,
        () ->
            Simulation.of(OneAfterTheOther::new).seeds(SEEDS).replicas(3).timeMax(TIME_MAX).run());
  }
}
