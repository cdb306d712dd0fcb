package stoa.migration.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.Locality;
import stoa.base.StreamId;
import stoa.migration.core.TreeNode.Retrieval;

/// A node with leaves only below it leaves.
class MoveTest {
  private static final StreamId OBJECT = StreamId.of("object");

  private final NodeId root = new NodeId("root", 0);
  private final Map<NodeId, TreeNode> nodes = new TreeMap<>();
  private final Deque<Runnable> under = new ArrayDeque<>();
  private final List<NodeId> executing = new ArrayList<>();
  private final List<NodeId> moving = new ArrayList<>();
  private final List<NodeId> left = new ArrayList<>();
  private long numbers;

  MoveTest() {
    nodes.put(root, TreeNode.root(root, places(1), 1));
  }

  private static TreeNode.Settings places(int count) {
    return new TreeNode.Settings(count, Retrieval.ONE_BY_ONE);
  }

  /* Messages arrive in the order in which they are sent; a node that moves comes back at once. */
  private void on(NodeId id, Event event) {
    var node = nodes.get(id);
    if (node == null) return;
    for (var effect : node.on(event)) {
      switch (effect) {
        case Effect.Send(NodeId to, var message) ->
            under.add(() -> on(to, new Event.Received(id, message)));
        case Effect.Tell(NodeId to, var message) ->
            under.add(() -> on(to, new Event.Received(id, message)));
        case Effect.Load(StreamId object) ->
            under.add(() -> on(id, new Event.Loaded(object, null, new byte[0])));
        case Effect.Persist(long number, _, _) ->
            under.add(() -> on(id, new Event.Persisted(number)));
        case Effect.Execute(_, _) -> executing.add(id);
        case Effect.Moving() -> moving.add(id);
        case Effect.Left() -> {
          left.add(id);
          nodes.remove(id);
          if (moving.contains(id)) join(id(id.address()), node);
        }
        case Effect.Joined() -> {}
        default -> throw new IllegalStateException(id + " has " + effect);
      }
    }
  }

  private NodeId id(String address) {
    return new NodeId(address, ++numbers);
  }

  private void join(NodeId id, TreeNode before) {
    nodes.put(id, TreeNode.client(id, places(2), before));
    on(id, new Event.Join(root, Locality.UNKNOWN));
  }

  private NodeId join(String address) {
    var id = id(address);
    nodes.put(id, TreeNode.client(id, places(2)));
    on(id, new Event.Join(root, Locality.UNKNOWN));
    settle();
    return id;
  }

  private void settle() {
    for (int steps = 0; !under.isEmpty(); steps++) {
      assertTrue(steps < 1_000, () -> moving.size() + " moves, and no end");
      under.remove().run();
    }
  }

  private NodeId above(NodeId id) {
    return Objects.requireNonNull(Objects.requireNonNull(nodes.get(id)).above());
  }

  @Test
  void aLeafThatMovesIsOfferedNoPlaceAtTheNodeThatLeaves() {
    var inner = join("inner");
    var idle = join(NodeId.LEAF + "idle");
    var busy = join(NodeId.LEAF + "busy");
    assertEquals(inner, above(idle));
    assertEquals(inner, above(busy));
    on(busy, new Event.Submit(1, new TreeSet<>(List.of(OBJECT))));
    settle();
    assertEquals(List.of(busy), executing);

    on(inner, new Event.Leave());
    settle();
    assertEquals(List.of(busy, idle), moving);
    assertEquals(List.of(idle), left);

    on(busy, new Event.Executed(1, new TreeMap<>()));
    settle();
    assertEquals(List.of(idle, busy, inner), left);
    for (var node : nodes.keySet()) {
      if (!node.equals(root)) assertEquals(root, above(node));
    }
  }
}
