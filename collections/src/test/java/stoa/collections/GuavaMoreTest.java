package stoa.collections;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;

/// As [GuavaTest], for the collections that are made of those, or like them.
class GuavaMoreTest {
  @TestFactory
  Stream<DynamicNode> aSharedListIsAList() {
    return GuavaTest.nodes(GuavaSuites.lists());
  }

  @TestFactory
  Stream<DynamicNode> aSharedNavigableMapIsAConcurrentNavigableMap() {
    return GuavaTest.nodes(
        GuavaSuites.sortedMaps(
            "SharedNavigableMap",
            name -> GuavaSuites.stoa().navigableMap(name, String.class, String.class)));
  }

  @TestFactory
  Stream<DynamicNode> aShardedMapIsAConcurrentMap() {
    return GuavaTest.nodes(
        GuavaSuites.maps(
            "ShardedMap",
            name -> GuavaSuites.stoa().shardedMap(name, String.class, String.class, 3)));
  }

  @TestFactory
  Stream<DynamicNode> aSharedBTreeIsAConcurrentMap() {
    return GuavaTest.nodes(
        GuavaSuites.maps(
            "SharedBTree", name -> GuavaSuites.stoa().bTree(name, String.class, String.class)));
  }

  @TestFactory
  Stream<DynamicNode> aSharedStackIsAQueue() {
    return GuavaTest.nodes(GuavaSuites.stacks());
  }
}
