package stoa.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import stoa.Stoa;

@StoaTest
@SuppressWarnings("NullAway.Init") // the extension sets the fields
class StoaExtensionTest {
  @Served private static StoaServer ofClass;
  @Embedded private Stoa ofTest;

  private static final List<StoaStore> SEEN = new ArrayList<>();

  @AfterAll
  static void theStoresOfTestsAreClosed() {
    assertFalse(SEEN.isEmpty());
    for (StoaStore store : SEEN) assertThrows(IllegalStateException.class, store::stoa);
    assertTrue(ofClass.isRunning());
  }

  @Test
  void aParameterGetsAStoreInMemory(Stoa stoa, StoaStore store) {
    assertEquals(5, stoa.get(Account.class, "ada").deposit(5));
    SEEN.add(store);
    assertSame(stoa, store.stoa());
    assertSame(stoa, ofTest);
  }

  @Test
  void eachTestGetsAStoreOfItsOwn(StoaStore store) {
    assertTrue(store.stoa().find(Account.class, "ada").isEmpty());
  }

  @Test
  void aParameterGetsTheServerOfItsClass(@Served Stoa client, StoaServer server) {
    assertSame(ofClass, server);
    assertSame(client, server.client());
    assertEquals(5, client.get(Account.class, "ada").deposit(5));
  }

  @Test
  void theClockIsThatOfTheStores(StoaStore store, StoaClock clock) {
    assertSame(clock, store.clock());
    clock.advance(Duration.ofDays(400));
    Account ada = store.stoa().get(Account.class, "ada");
    ada.deposit(1);
    assertTrue(ada.last().isAfter(Instant.now().plusSeconds(300L * 86_400)));
  }
}
