package stoa.spi;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.Shared;
import stoa.Stoa;

/// A static field that is a shared collection, see [Shared]. Immutable.
///
/// @param kind the kind of the collection
/// @param name its name in the store
/// @param classes of its keys and values, or of its elements
public record SharedField(Kind kind, String name, List<Class<?>> classes) {
  /// Reads a field.
  ///
  /// @throws NotShareable when it can be no shared collection
  public static SharedField of(Field field) {
    Shared shared = field.getAnnotation(Shared.class);
    String shown = field.getDeclaringClass().getName() + "." + field.getName();
    if (shared == null)
      throw new NotShareable(shown + " is not annotated with @Shared; weave again");
    if (!Modifier.isStatic(field.getModifiers())) throw new NotShareable(shown + Kind.NOT_STATIC);
    Kind kind = Kind.of(field.getType().getName());
    if (kind == null) throw new NotShareable(shown + Kind.NO_COLLECTION);
    String key = shared.key();
    String name = key.isEmpty() ? prefix(field.getDeclaringClass()) + field.getName() : key;
    return new SharedField(kind, name, classes(field, kind, shown));
  }

  /// Returns the field that a name means in a class; null when there is none.
  public static @Nullable Field find(Class<?> owner, String name) {
    for (Field field : owner.getDeclaredFields()) {
      if (field.getName().equals(name)) return field;
    }
    Stream<Class<?>> above =
        Stream.concat(
            Arrays.stream(owner.getInterfaces()), Stream.ofNullable(owner.getSuperclass()));
    return above.map(one -> find(one, name)).filter(Objects::nonNull).findFirst().orElse(null);
  }

  private static String prefix(Class<?> owner) {
    Shared shared = owner.getDeclaredAnnotation(Shared.class);
    String stored = shared == null ? "" : shared.name();
    return (stored.isEmpty() ? owner.getName() : stored) + ".";
  }

  private static List<Class<?>> classes(Field field, Kind kind, String shown) {
    Type[] types =
        field.getGenericType() instanceof ParameterizedType generic
            ? generic.getActualTypeArguments()
            : new Type[0];
    if (types.length != kind.types()) throw new NotShareable(shown + Kind.NO_CLASSES);
    for (Type type : types) {
      if (!(type instanceof Class<?>)) throw new NotShareable(shown + Kind.NO_CLASSES);
    }
    return Arrays.stream(types).<Class<?>>map(type -> (Class<?>) type).toList();
  }

  /// Opens the collection.
  @SuppressWarnings({"unchecked", "rawtypes"}) // Justification: the field declares these
  public Object open(Stoa stoa) {
    Class first = classes.getFirst();
    Class last = classes.getLast();
    return switch (kind) {
      case MAP -> stoa.map(name, first, last);
      case NAVIGABLE -> stoa.navigableMap(name, first, last);
      case RANGES -> stoa.rangeMap(name, first, last);
      case TREE -> stoa.bTree(name, first, last);
      case LIST -> stoa.list(name, first);
      case QUEUE -> stoa.queue(name, first);
      case STACK -> stoa.stack(name, first);
    };
  }

  /// A kind of collection that a field may be.
  public enum Kind {
    /// A hash map.
    MAP(2),
    /// A sorted map in the natural order of its keys.
    NAVIGABLE(2),
    /// A map of ranges.
    RANGES(2),
    /// A B-tree.
    TREE(2),
    /// A list.
    LIST(1),
    /// A list as a queue.
    QUEUE(1),
    /// A list as a stack.
    STACK(1);

    /// The message after the name of a field that is not static.
    public static final String NOT_STATIC =
        " is annotated with @Shared and not static; make it static, or keep the collection in a"
            + " field without the annotation";

    /// The message after the name of a field of another type.
    public static final String NO_COLLECTION =
        " is annotated with @Shared, and its type is none of Map, NavigableMap, List, Queue, Deque,"
            + " SharedMap, SharedNavigableMap, SharedRangeMap, SharedBTree, SharedList, SharedQueue"
            + " and SharedStack; declare it as one of these";

    /// The message after the name of a field with other type arguments.
    public static final String NO_CLASSES =
        " is annotated with @Shared, and not all of its type arguments are classes; give it keys,"
            + " values or elements of classes without type parameters, such as records";

    private final int types;

    Kind(int types) {
      this.types = types;
    }

    /// Returns how many type arguments it has.
    public int types() {
      return types;
    }

    /// Returns the kind that a field's declared type stands for; null when it stands for none.
    ///
    /// @param className the binary name of the type
    public static @Nullable Kind of(String className) {
      return switch (className) {
        case "java.util.Map", "java.util.concurrent.ConcurrentMap", "stoa.SharedMap" -> MAP;
        case "java.util.SortedMap",
            "java.util.NavigableMap",
            "java.util.concurrent.ConcurrentNavigableMap",
            "stoa.SharedNavigableMap" ->
            NAVIGABLE;
        case "stoa.SharedRangeMap" -> RANGES;
        case "stoa.SharedBTree" -> TREE;
        case "java.util.List", "stoa.SharedList" -> LIST;
        case "java.util.Queue", "stoa.SharedQueue" -> QUEUE;
        case "java.util.Deque", "stoa.SharedStack" -> STACK;
        default -> null;
      };
    }
  }
}
