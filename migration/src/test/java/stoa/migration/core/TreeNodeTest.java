package stoa.migration.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.Locality;
import stoa.Reads;
import stoa.base.StreamId;
import stoa.migration.core.TreeNode.Retrieval;

/// The behavior of one node. The simulation has found each of these faults once, in few of its
/// runs.
class TreeNodeTest {
  private static final StreamId X = new StreamId(0, 1);
  private static final StreamId Y = new StreamId(0, 2);

  private final TreeNode.Settings settings = new TreeNode.Settings(3, Retrieval.ONE_BY_ONE);
  private final NodeId parent = new NodeId("parent", 1);
  private final NodeId me = new NodeId("me", 2);

  private TreeNode joined() {
    var node = TreeNode.client(me, settings);
    node.on(new Event.Join(parent, Locality.UNKNOWN));
    get(node, new Message.Offer(parent));
    get(node, new Message.Welcome());
    return node;
  }

  private List<Effect> get(TreeNode node, Message message) {
    return node.on(new Event.Received(parent, message));
  }

  private static SortedSet<StreamId> set(StreamId... objects) {
    return new TreeSet<>(List.of(objects));
  }

  /* An operation changes objects, which the parent sends when they are not here. */
  private void update(TreeNode node, long number, StreamId... objects) {
    var effects = node.on(new Event.Submit(number, set(objects)));
    for (var object : objects) {
      if (node.owns(object)) continue;
      var copy = new Copy(object, CopyVersion.NONE, new byte[0]);
      effects = get(node, new Message.Migrate(object, new Upward(List.of(copy), List.of())));
    }
    var execute = assertInstanceOf(Effect.Execute.class, effects.getLast());
    SortedMap<StreamId, byte[]> outputs = new TreeMap<>();
    for (var object : objects) outputs.put(object, new byte[] {(byte) number});
    node.on(new Event.Executed(execute.number(), outputs));
  }

  private static CopyVersion version(long number) {
    return new CopyVersion(0, number);
  }

  @Test
  void aSuccessorSendsItsCopiesWithAllThatTheyDependOn() {
    var node = joined();
    update(node, 1, Y);
    node.on(new Event.Flush(2));
    get(node, new Message.Durable(2));
    update(node, 3, X);
    get(node, new Message.Hold(1, me));
    node.on(new Event.Flush(4)); // of X alone
    update(node, 5, X, Y);
    node.on(new Event.Flush(6));

    var above = new NodeId("above", 3);
    SortedMap<StreamId, List<NodeId>> queues = new TreeMap<>();
    queues.put(X, List.of(me));
    queues.put(Y, List.of(me));
    var promote =
        new Message.Promote(above, new TreeSet<>(), queues, Upward.NOTHING, new TreeMap<>());
    List<List<Copy>> sent = new ArrayList<>();
    for (var effect : get(node, promote)) {
      if (effect instanceof Effect.Send(_, Message.CopyUp up)) sent.add(up.copies().copies());
    }
    assertEquals(2, sent.size());
    var versions = sent.getFirst().stream().map(Copy::version).toList();
    assertEquals(List.of(version(2), version(2)), versions, () -> "of " + sent);
  }

  @Test
  void aRootAnswersAFlushWhenItIsSureThatItWasNotReplaced() {
    var root = TreeNode.root(parent, settings, 1);
    root.on(new Event.Received(me, new Message.Attach(Locality.UNKNOWN)));
    var copyUp = new Message.CopyUp(me, 7, set(), Upward.NOTHING);
    var effects = root.on(new Event.Received(me, copyUp));
    var persist = assertInstanceOf(Effect.Persist.class, effects.getFirst());
    assertEquals(1, effects.size(), effects::toString);
    assertEquals(
        List.of(new Effect.Tell(me, new Message.Durable(7))),
        root.on(new Event.Persisted(persist.number())));
  }

  @Test
  void aLateReadHidesNoUpdateFromAFlush() {
    var node = joined();
    node.on(new Event.Read(1, X, Reads.STRICT));
    update(node, 2, X);
    node.on(new Event.Flush(3));
    update(node, 4, X);
    get(node, new Message.Answer(1, new Copy(X, version(1), new byte[] {2})));
    assertTrue(get(node, new Message.Durable(3)).contains(new Effect.Flushed(3)));
    var effects = node.on(new Event.Flush(5));
    assertFalse(effects.contains(new Effect.Flushed(5)), "the last update is not durable");
    assertInstanceOf(Effect.Send.class, effects.getFirst());
  }
}
