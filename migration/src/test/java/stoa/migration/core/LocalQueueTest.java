package stoa.migration.core;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Queues of a parent that leaves and of the child that takes its place become one (Figures 7, 8).
class LocalQueueTest {
  private static final NodeId CHILD = node("child");
  private static final NodeId PARENT = node("parent");

  private static NodeId node(String name) {
    return new NodeId(name, 1);
  }

  private static LocalQueue queue(String... names) {
    return LocalQueue.of(Stream.of(names).map(LocalQueueTest::node).toList());
  }

  private static List<String> merged(LocalQueue childs, LocalQueue parents) {
    return LocalQueue.merged(childs, CHILD, parents, PARENT).nodes().stream()
        .map(NodeId::address)
        .toList();
  }

  @Test
  void nobodyAskedAndTheObjectIsAbove() {
    assertEquals(List.of("grandparent"), merged(queue("parent"), queue("grandparent")));
  }

  @Test
  void theParentHasTheObjectAndTheChildAskedForIt() {
    assertEquals(
        List.of("parent", "child"), merged(queue("parent", "child"), queue("parent", "child")));
  }

  @Test
  void theObjectIsBelowTheChild() {
    assertEquals(
        List.of("a", "b", "sibling"), merged(queue("a", "b", "parent"), queue("child", "sibling")));
  }

  @Test
  void requestsPassBackAndForthBetweenTheTwo() {
    var childs = queue("a", "parent", "b", "parent");
    var parents = queue("child", "g", "child", "s", "t");
    assertEquals(List.of("a", "g", "b", "s", "t"), merged(childs, parents));
  }

  @Test
  void requestsOfTheChildsSideBeginBehindTheObjectAbove() {
    assertEquals(
        List.of("g", "a", "s", "b"),
        merged(queue("parent", "a", "parent", "b"), queue("g", "child", "s", "child")));
  }
}
