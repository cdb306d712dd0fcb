package stoa.collections;

import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Gone;
import stoa.NotShareable;
import stoa.Ref;
import stoa.ShardedMap;
import stoa.Shared;
import stoa.SharedBTree;
import stoa.SharedBlockingDeque;
import stoa.SharedBlockingQueue;
import stoa.SharedList;
import stoa.SharedMap;
import stoa.SharedNavigableMap;
import stoa.SharedQueue;
import stoa.SharedRangeMap;
import stoa.SharedStack;
import stoa.View;
import stoa.spi.Facade;
import stoa.spi.Host;

/// Opens collections through views (vCorfu, section 4.2).
///
/// A collection in one object is a facade before a view of that object. A collection of several
/// objects can be viewed live, from copies at the caller, and as of a log address: all of them show
/// one moment. Versions of several objects do not.
///
/// @param stoa the store
/// @param ref the collection's reference
/// @param view the view
/// @param lens returns the proxy to use in place of the view of an object
record Viewed(Host stoa, Ref<?> ref, View view, UnaryOperator<Object> lens) {
  /// Returns the collection.
  ///
  /// @param type the collection's interface
  <T> T as(Class<T> type) {
    return type.cast(facade(type));
  }

  /// Returns the collection whose whole state an object has; null when it is no whole collection.
  ///
  /// @param object the class of the object
  @Nullable Facade whole(Class<?> object) {
    if (object == MapObject.class) return facade(SharedMap.class);
    if (object == SortedObject.class) return facade(SharedNavigableMap.class);
    if (object == RangeObject.class) return facade(SharedRangeMap.class);
    if (object == ListObject.class) return facade(SharedList.class);
    return object == BlockingObject.class ? facade(SharedBlockingDeque.class) : null;
  }

  private Facade facade(Class<?> type) {
    if (type == SharedList.class) return new ListFacade<>(elements(type, ListFacade.class));
    if (type == SharedQueue.class) return new QueueFacade<>(elements(type, QueueFacade.class));
    if (type == SharedStack.class) return new StackFacade<>(elements(type, StackFacade.class));
    if (type == SharedBlockingQueue.class || type == SharedBlockingDeque.class) {
      BlockingObject list = object(type, BlockingFacade.class, BlockingObject.class, view);
      return new BlockingFacade<>(new Elements<>(stoa, types(list::classes).first, list));
    }
    if (type == SharedMap.class) {
      MapObject map = object(type, MapFacade.class, MapObject.class, view);
      Types of = types(map::classes);
      if (view instanceof View.Client && !ValueIndexes.of(of.second).isEmpty()) {
        throw new UnsupportedOperationException(
            ref
                + " has values with an @Index, which the store keeps; it cannot be at clients: use a"
                + " View.Local or Cached");
      }
      return new MapFacade<>(stoa, of.first, of.second, map);
    }
    if (type == SharedNavigableMap.class) {
      SortedObject map = object(type, NavigableFacade.class, SortedObject.class, view);
      Types of = types(map::classes);
      String order = told(map::order);
      Class<?> own = order == null ? null : stoa.classNamed(order);
      return new NavigableFacade<>(stoa, of.first, of.second, map, own);
    }
    if (type == SharedRangeMap.class) return ranges(type);
    if (type == ShardedMap.class) return sharded(type);
    if (type == SharedBTree.class) return tree(type);
    throw new IllegalArgumentException(type.getName() + " is no collection");
  }

  private Elements<?> elements(Class<?> type, Class<?> facade) {
    ListObject list = object(type, facade, ListObject.class, view);
    return new Elements<>(stoa, types(list::classes).first, list);
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // Justification: it was begun with comparable keys
  private Facade ranges(Class<?> type) {
    RangeObject map = object(type, RangeFacade.class, RangeObject.class, view);
    Types of = types(map::classes);
    Class keys = of.first == Object.class ? Comparable.class : of.first;
    return new RangeFacade(stoa, keys, of.second, map);
  }

  private Facade sharded(Class<?> type) {
    ShardedObject base = object(type, ShardedFacade.class, ShardedObject.class, new View.Remote());
    Types of = types(base::classes);
    var live = ShardedFacade.of(stoa, of.first, of.second, base, base.shards());
    return seen(type, live, live::copied, MapObject.class);
  }

  private Facade tree(Class<?> type) {
    NodeObject root = object(type, TreeFacade.class, NodeObject.class, new View.Remote());
    Types of = types(root::classes);
    var live = TreeFacade.of(stoa, of.first, of.second, root);
    return seen(type, live, live::copied, NodeObject.class);
  }

  /// Returns the object behind a collection.
  private <S> S object(Class<?> type, Class<?> facade, Class<S> object, View through) {
    String name = object.getAnnotation(Shared.class).name();
    if (!name.equals(ref.type())) {
      throw new IllegalArgumentException(
          ref + " is not of type " + name + ", that of a " + type.getSimpleName());
    }
    stoa.admit(facade);
    return object.cast(lens.apply(stoa.view(object, ref, through)));
  }

  /// The known classes of a collection's contents.
  private record Types(Class<?> first, Class<?> second) {}

  private Types types(Supplier<@Nullable String> classes) {
    List<Class<?>> known = Classes.typesOf(stoa, told(classes));
    return new Types(
        known.isEmpty() ? Object.class : known.getFirst(),
        known.size() < 2 ? Object.class : known.get(1));
  }

  /// Returns what the collection tells about itself; null when it is absent, or when it could not
  /// be constructed and can only be deleted.
  private static @Nullable String told(Supplier<@Nullable String> asked) {
    try {
      return asked.get();
    } catch (Gone | NotShareable absent) {
      return null;
    }
  }

  /// Returns a collection of several objects through the view.
  ///
  /// @param copied returns the collection through local or cached views
  /// @param part the class of the objects to read
  private Facade seen(
      Class<?> type, Facade live, Function<UnaryOperator<Object>, Facade> copied, Class<?> part) {
    UnaryOperator<Object> lens = shared -> stoa.view(part, stoa.ref(shared), view);
    return switch (view) {
      case View.Remote() -> live;
      case View.AtAddress _ -> live.through(lens);
      case View.AtSnapshot(var snapshot) -> live.through(snapshot::on);
      case View.Local _, View.Cached _ -> copied.apply(lens);
      case View.Client _ -> throw refuse(type, "they do not migrate as one");
      case View.AtVersion _ -> throw refuse(type, "which have no version in common");
    };
  }

  private UnsupportedOperationException refuse(Class<?> type, String reason) {
    return new UnsupportedOperationException(
        "%s is a %s, composed of several objects: %s; use a View.Remote, Local or Cached, or a snapshot or log address"
            .formatted(ref, type.getSimpleName(), reason));
  }
}
