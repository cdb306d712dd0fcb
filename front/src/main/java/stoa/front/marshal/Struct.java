package stoa.front.marshal;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.fory.reflect.FieldAccessor;
import org.jspecify.annotations.Nullable;
import org.objenesis.ObjenesisStd;
import org.objenesis.instantiator.ObjectInstantiator;
import stoa.Corrupt;
import stoa.Migrate;
import stoa.NotShareable;
import stoa.front.types.ModuleAccess;

/// The fields of one class of the program, how to make an instance, and how to read what earlier
/// versions of the class have stored.
///
/// Immutable apart from a cache of reading plans, and thread-safe.
final class Struct {
  /*
   * A schema is a name in the dictionary: "schema bank.Item{count:int,name:java.lang.String}". Its
   * fields are those of the superclasses first, sorted by name within a class; a field that hides
   * one of the same name is qualified by its class. Each encoded instance names the schema it was
   * written with, so that a reader knows exactly what it finds, whatever the class has become.
   *
   * Plans: for the schema of the class itself there is none. For another, a plan lists where each
   * stored field goes (a slot, or nowhere) and which slots of the class were not stored.
   */
  private static final ObjenesisStd OBJENESIS = new ObjenesisStd(true);

  enum Kind {
    BOOLEAN,
    BYTE,
    SHORT,
    CHAR,
    INT,
    LONG,
    FLOAT,
    DOUBLE,
    STRING,
    OBJECT;

    static Kind of(String typeName) {
      return switch (typeName) {
        case "boolean" -> BOOLEAN;
        case "byte" -> BYTE;
        case "short" -> SHORT;
        case "char" -> CHAR;
        case "int" -> INT;
        case "long" -> LONG;
        case "float" -> FLOAT;
        case "double" -> DOUBLE;
        case "java.lang.String" -> STRING;
        default -> OBJECT;
      };
    }
  }

  /// One field of the class as it is now.
  static final class Slot {
    final String name;
    final Class<?> type;
    final Kind kind;
    final Field field;
    final FieldAccessor accessor;

    /// Position in the source, superclasses first.
    final int order;

    /// Position among the components of a record; -1 in other classes.
    final int component;

    Slot(String name, Field field, int order, int component) {
      this.name = name;
      this.type = field.getType();
      this.kind = Kind.of(type.getTypeName());
      this.field = field;
      this.accessor = FieldAccessor.createAccessor(field);
      this.order = order;
      this.component = component;
    }

    void set(Object target, @Nullable Object value) {
      switch (kind) {
        case BOOLEAN -> accessor.putBoolean(target, value instanceof Boolean b && b);
        case BYTE -> accessor.putByte(target, value instanceof Byte b ? b : (byte) 0);
        case SHORT -> accessor.putShort(target, value instanceof Short s ? s : (short) 0);
        case CHAR -> accessor.putChar(target, value instanceof Character c ? c : (char) 0);
        case INT -> accessor.putInt(target, value instanceof Integer i ? i : 0);
        case LONG -> accessor.putLong(target, value instanceof Long l ? l : 0L);
        case FLOAT -> accessor.putFloat(target, value instanceof Float f ? f : 0);
        case DOUBLE -> accessor.putDouble(target, value instanceof Double d ? d : 0);
        case STRING, OBJECT -> accessor.putObject(target, value);
      }
    }
  }

  /// One stored field: its name, how it is encoded, and where it goes.
  record Stored(String name, Kind kind, @Nullable Slot slot) {}

  /// How to read what a schema describes.
  ///
  /// @param added slots of the class that were not stored, in the order of the class
  record Plan(List<Stored> stored, List<Slot> added) {}

  private final Class<?> type;
  private final String storedName;
  private final List<Slot> slots;
  private final List<Slot> transients;
  private final String schema;
  private final int schemaId;
  private final TypeIds ids;
  private final @Nullable ObjectInstantiator<?> instantiator;
  private final @Nullable MethodHandle recordConstructor;
  private final @Nullable MethodHandle migration;
  private final Map<Integer, Plan> plans = new ConcurrentHashMap<>();
  private final Map<Slot, Optional<Initials.Initial>> initials = new ConcurrentHashMap<>();

  Struct(Class<?> type, String storedName, TypeIds ids) {
    this.type = type;
    this.storedName = storedName;
    this.ids = ids;
    this.slots = slots(type, 0);
    this.transients = type.isRecord() ? List.of() : slots(type, Modifier.TRANSIENT);
    this.schema = schema(storedName, slots);
    if (schema.length() > TypeIds.NAME_CHARS_MAX) {
      throw new NotShareable(
          type.getName() + " has too many fields to describe; split it into several classes");
    }
    this.schemaId = ids.idOf(schema);
    this.migration = migration(type);
    if (type.isRecord()) {
      this.instantiator = null;
      this.recordConstructor = recordConstructor(type);
    } else {
      this.instantiator = OBJENESIS.getInstantiatorOf(type);
      this.recordConstructor = null;
    }
  }

