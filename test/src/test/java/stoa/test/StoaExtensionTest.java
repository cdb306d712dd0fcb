package stoa.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import stoa.Stoa;

@StoaTest
class StoaExtensionTest {
  @Served private static StoaServer ofClass;
  @Embedded private Stoa ofTest;

  @Test
  void aParameterGetsAStoreInMemory(Stoa stoa, StoaStore store) {
    assertEquals(5, stoa.get(Account.class, "ada").deposit(5));
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
    clock.advance(java.time.Duration.ofDays(400));
    Account ada = store.stoa().get(Account.class, "ada");
    ada.deposit(1);
    assertTrue(ada.last().isAfter(Instant.now().plusSeconds(300L * 86_400)));
  }
}
