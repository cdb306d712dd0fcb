package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import stoa.transport.Address;

class ServerSelectorTest {
  private static final Address A = new Address("a", 1);
  private static final Address B = new Address("b", 2);
  private static final Address C = new Address("c", 3);

  @Test
  void asksAllInTurnAndThenWaits() {
    var selector = new ServerSelector(List.of(A, B));
    assertEquals(A, selector.next());
    assertFalse(selector.isRoundOver());
    assertEquals(B, selector.next());
    assertTrue(selector.isRoundOver());
    assertEquals(A, selector.next());
  }

  @Test
  void goesAtOnceWhereItIsSent() {
    var selector = new ServerSelector(List.of(A, B));
    assertEquals(A, selector.next());
    selector.elsewhere("c:3");
    assertFalse(selector.isRoundOver());
    assertEquals(C, selector.next());
    assertEquals(B, selector.next());
  }

  @Test
  void doesNotGoBackAndForthBetweenServersThatSendItToEachOther() {
    var selector = new ServerSelector(List.of(A, B));
    for (int i = 0; i < 3; i++) {
      selector.elsewhere("a:1");
      assertEquals(A, selector.next());
    }
    selector.elsewhere("c:3");
    assertEquals(A, selector.next());
    assertEquals(B, selector.next());
    assertTrue(selector.isRoundOver());
    selector.arrived();
    selector.elsewhere("c:3");
    assertEquals(C, selector.next());
  }

  @Test
  void believesServersAgainInTheNextRound() {
    var selector = new ServerSelector(List.of(A, B));
    for (int i = 0; i < 3; i++) {
      selector.elsewhere("a:1");
      assertEquals(A, selector.next());
    }
    assertEquals(A, selector.next());
    assertEquals(B, selector.next());
    assertTrue(selector.isRoundOver());
    selector.elsewhere("c:3");
    assertEquals(C, selector.next());
  }

  @Test
  void isNotSentBackToAServerThatIsNotThere() {
    var selector = new ServerSelector(List.of(B, C));
    assertEquals(B, selector.next());
    selector.elsewhere("a:1");
    selector.failed();
    assertEquals(A, selector.next());
    selector.failed();
    assertEquals(C, selector.next());
    selector.elsewhere("a:1");
    assertTrue(selector.isRoundOver());
    assertEquals(B, selector.next());
    selector.elsewhere("a:1");
    assertEquals(A, selector.next());
  }

  @Test
  void knowsOneServerAndFindsTheOthers() {
    var selector = new ServerSelector(List.of(A));
    assertTrue(selector.isAlone());
    assertNull(selector.other(A));
    selector.learn(List.of("a:1", "b:2", "nonsense", "c:3"));
    assertFalse(selector.isAlone());
    assertEquals(B, selector.other(A));
    assertEquals(C, selector.other(A));
    assertEquals(A, selector.next());
    assertEquals(B, selector.next());
    assertEquals(C, selector.next());
    assertTrue(selector.isRoundOver());
  }

  @Test
  void forgetsServersThatAreGoneButNeverThoseOfTheUrl() {
    var selector = new ServerSelector(List.of(A));
    selector.learn(List.of("b:2", "c:3"));
    selector.learn(List.of("c:3"));
    assertEquals(A, selector.next());
    assertEquals(C, selector.next());
    assertEquals(A, selector.next());
  }

  @Test
  void remembersNoMoreThanItsBound() {
    var selector = new ServerSelector(List.of(A));
    selector.learn(IntStream.rangeClosed(1, 1_000).mapToObj(port -> "x:" + port).toList());
    for (int i = 0; i < ServerSelector.SERVERS_MAX; i++) selector.next();
    assertTrue(selector.isRoundOver());
  }

  @Test
  void listensToNoAddressThatIsNone() {
    var selector = new ServerSelector(List.of(A));
    selector.elsewhere("");
    selector.elsewhere("b");
    selector.elsewhere("b:0");
    selector.elsewhere("b:70000");
    assertEquals(A, selector.next());
  }
}