  Class<?> type() {
    return type;
  }

  List<Slot> slots() {
    return slots;
  }

  String schema() {
    return schema;
  }

  int schemaId() {
    return schemaId;
  }

  boolean migrates() {
    return migration != null;
  }

  /// What the fields of an instance hold that hold objects.
  List<@Nullable Object> objects(Object instance) {
    var objects = new ArrayList<@Nullable Object>();
    for (Slot slot : slots) {
      if (slot.kind == Kind.OBJECT) objects.add(slot.accessor.getObject(instance));
    }
    return objects;
  }

  Object allocate() {
    if (instantiator == null) throw new IllegalStateException(type + " is a record");
    return instantiator.newInstance();
  }

  Object construct(@Nullable Object[] components) {
    if (recordConstructor == null) throw new IllegalStateException(type + " is no record");
    try {
      return (Object) recordConstructor.invokeExact(components);
    } catch (Throwable e) {
      throw new NotShareable(
          "the constructor of the record "
              + type.getName()
              + " refuses a stored value; let it accept all that was stored",
          e);
    }
  }

  /// Calls the migration method; answers the record that it makes, or the instance.
  Object migrate(@Nullable Object instance, Map<String, @Nullable Object> stored) {
    if (migration == null) throw new IllegalStateException(type + " has no migration");
    try {
      Object made = (Object) migration.invokeExact(instance, stored);
      if (instance != null) return instance;
      if (type.isInstance(made)) return made;
    } catch (Throwable e) {
      throw new NotShareable("the @Migrate method of " + type.getName() + " failed: " + e, e);
    }
    throw new NotShareable("the @Migrate method of " + type.getName() + " answered no record");
  }

  /// How to read instances of a schema; null when it is that of the class itself.
  @Nullable Plan plan(int id) {
    if (id == schemaId) return null;
    Plan plan = plans.get(id);
    if (plan == null) {
      plan = makePlan(id);
      plans.put(id, plan);
    }
    return plan;
  }

  /// Gives transient fields their initializers, as far as those need no constructor's arguments.
  void restoreTransients(Object instance) {
    for (Slot slot : transients) {
      if (initials.computeIfAbsent(slot, t -> Initials.find(type, t.field)).isPresent()) {
        Object initial = initial(slot, instance);
        if (initial != null) slot.set(instance, initial);
      }
    }
  }

  /// What an added field of an instance holds before a migration method runs; null for what Java
  /// gives a field by itself.
  @Nullable Object initial(Slot slot, Object instance) {
    var initial = initials.computeIfAbsent(slot, added -> Initials.find(type, added.field));
    if (initial.isPresent()) {
      try {
        return initial.get().of(instance);
      } catch (Throwable e) {
        throw new NotShareable(
            "the initializer of "
                + type.getName()
                + "."
                + slot.name
                + " failed while a stored object was completed: "
                + e,
            e);
      }
    }
    if (migration != null) return null;
    throw new NotShareable(
        type.getName()
            + "."
            + slot.name
            + " was added after this "
            + storedName
            + " was stored, and only a constructor with parameters knows its value;"
            + " give it an initializer, or add a method marked @Migrate");
  }

  // ---- plans

  private Plan makePlan(int id) {
    String text = ids.nameOf(id);
    String prefix = "schema " + storedName + "{";
    if (text == null || !text.startsWith(prefix) || !text.endsWith("}")) {
      throw new Corrupt("a " + storedName + " names the schema " + id + ", which is " + text);
    }
    var byName = new HashMap<String, Slot>();
    for (Slot slot : slots) byName.put(slot.name, slot);
    var stored = new ArrayList<Stored>();
    var found = new HashSet<Slot>();
    String body = text.substring(prefix.length(), text.length() - 1);
    for (String part : body.isEmpty() ? new String[0] : body.split(",", -1)) {
      int colon = part.lastIndexOf(':');
      String name = part.substring(0, colon);
      String typeName = part.substring(colon + 1);
      Slot slot = byName.get(name);
      Kind kind = Kind.of(typeName);
      if (slot != null && slot.kind != kind) {
        if (migration == null) throw changed(slot, typeName);
        slot = null; // the migration method gets the old value by name
      }
      if (slot != null) found.add(slot);
      stored.add(new Stored(name, kind, slot));
    }
    // Initializers run in the order of the source, as later ones may use earlier ones.
    var added =
        slots.stream()
            .filter(slot -> !found.contains(slot))
            .sorted(Comparator.comparingInt(slot -> slot.order))
            .toList();
    if (type.isRecord() && !added.isEmpty() && migration == null) {
      throw new NotShareable(
          "the component "
              + added.getFirst().name
              + " of the record "
              + type.getName()
              + " was added after this value was stored; add a static method marked @Migrate");
    }
    return new Plan(List.copyOf(stored), added);
  }

