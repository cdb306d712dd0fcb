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

/// Runs guava-testlib's suites, which are of JUnit 3, as dynamic tests: those of the collections
/// that the others are made like. The module `client` runs them too, on a served store.
class GuavaTest {
  @TestFactory
  Stream<DynamicNode> aSharedMapIsAConcurrentMap() {
    return nodes(
        GuavaSuites.maps(
            "SharedMap", name -> GuavaSuites.stoa().map(name, String.class, String.class)));
  }

  @TestFactory
  Stream<DynamicNode> aSharedQueueIsAQueue() {
    return nodes(GuavaSuites.queues());
  }

  static Stream<DynamicNode> nodes(TestSuite suite) {
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
