package stoa.front.marshal;

import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.NotShareable;
import stoa.Shared;
import stoa.StoaException;
import stoa.base.StreamId;
import stoa.front.proxy.Proxies;
import stoa.front.types.Hashing;
import stoa.front.types.Platform;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.spi.Facade;
import stoa.spi.OwnState;

/// The classes of the program that may travel, each with its number.
///
/// Immutable; [#with] answers a larger one. Closed: whatever the declared fields, parameters,
/// results, components, type arguments and permitted subclasses of a registered class name is
/// registered with it.
final class Registry {
  /// How instances of a class are written.
  sealed interface Entry {
    /// The class's number in the dictionary.
    int id();

    /// A class or record of fields.
    record Fields(int id, Struct struct) implements Entry {}

    /// An enum, by the names of its constants.
    record Constants(int id) implements Entry {}

    /// An array.
    record Arrays(int id) implements Entry {}

    /// An exception.
    record Exceptions(int id) implements Entry {}

    /// A class of proxies, or of the instances behind them: by reference.
    ///
    /// @param type the stored name of the type
    /// @param made what an instance is called that belongs to no store
    /// @param face the class of which proxies are, or null when the type alone says so
    record ByReference(int id, String type, String made, @Nullable Class<?> face)
        implements Entry {}

    /// A class of facades: by the reference of what is behind one, and its form.
    record ByFacade(int id) implements Entry {}
  }

  /// Changes when values of the JDK are written in another form than before.
  private static final String JDK_FORM = "values of the JDK 2";

  private final TypeIds ids;

  /// The class of the blobs that callers hold.
  private final Class<? extends Blob> blobs;

  private final Map<Class<?>, Entry> entries;
  private final Map<Class<?>, Struct> states;
  private final Set<SharedType> types;

  Registry(TypeIds ids) {
    this(ids, Blob.class);
  }

  Registry(TypeIds ids, Class<? extends Blob> blobs) {
    this(ids, blobs, Map.of(), Map.of(), Set.of());
  }

  private Registry(
      TypeIds ids,
      Class<? extends Blob> blobs,
      Map<Class<?>, Entry> entries,
      Map<Class<?>, Struct> states,
      Set<SharedType> types) {
    this.ids = ids;
    this.blobs = blobs;
    this.entries = entries;
    this.states = states;
    this.types = types;
  }

  Map<Class<?>, Entry> entries() {
    return entries;
  }

  TypeIds ids() {
    return ids;
  }

  boolean has(SharedType type) {
    return types.contains(type);
  }

  boolean has(Class<?> type) {
    return entries.containsKey(type);
  }

  /// The fields of a shared type's instances; null when the type is not registered.
  @Nullable Struct stateOf(SharedType type) {
    return states.get(type.implementation());
  }

  Map<Class<?>, Struct> states() {
    return states;
  }

  /// A number for the schemas of all classes that can be reached from a type.
  long form(SharedType type) {
    Registry alone = new Registry(ids, blobs).with(type);
    var schemas = new TreeSet<String>();
    schemas.add(JDK_FORM);
    for (Struct state : alone.states.values()) schemas.add(state.schema());
    for (Entry entry : alone.entries.values()) {
      if (entry instanceof Entry.Fields(int _, Struct struct)) schemas.add(struct.schema());
    }
    return StreamId.of(String.join("\n", schemas)).high();
  }

  Registry with(SharedType type) {
    var walk = new Walk();
    walk.shared(type);
    return walk.finish();
  }

  Registry with(Class<?> type) {
    var walk = new Walk();
    walk.add(type);
    return walk.finish();
  }

  /// Adds what can be reached from a type.
  private final class Walk {
    private final Map<Class<?>, Entry> found = new LinkedHashMap<>(entries);
    private final Map<Class<?>, Struct> foundStates = new HashMap<>(states);
    private final Set<SharedType> foundTypes = new HashSet<>(types);
    private final Set<Type> seen = new HashSet<>();
    private final ArrayDeque<Type> pending = new ArrayDeque<>();

    Registry finish() {
      while (!pending.isEmpty()) visit(pending.poll());
      return new Registry(
          ids, blobs, Map.copyOf(found), Map.copyOf(foundStates), Set.copyOf(foundTypes));
    }

    void add(@Nullable Type type) {
      if (type != null && seen.add(type)) pending.add(type);
    }

