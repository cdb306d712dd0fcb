package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;
import stoa.Changes;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.Subscription;
import stoa.TooOld;

/// How long a store keeps the log for subscriptions, and how many notes.
class SubscriptionsTest {
  @Test
  void aPositionThatIsTooOldHoldsNothing() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var account = stoa.get(ChangesTest.Account.class, "a");
      account.add(0);
      Subscription kept = stoa.subscribe("kept", Duration.ofDays(1));
      Subscriptions all = LocalService.of(stoa).subscriptions();
      all.subscribe("late", 0);
      for (int i = 1; i < 10; i++) account.add(i);
      all.expire();
      assertTrue(stoa.history(account).trim(8) < 3);
      assertTrue(stoa.unsubscribe(kept.name()));
      assertEquals(8, stoa.history(account).trim(8));
      Subscription late = stoa.subscriptions().getFirst();
      try (var stream = late.changes(Changes.of(ChangesTest.Account.class))) {
        assertThrows(TooOld.class, () -> stream.poll());
      }
    }
  }

  @Test
  void aSubscriptionForEverHoldsTheLogForEver() {
    try (Stoa stoa = Stoa.open("memory:")) {
      var account = stoa.get(ChangesTest.Account.class, "a");
      account.add(0);
      Subscription kept = stoa.subscribe("kept", ChronoUnit.FOREVER.getDuration());
      for (int i = 1; i < 10; i++) account.add(i);
      LocalService.of(stoa).subscriptions().expire();
      assertTrue(stoa.history(account).trim(8) < 3);
      assertTrue(stoa.unsubscribe(kept.name()));
    }
  }

  @Test
  void manyAcknowledgementsLeaveFewNotes() {
    try (Stoa stoa = Stoa.open("memory:")) {
      Subscription one = stoa.subscribe("one", Duration.ofDays(1));
      LogAddress last = one.position();
      for (int i = 0; i < 3_000; i++) {
        last = stoa.streams().tail();
        one.acknowledge(last);
      }
      assertEquals(
          last, new Subscriptions(LocalService.of(stoa).core(), false).all().getFirst().position());
      var notes = new int[1];
      LocalService.of(stoa)
          .core()
          .scan(
              Subscriptions.KEY,
              _ -> {
                notes[0]++;
                return true;
              });
      assertTrue(notes[0] <= 1_024, notes[0] + " notes");
    }
  }
}
