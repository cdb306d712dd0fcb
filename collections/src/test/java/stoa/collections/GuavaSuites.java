package stoa.collections;

import com.google.common.collect.testing.ConcurrentMapTestSuiteBuilder;
import com.google.common.collect.testing.ConcurrentNavigableMapTestSuiteBuilder;
import com.google.common.collect.testing.ListTestSuiteBuilder;
import com.google.common.collect.testing.QueueTestSuiteBuilder;
import com.google.common.collect.testing.TestStringListGenerator;
import com.google.common.collect.testing.TestStringMapGenerator;
import com.google.common.collect.testing.TestStringQueueGenerator;
import com.google.common.collect.testing.TestStringSortedMapGenerator;
import com.google.common.collect.testing.features.CollectionFeature;
import com.google.common.collect.testing.features.CollectionSize;
import com.google.common.collect.testing.features.Feature;
import com.google.common.collect.testing.features.ListFeature;
import com.google.common.collect.testing.features.MapFeature;
import com.google.common.collect.testing.testers.ListListIteratorTester;
import java.lang.reflect.Method;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import junit.framework.TestSuite;
import stoa.Stoa;

/// The suites of guava-testlib over the shared collections, each case on a collection of its own in
/// one store.
///
/// Claimed is every feature but nulls, serialization, and failing fast on concurrent modification,
/// which none of them does. Sorted maps run with several elements only: their suites multiply by
/// every kind of submap, and with all sizes they would be 33,436 cases each.
final class GuavaSuites {
  private static final Stoa STOA = Stoa.open("memory:");
  private static final AtomicInteger CASES = new AtomicInteger();

  private GuavaSuites() {}

  private static String fresh() {
    return "case " + CASES.incrementAndGet();
  }

  static TestSuite maps(String name, Function<String, ConcurrentMap<String, String>> of) {
    return ConcurrentMapTestSuiteBuilder.using(
            new TestStringMapGenerator() {
              @Override
              protected Map<String, String> create(Map.Entry<String, String>[] entries) {
                ConcurrentMap<String, String> map = of.apply(fresh());
                for (Map.Entry<String, String> entry : entries) {
                  map.put(entry.getKey(), entry.getValue());
                }
                return map;
              }
            })
        .named(name)
        .withFeatures(
            MapFeature.GENERAL_PURPOSE,
            CollectionFeature.SUPPORTS_ITERATOR_REMOVE,
            CollectionSize.ANY)
        .createTestSuite();
  }

  static TestSuite sortedMaps(
      String name, Function<String, ConcurrentNavigableMap<String, String>> of) {
    return ConcurrentNavigableMapTestSuiteBuilder.using(
            new TestStringSortedMapGenerator() {
              @Override
              protected SortedMap<String, String> create(Map.Entry<String, String>[] entries) {
                ConcurrentNavigableMap<String, String> map = of.apply(fresh());
                for (Map.Entry<String, String> entry : entries) {
                  map.put(entry.getKey(), entry.getValue());
                }
                return map;
              }
            })
        .named(name)
        .withFeatures(
            MapFeature.GENERAL_PURPOSE,
            CollectionFeature.SUPPORTS_ITERATOR_REMOVE,
            CollectionFeature.KNOWN_ORDER,
            CollectionSize.SEVERAL)
        .createTestSuite();
  }

  /// The cases of lists; the one that tries all runs of five steps of an iterator runs on a list
  /// with several elements alone, since each size takes seconds.
  static TestSuite lists() {
    var all = new TestSuite("SharedList");
    all.addTest(lists(CollectionSize.ZERO, everyRunOfAnIterator()));
    all.addTest(lists(CollectionSize.ONE, everyRunOfAnIterator()));
    all.addTest(lists(CollectionSize.SEVERAL));
    return all;
  }

  private static Method everyRunOfAnIterator() {
    return ListListIteratorTester.getListIteratorFullyModifiableMethod();
  }

  private static TestSuite lists(CollectionSize size, Method... left) {
    return ListTestSuiteBuilder.using(
            new TestStringListGenerator() {
              @Override
              protected List<String> create(String[] elements) {
                List<String> list = STOA.list(fresh(), String.class);
                Collections.addAll(list, elements);
                return list;
              }
            })
        .named("SharedList")
        .withFeatures(ListFeature.GENERAL_PURPOSE, CollectionFeature.SUPPORTS_ITERATOR_REMOVE, size)
        .suppressing(left)
        .createTestSuite();
  }

  private static TestSuite queue(
      String name, Function<String, Queue<String>> of, Feature<?>... features) {
    return QueueTestSuiteBuilder.using(
            new TestStringQueueGenerator() {
              @Override
              protected Queue<String> create(String[] elements) {
                Queue<String> queue = of.apply(fresh());
                Collections.addAll(queue, elements);
                return queue;
              }
            })
        .named(name)
        .withFeatures(
            CollectionFeature.GENERAL_PURPOSE,
            CollectionFeature.SUPPORTS_ITERATOR_REMOVE,
            CollectionFeature.KNOWN_ORDER,
            CollectionSize.ANY)
        .withFeatures(features)
        .createTestSuite();
  }

  static TestSuite queues() {
    return queue("SharedQueue", name -> STOA.queue(name, String.class));
  }

  static TestSuite stacks() {
    return queue("SharedStack", name -> STOA.stack(name, String.class));
  }

  static Stoa stoa() {
    return STOA;
  }
}
