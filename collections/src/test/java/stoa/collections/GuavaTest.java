package stoa.collections;

import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.Collections;
import java.util.stream.Stream;
import junit.framework.Test;
import junit.framework.TestCase;
import junit.framework.TestSuite;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.TestFactory;

/// Runs guava-testlib's suites, which are of JUnit 3, as dynamic tests.
class GuavaTest {
  @TestFactory
  Stream<DynamicNode> aSharedMapIsAConcurrentMap() {
    return nodes(
        GuavaSuites.maps(
            "SharedMap", name -> GuavaSuites.stoa().map(name, String.class, String.class)));
  }

  @TestFactory
  Stream<DynamicNode> aSharedNavigableMapIsAConcurrentNavigableMap() {
    return nodes(
        GuavaSuites.sortedMaps(
            "SharedNavigableMap",
            name -> GuavaSuites.stoa().navigableMap(name, String.class, String.class)));
  }

  @TestFactory
  Stream<DynamicNode> aShardedMapIsAConcurrentMap() {
    return nodes(
        GuavaSuites.maps(
            "ShardedMap",
            name -> GuavaSuites.stoa().shardedMap(name, String.class, String.class, 3)));
  }

  @TestFactory
  Stream<DynamicNode> aSharedBTreeIsAConcurrentMap() {
    return nodes(
        GuavaSuites.maps(
            "SharedBTree", name -> GuavaSuites.stoa().bTree(name, String.class, String.class)));
  }

  @TestFactory
  Stream<DynamicNode> aSharedListIsAList() {
    return nodes(GuavaSuites.lists());
  }

  @TestFactory
  Stream<DynamicNode> aSharedQueueIsAQueue() {
    return nodes(GuavaSuites.queues());
  }

  @TestFactory
  Stream<DynamicNode> aSharedStackIsAQueue() {
    return nodes(GuavaSuites.stacks());
  }

  private static Stream<DynamicNode> nodes(TestSuite suite) {
    return Collections.list(suite.tests()).stream().map(GuavaTest::node);
  }

  @SuppressWarnings("JdkObsolete") // Justification: the suites are of JUnit 3
  private static DynamicNode node(Test test) {
    if (test instanceof TestSuite suite) {
      return dynamicContainer(suite.getName(), nodes(suite));
    }
    var one = (TestCase) test;
    return dynamicTest(one.getName(), one::runBare);
  }
}
