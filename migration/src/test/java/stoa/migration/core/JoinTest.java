package stoa.migration.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import stoa.migration.core.TreeNode.Retrieval;

/// Where newcomers get their places.
class JoinTest {
  private static final int CHILDREN_MAX = 3;
  private static final int NODES = 39; // three levels below the root, all full

  private final TreeNode.Settings settings =
      new TreeNode.Settings(CHILDREN_MAX, Retrieval.ONE_BY_ONE);
  private final NodeId root = new NodeId("root", 0);
  private final Map<NodeId, TreeNode> nodes = new TreeMap<>();
  private final Deque<Runnable> under = new ArrayDeque<>();
  private final SplittableRandom random = new SplittableRandom(7);
  private long numbers;
  private int left;

  JoinTest() {
    nodes.put(root, TreeNode.root(root, settings, 1));
  }

  /* Messages arrive in the order in which they are sent. */
  private void on(NodeId id, Event event) {
    var node = nodes.get(id);
    if (node == null) return;
    for (var effect : node.on(event)) {
      switch (effect) {
        case Effect.Send(NodeId to, var message) ->
            under.add(() -> on(to, new Event.Received(id, message)));
        case Effect.Tell(NodeId to, var message) ->
            under.add(() -> on(to, new Event.Received(id, message)));
        case Effect.Persist(long number, _) -> under.add(() -> on(id, new Event.Persisted(number)));
        case Effect.Left() -> {
          left++;
          nodes.remove(id);
        }
        case Effect.Joined() -> {}
        default -> throw new IllegalStateException(id + " has " + effect);
      }
    }
  }

  private void settle() {
    for (var next = under.poll(); next != null; next = under.poll()) next.run();
  }

  private void join() {
    long number = ++numbers;
    var id = new NodeId("node " + number, number);
    nodes.put(id, TreeNode.client(id, settings));
    on(id, new Event.Join(root));
    settle();
  }

  private void leaveOne() {
    var all = nodes.keySet().stream().filter(id -> !id.equals(root)).toList();
    on(all.get(random.nextInt(all.size())), new Event.Leave());
    settle();
  }

  private int depth(TreeNode node) {
    NodeId above = node.above();
    return above == null ? 0 : 1 + depth(Objects.requireNonNull(nodes.get(above)));
  }

  private int deepest() {
    return nodes.values().stream().mapToInt(this::depth).max().orElseThrow();
  }

  @Test
  void aTreeIsFilledFromTheTop() {
    for (int i = 0; i < NODES; i++) join();
    assertEquals(3, deepest());
    join();
    assertEquals(4, deepest());
  }

  @Test
  void itStaysFlatWhileNodesLeaveAndComeBack() {
    for (int i = 0; i < NODES; i++) join();
    for (int i = 0; i < 2_000; i++) {
      leaveOne();
      join();
      assertTrue(deepest() <= 3, () -> "a node is " + deepest() + " deep");
    }
    assertEquals(2_000, left);
    assertEquals(NODES + 1, nodes.size());
  }
}
