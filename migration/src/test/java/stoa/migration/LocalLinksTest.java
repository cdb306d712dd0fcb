package stoa.migration;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.Locality;
import stoa.migration.core.Event;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;

/// The guarantees of [Links], for connections in one process.
class LocalLinksTest {
  private static final Message ATTACH = new Message.Attach(Locality.UNKNOWN);
  private static final NodeId ONE = new NodeId("one", 1);
  private static final NodeId TWO = new NodeId("two", 1);

  private final LocalLinks links = new LocalLinks();
  private final List<Event> one = new ArrayList<>();
  private final List<Event> two = new ArrayList<>();

  LocalLinksTest() {
    links.open(ONE, one::add);
    links.open(TWO, two::add);
  }

  private static Event said(Message message) {
    return new Event.Received(ONE, message);
  }

  @Test
  void messagesComeInTheirOrder() {
    links.send(ONE, TWO, ATTACH);
    links.send(ONE, TWO, new Message.Greet(Message.Kin.CHILD));
    assertEquals(List.of(said(ATTACH), said(new Message.Greet(Message.Kin.CHILD))), two);
    assertEquals(List.of(), one);
  }

  @Test
  void aConnectionThatWasCutIsGoneForBothAndTakesNothingMore() {
    links.send(ONE, TWO, ATTACH);
    links.cut(TWO, ONE);
    links.send(ONE, TWO, new Message.Greet(Message.Kin.CHILD));
    assertEquals(List.of(said(ATTACH), new Event.Gone(ONE)), two);
    assertEquals(List.of(new Event.Gone(TWO), new Event.Gone(TWO)), one);
  }

  @Test
  void theNeighborsOfANodeThatEndsAreTold() {
    links.send(ONE, TWO, ATTACH);
    links.close(ONE);
    assertEquals(List.of(said(ATTACH), new Event.Gone(ONE)), two);
    assertEquals(List.of(), one);
  }

  @Test
  void whoSendsToNobodyIsToldThatItIsGone() {
    var nobody = new NodeId("nobody", 1);
    links.send(ONE, nobody, ATTACH);
    links.tell(ONE, nobody, new Message.Durable(1));
    assertEquals(List.of(new Event.Gone(nobody)), one);
  }

  @Test
  void whatIsSaidLaterThanTheEndIsNotRefused() {
    links.delay(Duration.ofNanos(1));
    links.close();
    assertDoesNotThrow(() -> links.send(ONE, TWO, ATTACH));
  }
}
