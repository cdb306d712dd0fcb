package stoa.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import stoa.Aborted;
import stoa.Stoa;
import stoa.TxOptions;
import stoa.spring.fine.Counter;

/// Transactions through the template, and their meters.
class StoaTransactionTemplateTest {
  private final Stoa stoa = Stoa.open("memory:");
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final StoaTransactionTemplate transactions =
      new StoaTransactionTemplate(
          stoa, TxOptions.STANDARD, List.of(new TransactionMetrics(meters)));
  private final Counter counter = stoa.get(Counter.class, "a");

  @AfterEach
  void close() {
    stoa.close();
  }

  private void incrementElsewhere() {
    CompletableFuture.runAsync(counter::increment).join();
  }

  @Test
  void runsTheBodyAgainWhenAnotherCallerWon() {
    int[] runs = {0};
    long result =
        transactions.transact(() -> {
          long seen = counter.increment();
          if (runs[0]++ == 0) incrementElsewhere();
          return seen;
        });
    assertEquals(2, result);
    assertEquals(2, attempts("committed"));
  }

  @Test
  void anAbortIsALostRace() {
    var once = transactions.with(TxOptions.STANDARD.withAttemptsMax(1));
    var thrown =
        assertThrows(
            OptimisticLockingFailureException.class,
            () ->
                once.transact(() -> {
                  counter.increment();
                  incrementElsewhere();
                }));
    assertInstanceOf(Aborted.class, thrown.getCause());
    assertEquals(1, attempts("aborted"));
  }

  @Test
  void anExceptionOfTheBodyRollsBackAndStaysAsItIs() {
    assertThrows(
        IllegalStateException.class,
        () ->
            transactions.transact(() -> {
              counter.increment();
              counter.refuse();
            }));
    assertEquals(0, counter.value());
    assertEquals(1, attempts("rolled-back"));
  }

  @Test
  void aTransactionEndsWithItsTime() {
    assertThrows(
        QueryTimeoutException.class,
        () ->
            transactions
                .within(Duration.ofNanos(1))
                .transact(() -> {
                  counter.increment();
                }));
    assertEquals(0, counter.value());
    assertEquals(1, attempts("deadline"));
  }

  @Test
  void aReadingTransactionRefusesToWrite() {
    var reading = transactions.reading();
    assertThrows(
        UnsupportedOperationException.class, () -> reading.transact(() -> counter.increment()));
    assertEquals(0, reading.transact(() -> counter.value()));
    assertEquals(
        1,
        meters
            .get("stoa.template.transactions")
            .tag("kind", "read")
            .tag("outcome", "committed")
            .timer()
            .count());
  }

  @Test
  void aListenerThatFailsDoesNotHideTheResult() {
    TransactionListener failing =
        (_, _, _, _) -> {
          throw new IllegalStateException("no meters today");
        };
    var told = new StoaTransactionTemplate(stoa, TxOptions.STANDARD, List.of(failing));
    assertEquals(1, told.transact(() -> counter.increment()));
  }

  @Test
  void aTransactionInsideTakesPartInTheOneAround() {
    assertThrows(
        IllegalStateException.class,
        () ->
            transactions.transact(() -> {
              transactions.transact(() -> {
                counter.increment();
              });
              assertEquals(1, counter.value());
              throw new IllegalStateException("all of it goes");
            }));
    assertEquals(0, counter.value());
  }

  private double attempts(String outcome) {
    return meters.get("stoa.template.attempts").tag("outcome", outcome).summary().totalAmount();
  }
}
