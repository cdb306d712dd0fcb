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
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Supplier;
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

/// The classes of the program that values may have, each with its number.
///
/// Immutable; [#with] returns a larger one. Closed: a registered class brings in every class that
/// its declared fields, parameters, results, components, type arguments and permitted subclasses
/// name.
final class ClassRegistry {
  /// The encoding of a class's instances.
  sealed interface Entry {
    /// Returns the class's number in the dictionary.
    int id();

    /// A class or record of fields.
    record Fields(int id, Struct struct) implements Entry {}

    /// An enum of the program, by the names of its constants.
    record Constants(int id, EnumForm form) implements Entry {}

    /// An enum of the JDK.
    record PlatformConstants(int id) implements Entry {}

    /// An array.
    record Arrays(int id) implements Entry {}

    /// An exception.
    record Exceptions(int id) implements Entry {}

    /// A class of proxies, or of the instances behind them: by reference.
    ///
    /// @param type the stored name of the type
    /// @param made the description of an instance that belongs to no store
    /// @param face the class of the proxies, or null when the type alone determines it
    record ByReference(int id, String type, String made, @Nullable Class<?> face)
        implements Entry {}

    /// A class of facades: by the reference of the object behind one, and its form.
    record ByFacade(int id) implements Entry {}
  }

  /// The prefix of the names of classes in the dictionary, and of a type with its face.
  static final String CLASS = "class ";

  /// The prefix of the name of the references to objects of a type.
  static final String PROXY = "proxy ";

  /// The prefix of the name of the references from an object to itself.
  static final String INSTANCE = "instance ";

  /// Stands between a type and its face, unless that is the first.
  static final String FACE = " as ";

  /// A class's number in the dictionary, and the name with this number.
  private record Numbered(int id, String name) {}

  // Changes with the encoding of JDK values.
  private static final String JDK_FORM = "values of the JDK 2";

  private final TypeIds ids;

  // The class of the blobs that callers hold.
  private final Class<? extends Blob> blobs;

  private final Map<Class<?>, Entry> entries;

  // The classes by the numbers of earlier names, which stored values may still use.
  private final Map<Integer, Class<?>> earlier;

  private final Map<Class<?>, Struct> states;
  private final Set<SharedType> types;
  private final Lineage lineage;
  private final StoredNames stored;

  ClassRegistry(TypeIds ids) {
    this(ids, Blob.class);
  }

  ClassRegistry(TypeIds ids, Class<? extends Blob> blobs) {
    this(ids, blobs, new StoredNames());
  }

  private ClassRegistry(TypeIds ids, Class<? extends Blob> blobs, StoredNames stored) {
    this(ids, blobs, Map.of(), Map.of(), Map.of(), Set.of(), new Lineage(stored), stored);
  }

  private ClassRegistry(
      TypeIds ids,
      Class<? extends Blob> blobs,
      Map<Class<?>, Entry> entries,
      Map<Integer, Class<?>> earlier,
      Map<Class<?>, Struct> states,
      Set<SharedType> types,
      Lineage lineage,
      StoredNames stored) {
    this.ids = ids;
    this.blobs = blobs;
    this.entries = entries;
    this.earlier = earlier;
    this.states = states;
    this.types = types;
    this.lineage = lineage;
    this.stored = stored;
  }

  Map<Integer, Class<?>> earlier() {
    return earlier;
  }