    private void visit(Type type) {
      switch (type) {
        case Class<?> c -> visitClass(c);
        case ParameterizedType p -> {
          add(p.getRawType());
          for (Type argument : p.getActualTypeArguments()) add(argument);
        }
        case GenericArrayType a -> {
          add(a.getGenericComponentType());
          add(Hashing.erasure(a));
        }
        case TypeVariable<?> v -> {
          for (Type bound : v.getBounds()) add(bound);
        }
        case WildcardType w -> {
          for (Type bound : w.getUpperBounds()) add(bound);
          for (Type bound : w.getLowerBounds()) add(bound);
        }
        default -> {}
      }
    }

    private void visitClass(Class<?> type) {
      if (type.isArray()) {
        Class<?> element = type.getComponentType();
        while (element.isArray()) element = element.getComponentType();
        if (!element.isPrimitive()) found.putIfAbsent(type, new Entry.Arrays(idOf(type)));
        add(type.getComponentType());
        return;
      }
      if (type.isEnum() && Platform.has(type)) {
        found.putIfAbsent(type, new Entry.Constants(idOf(type)));
        return;
      }
      if (type.isPrimitive() || Platform.has(type) || found.containsKey(type)) return;
      if (type == stoa.Ref.class || StoaException.class.isAssignableFrom(type)) return;
      if (type == Blob.class || type == blobs) {
        blob();
        return;
      }
      if (type.isAnnotationPresent(Shared.class)) {
        shared(SharedType.of(type));
        return;
      }
      if (Facade.class.isAssignableFrom(type)) {
        if (!type.isInterface()) found.put(type, new Entry.ByFacade(idOf(type)));
        return;
      }
      if (type.isEnum()) {
        found.put(type, new Entry.Constants(idOf(type)));
        return;
      }
      if (type.isSealed()) {
        for (Class<?> permitted : type.getPermittedSubclasses()) add(permitted);
      }
      add(type.getGenericSuperclass());
      if (type.isInterface() || Modifier.isAbstract(type.getModifiers())) return;
      if (Throwable.class.isAssignableFrom(type)) {
        found.put(type, new Entry.Exceptions(idOf(type)));
      } else {
        checkValueClass(type);
        found.put(type, new Entry.Fields(idOf(type), new Struct(type, type.getName(), ids)));
      }
      addFields(type);
    }

    private void addFields(Class<?> type) {
      for (Class<?> c = type; c != null && !Platform.has(c); c = c.getSuperclass()) {
        add(c.getGenericSuperclass());
        for (Field field : c.getDeclaredFields()) {
          int skipped = Modifier.STATIC | Modifier.TRANSIENT;
          if ((field.getModifiers() & skipped) == 0) add(field.getGenericType());
        }
      }
      if (type.isRecord()) {
        for (RecordComponent component : type.getRecordComponents()) {
          add(component.getGenericType());
        }
      }
    }

    void shared(SharedType type) {
      if (!foundTypes.add(type)) return;
      Class<?> implementation = type.implementation();
      // Says the class before its schema, which a dictionary of another group has from the class.
      found.put(Proxies.classOf(type), proxy(type));
      foundStates.put(implementation, new Struct(implementation, type.name(), ids));
      found.put(implementation, byReference("instance " + type.name(), type, null));
      if (!OwnState.class.isAssignableFrom(implementation)) addFields(implementation);
      for (SharedMethod method : type.methods()) {
        add(method.genericReturnType());
        method.genericParameterTypes().forEach(this::add);
      }
      type.exceptions().forEach(this::add);
    }

    /// The first face of a type goes by the type's name, so that it can be renamed.
    private Entry.ByReference proxy(SharedType type) {
      String what = "proxy " + type.name();
      Class<?> face = type.face();
      return byReference(ids.isFirstFace(type) ? what : what + " as " + face.getName(), type, face);
    }

    private Entry.ByReference byReference(String what, SharedType type, @Nullable Class<?> face) {
      String made = type.implementation().getName();
      return new Entry.ByReference(ids.idOf(what), type.name(), made, face);
    }

    private void blob() {
      if (found.containsKey(blobs)) return;
      String name = Blob.class.getName();
      found.put(blobs, new Entry.ByReference(ids.idOf("proxy " + name), name, name, null));
    }

    private int idOf(Class<?> type) {
      return ids.idOf("class " + type.getName());
    }
  }

  private static void checkValueClass(Class<?> type) {
    String reason = null;
    if (type.isHidden() || type.isSynthetic()) {
      reason = "is a lambda or hidden class; write a class or a record with a name";
    } else if (Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type)) {
      reason = "is a collection of its own; keep a JDK collection in a field instead";
    } else if (Thread.class.isAssignableFrom(type) || ClassLoader.class.isAssignableFrom(type)) {
      reason = "is no value; leave it out, or make the field transient";
    }
    if (reason != null) throw new NotShareable(type.getName() + " " + reason);
  }
}
