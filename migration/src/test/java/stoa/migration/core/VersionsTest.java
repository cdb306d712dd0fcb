package stoa.migration.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.Locality;
import stoa.Reads;
import stoa.base.StreamId;
import stoa.migration.core.TreeNode.Retrieval;

/// The versions that nodes note of objects, and the objects that a root forgets.
class VersionsTest {
  private static final int VERSIONS_MAX = 10;
  private static final TreeNode.Settings SETTINGS =
      new TreeNode.Settings(5, Retrieval.ONE_BY_ONE, 0, VERSIONS_MAX);

  private final NodeId root = new NodeId("root", 1);
  private final NodeId me = new NodeId("me", 2);
  private long numbers;

  private static StreamId object(int i) {
    return new StreamId(0, i + 1);
  }

  private List<Effect> says(TreeNode node, NodeId from, Message message) {
    return node.on(new Event.Received(from, message));
  }

  private TreeNode joined() {
    var node = TreeNode.client(me, SETTINGS);
    node.on(new Event.Join(root, Locality.UNKNOWN));
    says(node, root, new Message.Offer(root));
    says(node, root, new Message.Welcome());
    return node;
  }

  private static Upward copy(int i, int bytes) {
    var copy = new Copy(object(i), new CopyVersion(1, 0), new byte[bytes]);
    return new Upward(List.of(copy), List.of());
  }

  /* An object comes for an operation, and moves on. */
  private List<Effect> passes(TreeNode node, int i, int bytes) {
    long number = ++numbers;
    node.on(new Event.Submit(number, new TreeSet<>(List.of(object(i)))));
    says(node, root, new Message.Migrate(object(i), copy(i, bytes)));
    node.on(new Event.Executed(number, new TreeMap<>()));
    return says(node, root, new Message.Retrieve(object(i)));
  }

  @Test
  void aNodeThatHasNotedTooManyVersionsLeavesAndAnotherOneFollows() {
    var node = joined();
    for (int i = 0; i < VERSIONS_MAX / 2; i++) {
      assertFalse(passes(node, i, 8).contains(new Effect.Moving()));
    }
    // Each of the dropped copies counts twice: for what comes, and for what is read.
    var effects = passes(node, VERSIONS_MAX / 2, 8);
    assertEquals(new Effect.Moving(), effects.get(1), effects::toString);
    assertTrue(effects.getLast() instanceof Effect.Send(_, Message.CopyUp _), effects::toString);
    effects = says(node, root, new Message.Durable(-1));
    assertTrue(effects.getLast() instanceof Effect.Send(_, Message.Depart _), effects::toString);
  }

  @Test
  void aNodeFollowsThatHasNotedTooManyObjectsWithoutAState() {
    var node = joined();
    for (int i = 0; i < VERSIONS_MAX; i++) {
      assertFalse(passes(node, i, 0).contains(new Effect.Moving()));
    }
    // At its arrival there.
    node.on(new Event.Submit(100, new TreeSet<>(List.of(object(VERSIONS_MAX)))));
    var effects =
        says(node, root, new Message.Migrate(object(VERSIONS_MAX), copy(VERSIONS_MAX, 0)));
    assertEquals(new Effect.Moving(), effects.getLast(), effects::toString);
  }

  @Test
  void aNodeMakesDurableWhatItHasSeenWhenThatIsTooMuch() {
    var node = joined();
    List<Effect> effects = List.of();
    for (int i = 0; i <= VERSIONS_MAX; i++) {
      node.on(new Event.Read(++numbers, object(0), Reads.STRICT));
      var copy = new Copy(object(i), new CopyVersion(1, 1), new byte[0]);
      effects = says(node, root, new Message.Answer(numbers, copy));
      if (i < VERSIONS_MAX) assertEquals(1, effects.size(), effects::toString);
    }
    assertTrue(effects.get(1) instanceof Effect.Send(_, Message.CopyUp _), effects::toString);
    assertEquals(List.of(), says(node, root, new Message.Durable(-2)), "no caller waits for it");
    assertEquals(List.of(new Effect.Flushed(77)), node.on(new Event.Flush(77)));
  }

  // ---- the root

  private TreeNode above() {
    var node = TreeNode.root(root, new TreeNode.Settings(5, Retrieval.ONE_BY_ONE), 1);
    says(node, me, new Message.Attach(Locality.UNKNOWN));
    return node;
  }

  private static List<Effect> unused(TreeNode node) {
    return node.on(new Event.Unused(new TreeSet<>(List.of(object(0)))));
  }

  @Test
  void theRootTakesBackWhatIsNotUsedAndForgetsItWhenItWasNeverConstructed() {
    var node = above();
    says(node, me, new Message.Retrieve(object(0)));
    assertEquals(List.of(), unused(node), "it is not loaded");
    node.on(new Event.Loaded(object(0), null, new byte[0]));
    var retrieve = new Effect.Send(me, new Message.Retrieve(object(0)));
    assertEquals(List.of(retrieve), unused(node));
    assertEquals(List.of(), unused(node), "it is on its way");
    says(node, me, new Message.Migrate(object(0), Upward.NOTHING));
    assertTrue(node.owns(object(0)));
    var forgotten = new Effect.Forgotten(new TreeSet<>(List.of(object(0))));
    assertEquals(List.of(forgotten), unused(node));
    assertEquals(CopyVersion.NONE, node.version(object(0)));

    // A copy of it says nothing, and is not waited for.
    var copies =
        new Upward(List.of(new Copy(object(0), new CopyVersion(1, 0), new byte[0])), List.of());
    says(node, me, new Message.Depart(copies));
    assertEquals(List.of(), List.copyOf(node.below()));
    assertEquals(CopyVersion.NONE, node.version(object(0)));
  }

  @Test
  void theRootKeepsWhatItLoadsForAMessageUntilAllIsLoaded() {
    var node = TreeNode.root(root, new TreeNode.Settings(5, Retrieval.ONE_BY_ONE, 0, 0), 1);
    says(node, me, new Message.Attach(Locality.UNKNOWN));
    List<Copy> copies = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      copies.add(new Copy(object(i), new CopyVersion(1, 2), new byte[8]));
    }
    says(node, me, new Message.Depart(new Upward(copies, List.of())));
    assertEquals(List.of(me), List.copyOf(node.below()), "it waits");
    for (int i = 0; i < 2; i++) {
      node.on(new Event.Loaded(object(i), new CopyVersion(1, 1), new byte[8]));
    }
    assertEquals(List.of(), List.copyOf(node.below()));
  }

  @Test
  void theRootKeepsTheVersionOfWhatHasAState() {
    var node = above();
    says(node, me, new Message.Retrieve(object(0)));
    node.on(new Event.Loaded(object(0), null, new byte[0]));
    unused(node);
    var made = new Copy(object(0), new CopyVersion(1, 1), new byte[8]);
    var effects =
        says(node, me, new Message.Migrate(object(0), new Upward(List.of(made), List.of())));
    assertEquals(new Effect.Persist(1, List.of(made), null), effects.getFirst());
    assertEquals(List.of(), unused(node));
    assertEquals(made.version(), node.version(object(0)));
  }
}
