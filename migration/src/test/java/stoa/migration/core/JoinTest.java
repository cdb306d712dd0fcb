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
import stoa.Locality;
import stoa.migration.core.TreeNode.Retrieval;

/// Where newcomers get their places.
class JoinTest {
  private static final int NODES = 39; // three levels below the root, all full

  private TreeNode.Settings settings = new TreeNode.Settings(3, Retrieval.ONE_BY_ONE);
  private final NodeId root = new NodeId("root", 0);
  private final Map<NodeId, TreeNode> nodes = new TreeMap<>();
  private final Map<NodeId, Locality> localities = new TreeMap<>();
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
        case Effect.Persist(long number, _, _) ->
            under.add(() -> on(id, new Event.Persisted(number)));
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

  private void fanOut(int childrenMax) {
    settings = settings.withChildrenMax(childrenMax);
    on(root, new Event.FanOut(childrenMax));
  }

  private NodeId join() {
    return join(Locality.UNKNOWN);
  }

  private NodeId join(String path) {
    return join(Locality.of(path));
  }

  private NodeId join(Locality at) {
    var id = begin(at);
    settle();
    return id;
  }

  private NodeId begin(Locality at) {
    long number = ++numbers;
    var id = new NodeId("node " + number, number);
    nodes.put(id, TreeNode.client(id, settings));
    localities.put(id, at);
    on(id, new Event.Join(root, at));
    return id;
  }

  private NodeId above(NodeId id) {
    return Objects.requireNonNull(Objects.requireNonNull(nodes.get(id)).above());
  }

  private Locality at(NodeId id) {
    return Objects.requireNonNull(localities.get(id));
  }

  /* How many nodes are not directly below the root, nor below one of their own locality. */
  private long strangers() {
    return nodes.keySet().stream()
        .filter(id -> !id.equals(root) && !above(id).equals(root))
        .filter(id -> !at(id).equals(at(above(id))))
        .count();
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

  @Test
  void aTreeOfOneHostIsAsFlatAsOneOfNone() {
    fanOut(5);
    for (int i = 0; i < 30; i++) join("host");
    assertEquals(2, deepest());
    for (int i = 30; i < 70; i++) join("host");
    assertEquals(3, deepest());
  }

  @Test
  void itIsNotMuchDeeperWhenAllComeAtOnce() {
    fanOut(5);
    var host = Locality.of("host");
    for (int i = 0; i < 5; i++) join(host);
    for (int i = 0; i < 65; i++) begin(host);
    settle();
    assertEquals(71, nodes.size());
    assertTrue(deepest() <= 3, () -> "a node is " + deepest() + " deep");
  }

  @Test
  void nodesOfThreeHostsAreBelowThoseOfTheirOwn() {
    fanOut(5);
    for (int i = 0; i < 70; i++) join("host-" + random.nextInt(3));
    // The first of a host that came when the root was full.
    assertTrue(strangers() <= 2, () -> strangers() + " are below another host");
    assertTrue(deepest() <= 4, () -> "a node is " + deepest() + " deep");
    for (int i = 0; i < 500; i++) {
      leaveOne();
      join("host-" + random.nextInt(3));
      assertTrue(deepest() <= 6, () -> "a node is " + deepest() + " deep");
    }
    assertTrue(strangers() <= 10, () -> strangers() + " are below another host");
  }

  @Test
  void whoIsNearIsFoundFarBelowByAsManyNamesAsThereAre() {
    fanOut(2);
    var east = join("eu/east/1");
    var west = join("eu/west/1");
    var other = join("us/1");
    assertEquals(east, above(other)); // nobody is near
    var first = join("us/2");
    assertEquals(other, above(first)); // and not below east, which has room
    assertEquals(west, above(join("eu/west/2")));
    assertEquals(west, above(join("eu/north"))); // as near as east, and fewer were sent there
  }

  @Test
  void forNearnessNobodyGoesMuchDeeperThanItMust() {
    fanOut(2);
    var path = "a";
    join(path);
    join("z");
    for (int i = 0; i < 7; i++) {
      join(path + "/z");
      path += "/a";
      join(path);
    }
    // Each but the first two is nearest to the one before: without a bound they are a chain.
    assertTrue(deepest() <= 5, () -> "a node is " + deepest() + " deep");
  }
}
