package stoa.collections;

import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.Ref;
import stoa.ShardedMap;
import stoa.SharedBTree;
import stoa.SharedBlockingDeque;
import stoa.SharedList;
import stoa.SharedMap;
import stoa.SharedNavigableMap;
import stoa.SharedQueue;
import stoa.SharedRangeMap;
import stoa.SharedStack;
import stoa.Stoa;
import stoa.View;
import stoa.indexes.InstalledIndexes;
import stoa.listening.InstalledListeners;
import stoa.spi.Collections;
import stoa.spi.Facade;
import stoa.spi.Host;
import stoa.spi.Indexes;
import stoa.spi.ListenerObjects;
import stoa.spi.TimerObjects;
import stoa.timers.InstalledTimers;

/// Makes the facades of this package. Stateless.
public final class InstalledCollections implements Collections {
  private static final Indexes INDEXES = new InstalledIndexes(new MapForms());

  /// For [java.util.ServiceLoader].
  public InstalledCollections() {}

  /// Registers a facade's class and those of its elements, so that they may travel.
  private static void admit(Stoa stoa, Class<?> facade, Class<?>... elements) {
    Host host = host(stoa);
    host.admit(facade);
    for (Class<?> element : elements) {
      java.util.Objects.requireNonNull(element, "a class of keys, values or elements is null");
      if (element.isPrimitive()) {
        throw new IllegalArgumentException(
            element + " is no class of keys or values; use that of its boxes, as in Integer.class");
      }
      host.admit(element);
    }
  }

  private static Host host(Stoa stoa) {
    if (stoa instanceof Host host) return host;
    throw new UnsupportedOperationException(
        stoa.getClass().getName() + " has no collections; open one with stoa-objects");
  }

  @Override
  public Indexes indexes() {
    return INDEXES;
  }

  @Override
  public <K, V> SharedMap<K, V> map(Stoa stoa, String name, Class<K> keys, Class<V> values) {
    KeyHash.check(keys);
    admit(stoa, MapFacade.class, keys, values);
    Classes classes = Classes.of(keys, values);
    MapObject object = stoa.get(MapObject.class, name, classes.names());
    classes.check(host(stoa), name, object.classes());
    return new MapFacade<>(stoa, keys, values, object);
  }

  @Override
  public <K, V> SharedNavigableMap<K, V> navigableMap(
      Stoa stoa,
      String name,
      Class<K> keys,
      Class<V> values,
      @Nullable Class<? extends Comparator<? super K>> order) {
    ValueIndexes.refuse(values, "a SharedNavigableMap");
    admit(stoa, NavigableFacade.class, keys, values);
    if (order != null) admit(stoa, order);
    String orderName = order == null ? null : order.getName();
    Object own = order == null ? null : Orders.of(order);
    Classes classes = Classes.of(keys, values);
    SortedObject object = stoa.get(SortedObject.class, name, own, classes.names());
    String begun = orderOf(name, object);
    if (!java.util.Objects.equals(begun, orderName)) {
      throw new IllegalArgumentException(
          name
              + " was begun in "
              + (begun == null ? "natural order" : "the order of " + begun)
              + ", not "
              + (orderName == null ? "natural order" : "that of " + orderName));
    }
    classes.check(host(stoa), name, object.classes());
    return new NavigableFacade<>(stoa, keys, values, object, order);
  }

  private static @Nullable String orderOf(String name, SortedObject object) {
    try {
      return object.order();
    } catch (NotShareable unbegun) {
      throw new NotShareable(
          name
              + " cannot be read; if that is what was stored of it, delete it by stoa.delete(stoa.view("
              + "SharedNavigableMap.class, new Ref<>(\"stoa.NavigableMap\", \""
              + name
              + "\"), new View.Remote())), and begin it again: "
              + unbegun.getMessage(),
          unbegun);
    }
  }

  @Override
  public <K extends Comparable<? super K>, V> SharedRangeMap<K, V> rangeMap(
      Stoa stoa, String name, Class<K> keys, Class<V> values) {
    ValueIndexes.refuse(values, "a SharedRangeMap");
    admit(stoa, RangeFacade.class, keys, values);
    Classes classes = Classes.of(keys, values);
    RangeObject object = stoa.get(RangeObject.class, name, classes.names());
    classes.check(host(stoa), name, object.classes());
    return new RangeFacade<>(stoa, keys, values, object);
  }

  private static <E> Elements<E> elements(
      Stoa stoa, Class<?> facade, String name, Class<E> elements) {
    admit(stoa, facade, elements);
    Classes classes = Classes.of(elements);
    ListObject object = stoa.get(ListObject.class, name, classes.names());
    classes.check(host(stoa), name, object.classes());
    return new Elements<>(stoa, elements, object);
  }

  @Override
  public <E> SharedList<E> list(Stoa stoa, String name, Class<E> elements) {
    return new ListFacade<>(elements(stoa, ListFacade.class, name, elements));
  }