  /// Returns the classes by their earlier names.
  Map<String, Class<?>> renamed() {
    return lineage.renamed();
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

  /// Returns the fields of a shared type's instances; null when the type is not registered.
  @Nullable Struct stateOf(SharedType type) {
    return states.get(type.implementation());
  }

  Map<Class<?>, Struct> states() {
    return states;
  }

  /// Returns a number for the schemas of all classes reachable from a type.
  long form(SharedType type) {
    ClassRegistry alone = new ClassRegistry(ids, blobs).with(type);
    var schemas = new TreeSet<String>();
    schemas.add(JDK_FORM);
    for (Struct state : alone.states.values()) schemas.add(state.schema());
    for (Entry entry : alone.entries.values()) {
      if (entry instanceof Entry.Fields(int _, Struct struct)) schemas.add(struct.schema());
    }
    return StreamId.of(String.join("\n", schemas)).high();
  }

  /// @throws NotShareable when a class cannot be encoded, or no rule covers the stored values of
  ///   its earlier version; the dictionary then gets no new name
  ClassRegistry with(SharedType type) {
    stored.learn(ids.names());
    var walk = new Walk(false, type.name());
    walk.shared(type);
    return walk.finish();
  }

  /// Adds a class like [#with(SharedType)].
  ClassRegistry with(Class<?> type) {
    stored.learn(ids.names());
    boolean shared = type.isAnnotationPresent(Shared.class);
    var walk = new Walk(false, shared ? SharedType.of(type).name() : "");
    walk.add(type);
    return walk.finish();
  }

  /// Adds a type that only the state of another process's objects names, as far as that process
  /// knows it too.
  private ClassRegistry withKnown(Type type) {
    if (type instanceof Class<?> c && (c.isPrimitive() || has(c))) return this;
    var walk = new Walk(true, "");
    try {
      walk.add(type);
      return walk.finish();
    } catch (NotShareable unknown) {
      return this;
    }
  }

  /// Adds all classes that are reachable from a type.
  private final class Walk {
    /*
     * First the walk finds all classes and compares each with its description in the dictionary.
     * Only then it asks for numbers, in the order in which it found the classes, so that a refused
     * class leaves no name.
     */
    private final Map<Class<?>, Entry> found = new LinkedHashMap<>(entries);
    private final Map<Integer, Class<?>> foundEarlier = new TreeMap<>(earlier);
    private final Map<Class<?>, Struct> foundStates = new HashMap<>(states);
    private final Set<SharedType> foundTypes = new HashSet<>(types);
    private final Lineage foundLineage = new Lineage(lineage);
    private final Set<Type> seen = new HashSet<>();
    private final ArrayDeque<Type> pending = new ArrayDeque<>();
    private final Set<Class<?>> planned = new LinkedHashSet<>();
    private final List<Runnable> comparing = new ArrayList<>();
    private final List<Runnable> numbering = new ArrayList<>();

    // Types of fields of states that only the process of the store reads.
    private final List<Type> hidden = new ArrayList<>();

    // Whether the walk may use only names that have a number.
    private final boolean knownOnly;

    // The stored name of the type that it begins with, if that is one.
    private final String root;

    // The losses that the compared classes could have.
    private final Set<String> possible = new HashSet<>();

    Walk(boolean knownOnly, String root) {
      this.knownOnly = knownOnly;
      this.root = root;
    }

    ClassRegistry finish() {
      while (!pending.isEmpty()) visit(pending.poll());
      for (Class<?> type : planned) foundLineage.checkPresent(type);
      accept();
      numbering.forEach(Runnable::run);
      var larger =
          new ClassRegistry(
              ids,
              blobs,
              Map.copyOf(found),
              Collections.unmodifiableMap(foundEarlier),
              Map.copyOf(foundStates),
              Set.copyOf(foundTypes),
              foundLineage,
              stored);
      for (Type type : hidden) larger = larger.withKnown(type);
      return larger;
    }

    /// Compares, and notes the losses that are accepted now.
    ///
    /// @throws NotShareable when no rule covers a change, or an accepted loss is none
    private void accept() {
      var known = new HashSet<String>();
      for (String accepted : stored.after(Loss.ACCEPTED)) known.add(Loss.loss(accepted));
      var offered = new TreeSet<>(ids.accepted());
      offered.removeAll(known);
      foundLineage.accept(known);
      foundLineage.accept(offered);
      compareAll();
      var lost = foundLineage.lost();
      for (String loss : offered) {
        if (lost.contains(loss)) {
          numbering.add(() -> {
            var _ = number(Loss.accepted(loss, root));
          });
        } else if (possible.contains(loss)) {
          throw new NotShareable(
              "\"" + loss + "\" is accepted, and the classes lose nothing there; do not accept it");
        }
      }
    }

    /// Refuses with all that no rule covers.
    private void compareAll() {
      var refusals = new LinkedHashSet<String>();
      for (Runnable one : comparing) {
        try {
          one.run();
        } catch (NotShareable refused) {
          refusals.add(String.valueOf(refused.getMessage()));
        }
      }
      if (!refusals.isEmpty()) throw new NotShareable(String.join("\n", refusals));
    }

    private void descend(Class<?> type) {
      foundLineage.add(type);
      if (!ids.assigns()) return;
      for (String was : Lineage.descriptions(type)) {
        numbering.add(() -> {
          var _ = number(was);
        });
      }
    }

    void add(@Nullable Type type) {
      if (type != null && seen.add(type)) pending.add(type);
    }

    private boolean isFound(Class<?> type) {
      return found.containsKey(type) || planned.contains(type);
    }

    private void plan(Class<?> type, Supplier<Entry> entry) {
      if (isFound(type)) return;
      planned.add(type);
      numbering.add(() -> found.put(type, entry.get()));
    }

    /// Returns the number of a name.
    ///
    /// @throws NotShareable when it has none, and must not get one
    private int number(String name) {
      if (!knownOnly) return ids.idOf(name);
      Integer known = stored.number(name);
      if (known != null) return known;
      throw new NotShareable("the server does not know \"" + name + "\"");
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
        if (!element.isPrimitive()) {
          var names = arrayNames(type, element);
          plan(type, () -> new Entry.Arrays(numbered(type, names).id()));
        }
        add(type.getComponentType());
        return;
      }
      if (type.isEnum() && Platform.has(type)) {
        plan(type, () -> new Entry.PlatformConstants(number(CLASS + type.getName())));
        return;
      }
      if (type.isPrimitive() || Platform.has(type) || isFound(type)) return;
      if (type == stoa.Ref.class || StoaException.class.isAssignableFrom(type)) return;
      if (type == Blob.class || type == blobs) {
        blob();
        return;
      }
      descend(type);
      if (type.isAnnotationPresent(Shared.class)) {
        shared(SharedType.of(type));
        return;
      }
      if (Facade.class.isAssignableFrom(type)) {
        if (!type.isInterface()) {
          plan(type, () -> new Entry.ByFacade(number(CLASS + type.getName())));
        }
        return;
      }
      if (type.isEnum()) {
        constants(type);
        return;
      }
      if (type.isSealed()) {
        for (Class<?> permitted : type.getPermittedSubclasses()) add(permitted);
      }
      add(type.getGenericSuperclass());
      if (type.isInterface() || Modifier.isAbstract(type.getModifiers())) return;
      if (Throwable.class.isAssignableFrom(type)) {
        plan(type, () -> new Entry.Exceptions(numbered(type, Lineage.names(type)).id()));
      } else {
        checkValueClass(type);
        fields(type);
      }
      addFields(type, this::add);
    }

    private void constants(Class<?> type) {
      var form = new EnumForm(type);
      List<String> names = Lineage.names(type);
      for (String name : names) {
        comparing.add(() -> {
          for (String body : stored.bodies("enum", name)) {
            Loss.possible(name, "enum", body, possible);
            form.check(name, body, foundLineage);
          }
        });
      }
      plan(
          type,
          () -> {
            Numbered numbered = numbered(type, names);
            if (ids.assigns()) {
              var _ = number(form.description(numbered.name()));
            }
            return new Entry.Constants(numbered.id(), form);
          });
    }

    private void fields(Class<?> type) {
      var unnamed = ids.assigns() ? Shape.Unnamed.REFUSED : Shape.Unnamed.DROPPED;
      var shape = new Shape(type, foundLineage, unnamed);
      List<String> names = Lineage.names(type);
      for (String name : names) compare(shape, name);
      plan(
          type,
          () -> {
            Numbered numbered = numbered(type, names);
            int schema = number(Struct.schema(numbered.name(), shape));
            var all = new ArrayList<String>(names);
            all.remove(numbered.name());
            all.addFirst(numbered.name());
            var struct = new Struct(shape, List.copyOf(all), schema, ids);
            return new Entry.Fields(numbered.id(), struct);
          });
    }

    private void compare(Shape shape, String storedName) {
      comparing.add(() -> {
        String body = shape.body();
        for (String other : stored.bodies("schema", storedName)) {
          Loss.possible(storedName, "schema", other, possible);
          if (!other.equals(body)) {
            var _ = shape.plan(storedName, other);
          }
        }
      });
    }

    /// Returns the number of a class, and the name with this number: of all names of the class the
    /// one that the dictionary had first. The others stand for the class when the codec reads a
    /// value.
    private Numbered numbered(Class<?> type, List<String> names) {
      var numbers = new TreeMap<Integer, String>();
      for (String name : names) {
        Integer known = stored.number(CLASS + name);
        if (known != null) numbers.put(known, name);
      }
      if (numbers.isEmpty()) numbers.put(number(CLASS + names.getFirst()), names.getFirst());
      if (ids.assigns()) {
        for (String name : names) numbers.put(number(CLASS + name), name);
      }
      var first = numbers.pollFirstEntry();
      for (int other : numbers.keySet()) foundEarlier.put(other, type);
      return new Numbered(first.getKey(), first.getValue());
    }

    private static List<String> arrayNames(Class<?> type, Class<?> element) {
      if (Platform.has(element) || element.isAnnotationPresent(Shared.class)) {
        return List.of(type.getName());
      }
      String before = type.getName().substring(0, type.getName().indexOf('L') + 1);
      return Lineage.names(element).stream().map(name -> before + name + ";").toList();
    }

    private static void addFields(Class<?> type, Consumer<Type> adding) {
      for (Class<?> c = type; c != null && !Platform.has(c); c = c.getSuperclass()) {
        if (c.getGenericSuperclass() != null) adding.accept(c.getGenericSuperclass());
        for (Field field : c.getDeclaredFields()) {
          int skipped = Modifier.STATIC | Modifier.TRANSIENT;
          if ((field.getModifiers() & skipped) == 0) adding.accept(field.getGenericType());
        }
      }
      if (type.isRecord()) {
        for (RecordComponent component : type.getRecordComponents()) {
          adding.accept(component.getGenericType());
        }
      }
    }

    void shared(SharedType type) {
      if (!foundTypes.add(type)) return;
      Class<?> implementation = type.implementation();
      descend(type.face());
      foundLineage.addFaces(type.face(), stored.after(CLASS + type.name() + " "));
      boolean own = OwnState.class.isAssignableFrom(implementation);
      boolean here = ids.assigns() || type.isPlaced();
      // Names the class before its schema: a dictionary of another group gets the schema from the
      // class.
      plan(Proxies.classOf(type), () -> proxy(type));
      if (!states.containsKey(implementation)) state(type, own, here);
      plan(implementation, () -> byReference(INSTANCE + type.name(), type, null));
      if (!own) addFields(implementation, here ? this::add : hidden::add);
      for (SharedMethod method : type.methods()) {
        add(method.genericReturnType());
        method.genericParameterTypes().forEach(this::add);
      }
      type.exceptions().forEach(this::add);
    }

    /// @param own whether the state has a form of its own, instead of its fields
    /// @param here whether this process writes states
    private void state(SharedType type, boolean own, boolean here) {
      Class<?> implementation = type.implementation();
      var shape = new Shape(implementation, foundLineage, Shape.Unnamed.REFUSED);
      if (!own && here) compare(shape, type.name());
      String schema = Struct.schema(type.name(), shape);
      numbering.add(() -> {
        Integer known = stored.number(schema);
        int number = here ? number(schema) : known == null ? Struct.NO_SCHEMA : known;
        var struct = new Struct(shape, List.of(type.name()), number, ids);
        foundStates.put(implementation, struct);
      });
    }

    /// The first face of a type uses the type's name, so that the class can be renamed.
    private Entry.ByReference proxy(SharedType type) {
      String what = PROXY + type.name();
      Class<?> face = type.face();
      if (knownOnly) {
        var _ = number(CLASS + type.name() + " " + face.getName());
      }
      return byReference(ids.isFirstFace(type) ? what : what + FACE + face.getName(), type, face);
    }

    private Entry.ByReference byReference(String what, SharedType type, @Nullable Class<?> face) {
      String made = type.implementation().getName();
      return new Entry.ByReference(number(what), type.name(), made, face);
    }

    private void blob() {
      String name = Blob.class.getName();
      plan(blobs, () -> new Entry.ByReference(number(PROXY + name), name, name, null));
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
