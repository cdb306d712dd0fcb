package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import stoa.client.Addresses.Address;

class RouteTest {
  private static final Address A = new Address("a", 1);
  private static final Address B = new Address("b", 2);
  private static final Address C = new Address("c", 3);

  @Test
  void asksAllInTurnAndThenWaits() {
    var route = new Route(List.of(A, B));
    assertEquals(A, route.next());
    assertFalse(route.isRoundOver());
    assertEquals(B, route.next());
    assertTrue(route.isRoundOver());
    assertEquals(A, route.next());
  }

  @Test
  void goesAtOnceWhereItIsSent() {
    var route = new Route(List.of(A, B));
    assertEquals(A, route.next());
    route.elsewhere("c:3");
    assertFalse(route.isRoundOver());
    assertEquals(C, route.next());
    assertEquals(B, route.next());
  }

  @Test
  void doesNotGoBackAndForthBetweenServersThatSendItToEachOther() {
    var route = new Route(List.of(A, B));
    for (int i = 0; i < 3; i++) {
      route.elsewhere("a:1");
      assertEquals(A, route.next());
    }
    route.elsewhere("c:3");
    assertEquals(A, route.next());
    assertEquals(B, route.next());
    assertTrue(route.isRoundOver());
    route.arrived();
    route.elsewhere("c:3");
    assertEquals(C, route.next());
  }

  @Test
  void believesServersAgainInTheNextRound() {
    var route = new Route(List.of(A, B));
    for (int i = 0; i < 3; i++) {
      route.elsewhere("a:1");
      assertEquals(A, route.next());
    }
    assertEquals(A, route.next());
    assertEquals(B, route.next());
    assertTrue(route.isRoundOver());
    route.elsewhere("c:3");
    assertEquals(C, route.next());
  }

  @Test
  void isNotSentBackToAServerThatIsNotThere() {
    var route = new Route(List.of(B, C));
    assertEquals(B, route.next());
    route.elsewhere("a:1");
    route.failed();
    assertEquals(A, route.next());
    route.failed();
    assertEquals(C, route.next());
    route.elsewhere("a:1");
    assertTrue(route.isRoundOver());
    assertEquals(B, route.next());
    route.elsewhere("a:1");
    assertEquals(A, route.next());
  }

  @Test
  void knowsOneServerAndFindsTheOthers() {
    var route = new Route(List.of(A));
    assertTrue(route.isAlone());
    assertNull(route.other(A));
    route.learn(List.of("a:1", "b:2", "nonsense", "c:3"));
    assertFalse(route.isAlone());
    assertEquals(B, route.other(A));
    assertEquals(C, route.other(A));
    assertEquals(A, route.next());
    assertEquals(B, route.next());
    assertEquals(C, route.next());
    assertTrue(route.isRoundOver());
  }

  @Test
  void forgetsServersThatAreGoneButNeverThoseOfTheUrl() {
    var route = new Route(List.of(A));
    route.learn(List.of("b:2", "c:3"));
    route.learn(List.of("c:3"));
    assertEquals(A, route.next());
    assertEquals(C, route.next());
    assertEquals(A, route.next());
  }

  @Test
  void remembersNoMoreThanItsBound() {
    var route = new Route(List.of(A));
    route.learn(IntStream.rangeClosed(1, 1_000).mapToObj(port -> "x:" + port).toList());
    for (int i = 0; i < Route.SERVERS_MAX; i++) route.next();
    assertTrue(route.isRoundOver());
  }

  @Test
  void listensToNoAddressThatIsNone() {
    var route = new Route(List.of(A));
    route.elsewhere("");
    route.elsewhere("b");
    route.elsewhere("b:0");
    route.elsewhere("b:70000");
    assertEquals(A, route.next());
  }
}