  @Override
  public <E> SharedQueue<E> queue(Stoa stoa, String name, Class<E> elements) {
    return new QueueFacade<>(elements(stoa, QueueFacade.class, name, elements));
  }

  @Override
  public <E> SharedStack<E> stack(Stoa stoa, String name, Class<E> elements) {
    return new StackFacade<>(elements(stoa, StackFacade.class, name, elements));
  }

  @Override
  public <E> SharedBlockingDeque<E> blockingDeque(
      Stoa stoa, String name, Class<E> elements, int capacity) {
    admit(stoa, BlockingFacade.class, elements);
    Classes classes = Classes.of(elements);
    int begins = capacity == 0 ? Integer.MAX_VALUE : capacity;
    BlockingObject object = stoa.get(BlockingObject.class, name, begins, classes.names());
    classes.check(host(stoa), name, object.classes());
    int begun = capacity == 0 ? 0 : object.capacity();
    if (begun != capacity) {
      throw new IllegalArgumentException(
          "%s was begun with a capacity of %d, not %d".formatted(name, begun, capacity));
    }
    return new BlockingFacade<>(new Elements<>(stoa, elements, object));
  }

  @Override
  public <K, V> ShardedMap<K, V> shardedMap(
      Stoa stoa, String name, Class<K> keys, Class<V> values, int shards) {
    if (shards < 1 || shards > Form.SHARDS_MAX) {
      throw new IllegalArgumentException(
          "a sharded map has 1 to " + Form.SHARDS_MAX + " children, not " + shards);
    }
    KeyHash.check(keys);
    admit(stoa, ShardedFacade.class, keys, values);
    ShardedObject base = stoa.get(ShardedObject.class, name);
    int begun = base.shards();
    Classes classes = Classes.of(keys, values);
    if (begun == 0) begun = base.begin(shards, classes.names());
    if (begun != shards) {
      throw new IllegalArgumentException(
          name + " was begun with " + begun + " children, not " + shards);
    }
    classes.check(host(stoa), name, base.classes());
    return ShardedFacade.of(stoa, keys, values, base, shards);
  }

  @Override
  public <K, V> SharedBTree<K, V> bTree(Stoa stoa, String name, Class<K> keys, Class<V> values) {
    ValueIndexes.refuse(values, "a SharedBTree");
    admit(stoa, TreeFacade.class, keys, values);
    Classes classes = Classes.of(keys, values);
    NodeObject root = stoa.get(NodeObject.class, NodeKey.root(name), classes.names());
    classes.check(host(stoa), name, root.classes());
    return TreeFacade.of(stoa, keys, values, root);
  }

  @Override
  public <T> T view(Stoa stoa, Class<T> type, Ref<?> ref, View view) {
    return new Viewed(host(stoa), ref, view, UnaryOperator.identity()).as(type);
  }

  @Override
  public @Nullable Facade whole(Stoa stoa, Ref<?> ref, Class<?> type, UnaryOperator<Object> lens) {
    return new Viewed(host(stoa), ref, new View.Remote(), lens).whole(type);
  }

  @Override
  public boolean isKey(Class<?> type) {
    return type == ShardKey.class;
  }

  @Override
  public TimerObjects timers() {
    return new InstalledTimers();
  }

  @Override
  public ListenerObjects listeners() {
    return new InstalledListeners();
  }

  @Override
  public @Nullable Object[] opening(Stoa stoa, String form) {
    return Form.parse(host(stoa), form).opening();
  }

  @Override
  @SuppressWarnings({"unchecked", "rawtypes"}) // Justification: the form says which these are
  public Facade reopen(Stoa stoa, Object shared, String form) {
    Form parsed = Form.parse(host(stoa), form);
    List<Class<?>> types = parsed.types();
    Class first = types.getFirst();
    Class second = types.size() > 1 ? types.get(1) : Object.class;
    return switch (parsed.kind()) {
      case MAP -> new MapFacade(stoa, first, second, (MapObject) shared);
      case NAVIGABLE ->
          new NavigableFacade(
              stoa, first, second, (SortedObject) shared, types.size() > 2 ? types.get(2) : null);
      case RANGES -> new RangeFacade(stoa, first, second, (RangeObject) shared);
      case LIST -> new ListFacade(new Elements(stoa, first, (ListObject) shared));
      case QUEUE -> new QueueFacade(new Elements(stoa, first, (ListObject) shared));
      case STACK -> new StackFacade(new Elements(stoa, first, (ListObject) shared));
      case BLOCKING -> new BlockingFacade(new Elements(stoa, first, (BlockingObject) shared));
      case SHARDED ->
          ShardedFacade.of(stoa, first, second, (ShardedObject) shared, parsed.shards());
      case TREE -> TreeFacade.of(stoa, first, second, (NodeObject) shared);
    };
  }
}