  NotShareable changed(Slot slot, String typeName) {
    return new NotShareable(
        type.getName()
            + "."
            + slot.name
            + " is a "
            + slot.type.getTypeName()
            + ", and was stored as a "
            + typeName
            + "; give the field a new name, or add a method marked @Migrate");
  }

  // ---- description

  /// The instance fields of a class that are transient, or that are not.
  private static List<Slot> slots(Class<?> type, int wanted) {
    var lineage = new ArrayList<Class<?>>();
    for (Class<?> c = type; c != null && c != Object.class; c = c.getSuperclass()) lineage.add(c);
    var slots = new ArrayList<Slot>();
    var names = new HashSet<String>();
    for (Class<?> c : lineage.reversed()) {
      if (c == Record.class) continue;
      var fields = new ArrayList<Field>();
      for (Field field : c.getDeclaredFields()) {
        int considered = Modifier.STATIC | Modifier.TRANSIENT;
        if ((field.getModifiers() & considered) == wanted) fields.add(field);
      }
      var inSource = List.copyOf(fields);
      fields.sort(Comparator.comparing(Field::getName));
      int base = slots.size();
      for (Field field : fields) {
        String name = field.getName();
        if (!names.add(name)) name = c.getName() + "#" + name;
        slots.add(slot(type, name, field, base + inSource.indexOf(field)));
      }
    }
    return List.copyOf(slots);
  }

  private static Slot slot(Class<?> type, String name, Field field, int order) {
    try {
      return new Slot(name, field, order, type.isRecord() ? component(type, field) : -1);
    } catch (RuntimeException | Error e) {
      throw new NotShareable(
          type.getName() + "." + name + " cannot be read; " + ModuleAccess.remedy(type), e);
    }
  }

  private static int component(Class<?> type, Field field) {
    RecordComponent[] components = type.getRecordComponents();
    for (int i = 0; i < components.length; i++) {
      if (components[i].getName().equals(field.getName())) return i;
    }
    throw new IllegalStateException(field + " is no component");
  }

  private static String schema(String storedName, List<Slot> slots) {
    var text = new StringBuilder("schema ").append(storedName).append('{');
    for (Slot slot : slots) {
      if (text.charAt(text.length() - 1) != '{') text.append(',');
      text.append(slot.name).append(':').append(slot.type.getTypeName());
    }
    return text.append('}').toString();
  }

  private static MethodHandle recordConstructor(Class<?> type) {
    Class<?>[] types =
        Arrays.stream(type.getRecordComponents())
            .map(RecordComponent::getType)
            .toArray(Class<?>[]::new);
    try {
      Constructor<?> constructor = type.getDeclaredConstructor(types);
      constructor.setAccessible(true);
      return MethodHandles.lookup()
          .unreflectConstructor(constructor)
          .asFixedArity()
          .asSpreader(Object[].class, types.length)
          .asType(MethodType.methodType(Object.class, Object[].class));
    } catch (ReflectiveOperationException | RuntimeException e) {
      throw new NotShareable(
          "the record " + type.getName() + " cannot be made; " + ModuleAccess.remedy(type), e);
    }
  }

  private static @Nullable MethodHandle migration(Class<?> type) {
    for (Class<?> c = type; c != null && c != Object.class; c = c.getSuperclass()) {
      for (Method method : c.getDeclaredMethods()) {
        if (!method.isAnnotationPresent(Migrate.class)) continue;
        boolean fixed = Modifier.isStatic(method.getModifiers());
        Class<?>[] parameters = method.getParameterTypes();
        boolean fits =
            parameters.length == 1 && parameters[0] == Map.class && fixed == type.isRecord();
        if (!fits) {
          throw new NotShareable(
              c.getName()
                  + "."
                  + method.getName()
                  + " is marked @Migrate; make it "
                  + (type.isRecord() ? "static, answering the record" : "an instance method")
                  + ", with one parameter of type Map<String, Object>");
        }
        return handle(method, fixed);
      }
    }
    return null;
  }

  private static MethodHandle handle(Method method, boolean fixed) {
    try {
      method.setAccessible(true);
      MethodHandle handle = MethodHandles.lookup().unreflect(method);
      if (fixed) handle = MethodHandles.dropArguments(handle, 0, Object.class);
      return handle.asType(MethodType.methodType(Object.class, Object.class, Map.class));
    } catch (IllegalAccessException | RuntimeException e) {
      throw new NotShareable(
          method + " cannot be called; " + ModuleAccess.remedy(method.getDeclaringClass()), e);
    }
  }
}
