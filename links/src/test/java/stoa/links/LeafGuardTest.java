package stoa.links;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.Locality;
import stoa.base.StreamId;
import stoa.migration.core.Copy;
import stoa.migration.core.CopyVersion;
import stoa.migration.core.Message;
import stoa.migration.core.NodeId;
import stoa.migration.core.Upward;
import stoa.transport.Status;

class LeafGuardTest {
  private static final StreamId ONE = new StreamId(0, 1);
  private static final StreamId OTHER = new StreamId(0, 2);
  private static final NodeId NODE = new NodeId("leaf://x", 1);

  private final Set<StreamId> permitted = new HashSet<>();
  private final List<Message> passed = new ArrayList<>();
  private final List<Status.Code> ends = new ArrayList<>();
  private boolean isCut;
  private final Pipe pipe =
      Pipe.to(
          new Pipe.Listener() {
            @Override
            public void frame(Pipe from, Frame frame) {}

            @Override
            public void over(Pipe from, Status why) {
              isCut = true;
              ends.add(why.code());
            }
          });
  private final LeafGuard guard =
      new LeafGuard(
          pipe,
          new Pipe.Listener() {
            @Override
            public void frame(Pipe from, Frame frame) {
              passed.add(((Frame.Delivery) frame).message());
            }

            @Override
            public void over(Pipe from, Status why) {}
          },
          permitted,
          () -> {});

  private void says(Message message) {
    guard.frame(pipe, new Frame.Delivery(message));
  }

  private static Upward with(StreamId object) {
    return new Upward(List.of(new Copy(object, new CopyVersion(1, 1), new byte[1])), List.of());
  }

  @Test
  void aMessagePassesWhenItsObjectsArePermittedAndInOrder() {
    var attach = new Message.Attach(Locality.UNKNOWN);
    var one = new Message.Retrieve(ONE);
    var other = new Message.Retrieve(OTHER);
    says(attach);
    says(one);
    says(other);
    assertEquals(List.of(attach), passed);
    permitted.add(OTHER);
    guard.pass();
    assertEquals(List.of(attach), passed, "nothing overtakes");
    permitted.add(ONE);
    guard.pass();
    assertEquals(List.of(attach, one, other), passed);
  }

  @Test
  void everyObjectOfAMessageMustBePermitted() {
    permitted.add(ONE);
    var has = new TreeMap<StreamId, CopyVersion>();
    has.put(OTHER, CopyVersion.NONE);
    var read = new Message.ReadId(NODE, 1, 1);
    for (var message :
        List.of(
            new Message.Retrieve(OTHER),
            new Message.Ask(read, OTHER),
            new Message.Migrate(ONE, with(OTHER)),
            new Message.Reply(read, ONE, with(OTHER)),
            new Message.CopyUp(NODE, 1, new TreeSet<>(List.of(OTHER)), with(ONE)),
            new Message.CopyUp(NODE, 1, new TreeSet<>(List.of(ONE)), with(OTHER)),
            new Message.Depart(with(OTHER)),
            new Message.Return(with(OTHER), new TreeMap<>()),
            new Message.Return(with(ONE), has))) {
      permitted.remove(OTHER);
      says(message);
      assertEquals(List.of(), passed, message::toString);
      permitted.add(OTHER);
      guard.pass();
      assertEquals(List.of(message), passed);
      passed.clear();
    }
    assertFalse(isCut);
  }

  @Test
  void whatALeafDoesNotSayEndsItsConnection() {
    for (var message :
        List.of(
            new Message.Hold(1, new NodeId("tcp://x", 1)),
            new Message.Replaced(NODE),
            new Message.Join(NODE, Locality.UNKNOWN, 0, new TreeSet<>()))) {
      assertEquals(List.of(), passed);
      says(message);
    }
    assertTrue(isCut);
    assertEquals(List.of(Status.Code.PERMISSION_DENIED), ends);
    assertEquals(List.of(), passed);
  }
}
