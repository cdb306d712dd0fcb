package stoa.stacksync.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import stoa.Unavailable;
import stoa.UnknownOutcome;

class OutageTest {
  private final AtomicInteger calls = new AtomicInteger();

  @Test
  void whatHasNoOutcomeIsTriedAgainUntilItHasOne() {
    var outage = new Outage(Duration.ofMinutes(1));
    int answer =
        outage.bridge(() ->
            switch (calls.incrementAndGet()) {
              case 1 -> throw new Unavailable("the server is away");
              case 2 -> throw new UnknownOutcome("the connection was cut");
              default -> 42;
            });
    assertEquals(42, answer);
    assertEquals(3, calls.get());
  }

  @Test
  void withoutPatienceTheFirstOutcomeCounts() {
    assertThrows(Unavailable.class, () -> Outage.NONE.bridge(this::unavailable));
    assertEquals(1, calls.get());
  }

  @Test
  void otherFailuresAreOutcomes() {
    var outage = new Outage(Duration.ofMinutes(1));
    assertThrows(IllegalStateException.class, () -> outage.bridge(this::refused));
    assertEquals(1, calls.get());
  }

  private int unavailable() {
    calls.incrementAndGet();
    throw new Unavailable("the server is away");
  }

  private int refused() {
    calls.incrementAndGet();
    throw new IllegalStateException("refused");
  }
}
