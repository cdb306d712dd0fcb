package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class LeaderTest {
  private final Leader leader = new Leader();

  @Test
  void tellsThoseWhoWaitAndThoseWhoComeLater() {
    CompletableFuture<String> early = leader.ask();
    assertFalse(early.isDone());
    leader.is("127.0.0.1:1");
    assertEquals("127.0.0.1:1", early.join());
    assertEquals("127.0.0.1:1", leader.ask().join());
    leader.isUnknown();
    CompletableFuture<String> later = leader.ask();
    assertFalse(later.isDone());
    leader.is("127.0.0.1:2");
    assertEquals("127.0.0.1:2", later.join());
  }

  @Test
  void keepsNothingOfThoseWhoWaitNoLonger() {
    for (int i = 0; i < 100; i++) {
      leader.ask().completeExceptionally(new CancellationException("its time is over"));
    }
    assertEquals(0, leader.waiting());
    leader.is("127.0.0.1:1");
    assertEquals("127.0.0.1:1", leader.ask().join());
  }
}
