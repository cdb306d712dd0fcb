package stoa.spi;

import java.util.Comparator;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Ref;
import stoa.ShardedMap;
import stoa.SharedBTree;
import stoa.SharedBlockingDeque;
import stoa.SharedBlockingQueue;
import stoa.SharedList;
import stoa.SharedMap;
import stoa.SharedNavigableMap;
import stoa.SharedQueue;
import stoa.SharedRangeMap;
import stoa.SharedStack;
import stoa.Stoa;
import stoa.View;

/// Makes the shared collections. [ServiceLoader] finds the implementation, so the API depends on
/// none.
public interface Collections {
  /// The interfaces of the collections.
  Set<Class<?>> INTERFACES =
      Set.of(
          SharedMap.class,
          SharedNavigableMap.class,
          SharedRangeMap.class,
          SharedList.class,
          SharedQueue.class,
          SharedStack.class,
          SharedBlockingQueue.class,
          SharedBlockingDeque.class,
          ShardedMap.class,
          SharedBTree.class);

  /// The stored names of the types in whose objects the store itself keeps indexes, timers, tags
  /// and listeners. They call or read objects of every type on behalf of their caller.
  Set<String> OWN_TYPES =
      Set.of(
          "stoa.Index",
          "stoa.Indexes",
          "stoa.IndexAgent",
          "stoa.MapAgent",
          "stoa.Timers",
          "stoa.Firing",
          "stoa.Listeners",
          "stoa.Delivery",
          "stoa.Tag");

  /// Returns the collections on the class path.
  ///
  /// @throws UnsupportedOperationException when there are none
  static Collections installed() {
    return Installed.get();
  }

  /// See [Stoa#map].
  <K, V> SharedMap<K, V> map(Stoa stoa, String name, Class<K> keys, Class<V> values);

  /// See [Stoa#navigableMap].
  ///
  /// @param order null for the natural order
  <K, V> SharedNavigableMap<K, V> navigableMap(
      Stoa stoa,
      String name,
      Class<K> keys,
      Class<V> values,
      @Nullable Class<? extends Comparator<? super K>> order);

  /// See [Stoa#rangeMap].
  <K extends Comparable<? super K>, V> SharedRangeMap<K, V> rangeMap(
      Stoa stoa, String name, Class<K> keys, Class<V> values);

  /// See [Stoa#list(String, Class)].
  <E> SharedList<E> list(Stoa stoa, String name, Class<E> elements);

  /// See [Stoa#queue].
  <E> SharedQueue<E> queue(Stoa stoa, String name, Class<E> elements);

  /// See [Stoa#stack].
  <E> SharedStack<E> stack(Stoa stoa, String name, Class<E> elements);

  /// See [Stoa#blockingDeque(String, Class, int)].
  ///
  /// @param capacity 0 for the one with which it began, and none if it begins here
  <E> SharedBlockingDeque<E> blockingDeque(Stoa stoa, String name, Class<E> elements, int capacity);

  /// See [Stoa#shardedMap].
  <K, V> ShardedMap<K, V> shardedMap(
      Stoa stoa, String name, Class<K> keys, Class<V> values, int shards);

  /// See [Stoa#bTree].
  <K, V> SharedBTree<K, V> bTree(Stoa stoa, String name, Class<K> keys, Class<V> values);

  /// Returns the objects that keep timers.
  TimerObjects timers();

  /// Returns the objects that keep listeners.
  ListenerObjects listeners();

  /// Returns whether a class is the interface of a collection.
  static boolean isCollection(Class<?> type) {
    return INTERFACES.contains(type);
  }

  /// Returns a collection through a view, see [Stoa#view].
  ///
  /// @param type an interface for which [#isCollection] holds
  <T> T view(Stoa stoa, Class<T> type, Ref<?> ref, View view);

  /// Returns the collection that is before an object: a list for the object behind lists, queues
  /// and stacks. Returns null when the object is no whole collection.
  ///
  /// @param ref the object
  /// @param type the class of the object
  /// @param lens returns the proxy to use in place of that of the object
  @Nullable Facade whole(Stoa stoa, Ref<?> ref, Class<?> type, UnaryOperator<Object> lens);

  /// Returns the constructor arguments of the object behind a facade.
  ///
  /// @param form the result of [Facade#form()]
  @Nullable Object[] opening(Stoa stoa, String form);

  /// Makes a facade again.
  ///
  /// @param shared the proxy of the object behind it
  /// @param form the result of [Facade#form()]
  Facade reopen(Stoa stoa, Object shared, String form);

  /// Returns what keeps the indexes of shared classes.
  Indexes indexes();

  /// Returns whether a class, outside the JDK, is one of the keys of objects of which collections
  /// consist.
  boolean isKey(Class<?> type);

  /// Holds the result of [#installed()].
  final class Installed {
    private static volatile @Nullable Collections found;

    private Installed() {}

    private static Collections get() {
      Collections known = found;
      if (known != null) return known;
      known =
          ServiceLoader.load(Collections.class)
              .findFirst()
              .or(Installed::beside)
              .orElseThrow(() ->
                  new UnsupportedOperationException(
                      "the shared collections are not on the class path; add stoa-collections"));
      found = known;
      return known;
    }

    /// The one beside this class, for threads that do not know the class loader of the program:
    /// with the libraries inside a jar file, those of the common pool.
    private static Optional<Collections> beside() {
      return ServiceLoader.load(Collections.class, Collections.class.getClassLoader()).findFirst();
    }
  }
}
