package stoa.migration.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.Locality;
import stoa.migration.core.TreeNode.Retrieval;

/// Nodes that leave while their root, which has successors, ends.
class LeaveTest {
  private static final Message DEPART = new Message.Depart(Upward.NOTHING);
  private static final Message RETURN = new Message.Return(Upward.NOTHING, new TreeMap<>());
  private static final int TICKS = 25;

  private final TreeNode.Settings settings = new TreeNode.Settings(5, Retrieval.ONE_BY_ONE);
  private final NodeId me = new NodeId("me", 1);
  private final NodeId other = new NodeId("other", 1);
  private final NodeId before = new NodeId("root", 1);
  private final NodeId next = new NodeId("root", 2);

  private static List<Effect> get(TreeNode node, NodeId from, Message message) {
    return node.on(new Event.Received(from, message));
  }

  private static List<Effect> joins(TreeNode node, NodeId root) {
    return node.on(new Event.Join(root, Locality.UNKNOWN));
  }

  /* A child of a root that has taken its leave, and has not said farewell. */
  private TreeNode leaving() {
    var node = TreeNode.client(me, settings);
    joins(node, before);
    get(node, before, new Message.Offer(before));
    get(node, before, new Message.Welcome());
    get(node, before, new Message.Kept(new TreeMap<>()));
    assertEquals(List.of(new Effect.Send(before, DEPART)), node.on(new Event.Leave()));
    return node;
  }

  private TreeNode rootAfter(NodeId... expected) {
    return TreeNode.root(next, settings, 100, new TreeSet<>(List.of(expected)), (_, _) -> false);
  }

  @Test
  void aNodeThatLeavesAsItsRootEndsKeepsTheNextRootFromWaitingForIt() {
    var node = leaving();
    assertEquals(List.of(), node.on(new Event.Gone(before)));
    assertEquals(List.of(new Effect.Send(next, RETURN)), joins(node, next));

    var root = rootAfter(me);
    assertTrue(get(root, me, RETURN).contains(new Effect.Send(me, new Message.Welcome())));
    assertEquals(List.of(), List.copyOf(root.expected()));
    assertEquals(List.of(new Effect.Send(next, DEPART)), get(node, next, new Message.Welcome()));
    get(root, me, DEPART);
    assertEquals(List.of(), List.copyOf(root.below()));
    assertEquals(List.of(new Effect.Left()), get(node, next, new Message.Farewell()));
  }

  @Test
  void aNodeHasLeftWhenTheNextRootDoesNotExpectIt() {
    var node = leaving();
    node.on(new Event.Gone(before));
    joins(node, next);
    assertEquals(List.of(new Effect.Cut(me)), get(rootAfter(other), me, RETURN));
    assertEquals(List.of(), node.on(new Event.Gone(next)));
    assertEquals(List.of(new Effect.Left()), joins(node, next));
  }

  @Test
  void aNodeHasLeftWhenNoRootComes() {
    var node = leaving();
    node.on(new Event.Gone(before));
    for (int i = 1; i < TICKS; i++) assertEquals(List.of(), node.on(new Event.Tick()));
    assertEquals(List.of(new Effect.Left()), node.on(new Event.Tick()));
  }

  @Test
  void aRootSaysFarewellWhenNoNextRootExpectsTheNode() {
    var root = rootAfter(me);
    get(root, me, RETURN);
    var farewell = new Effect.Send(me, new Message.Farewell());
    var effects = get(root, me, DEPART);
    assertFalse(effects.contains(farewell), "the store still lists it");
    assertTrue(effects.contains(new Effect.Persist(1, List.of(), new TreeSet<>())));
    assertTrue(effects.contains(new Effect.Hasten()), "the node waits");
    assertEquals(List.of(farewell), root.on(new Event.Persisted(1)));
  }

  @Test
  void aRootExpectsNoSuccessorThatIsStillBelowItsParent() {
    var root = rootAfter(me, other);
    get(root, me, RETURN);
    assertEquals(List.of(other), List.copyOf(root.expected()));
    get(root, me, new Message.Hold(2, other));
    assertEquals(List.of(), List.copyOf(root.expected()));
  }
}
