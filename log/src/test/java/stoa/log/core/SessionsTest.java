package stoa.log.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;
import stoa.LogAddress;
import stoa.log.Sequencer.Known;
import stoa.log.TransactionId;

class SessionsTest {
  private static final LogAddress HERE = new LogAddress(1, 7);

  private static TransactionId id(long session, long sequence) {
    return new TransactionId(session, sequence);
  }

  @Test
  void remembersTheLastAppendOfASession() {
    var sessions = new Sessions(10);
    assertEquals(Known.NOT_TAKEN, sessions.known(id(1, 1)));
    sessions.take(id(1, 5), HERE);
    sessions.take(id(1, 3), new LogAddress(1, 9));
    assertEquals(Known.TAKEN, sessions.known(id(1, 5)));
    assertEquals(HERE, sessions.address(id(1, 5)));
    assertEquals(Known.OLD, sessions.known(id(1, 3)));
    assertEquals(Known.NOT_TAKEN, sessions.known(id(1, 6)));
    assertNull(sessions.address(id(1, 6)));
  }

  @Test
  void aForgottenSessionIsNotTakenForANewOne() {
    var sessions = new Sessions(2);
    for (long session = 1; session <= 3; session++) sessions.take(id(session, 1), HERE);
    assertEquals(Known.EXPIRED, sessions.known(id(1, 1)));
    assertEquals(Known.EXPIRED, sessions.known(id(1, 2)));
    assertEquals(Known.TAKEN, sessions.known(id(2, 1)));
    assertEquals(Known.NOT_TAKEN, sessions.known(id(4, 1)));
  }

  @Test
  void aPartOfWhatThereWasTellsNothingOfLaterAppends() {
    var sessions = new Sessions(10);
    sessions.take(id(1, 5), HERE);
    sessions.expire(100);
    assertEquals(Known.TAKEN, sessions.known(id(1, 5)));
    assertEquals(Known.OLD, sessions.known(id(1, 4)));
    assertEquals(Known.EXPIRED, sessions.known(id(1, 6)));
    assertEquals(Known.EXPIRED, sessions.known(id(2, 1)));
    assertEquals(Known.NOT_TAKEN, sessions.known(id(101, 1)));
  }
}
