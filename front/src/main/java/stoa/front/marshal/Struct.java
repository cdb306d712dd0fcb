package stoa.front.marshal;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.fory.reflect.FieldAccessor;
import org.jspecify.annotations.Nullable;
import org.objenesis.ObjenesisStd;
import org.objenesis.instantiator.ObjectInstantiator;
import stoa.Corrupt;
import stoa.NotShareable;
import stoa.front.types.ModuleAccess;

/// The encoding of one class of the program: its schema in the dictionary, the creation of
/// instances, and the plans to read instances of earlier versions of the class.
///
/// Immutable apart from a cache of reading plans, and thread-safe.
final class Struct {
  /*
   * A schema is a name in the dictionary: "schema bank.Item{count:int,name:java.lang.String}". Each
   * encoded instance names its schema, so that a reader knows exactly what it finds, even after
   * changes of the class.
   *
   * Plans: for the schema of the class itself there is none. For another, a plan lists where each
   * stored field goes (a slot, or nowhere) and which slots of the class have no stored field.
   */

  /// The number of a schema that is not in the dictionary.
  static final int NO_SCHEMA = -1;

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

  /// One present field of the class.
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

    /// The type in the text of a schema.
    final TypeText text;

    /// The possible names of a stored field for this slot; the likeliest first.
    final List<String> names;

    /// @param hiding whether a superclass has a field of the name
    Slot(Field field, boolean hiding, int order, int component) {
      Class<?> owner = field.getDeclaringClass();
      this.name = hiding ? qualified(owner.getName(), field.getName()) : field.getName();
      this.type = field.getType();
      this.kind = Kind.of(type.getTypeName());
      this.field = field;
      this.accessor = PrivateFields.of(field);
      this.order = order;
      this.component = component;
      this.text = TypeText.of(field.getGenericType());
      this.names = names(owner, field, hiding);
    }

    private static List<String> names(Class<?> owner, Field field, boolean hiding) {
      var names = new ArrayList<String>();
      for (String own : Lineage.names(owner)) names.add(qualified(own, field.getName()));
      if (!hiding) names.add(field.getName());
      for (String was : Lineage.was(field)) {
        for (String own : Lineage.names(owner)) names.add(qualified(own, was));
        names.add(was);
      }
      return List.copyOf(names);
    }

    private static String qualified(String owner, String name) {
      return owner + "#" + name;
    }

    /// Returns whether a superclass has a field of the same name.
    boolean isHiding() {
      return !name.equals(field.getName());
    }

    /// Assigns a value of the field's type, or one that widens to it.
    void set(Object target, @Nullable Object given) {
      Object value = Widening.widened(given, type);
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

  /// One stored field: its name, its encoding, and its slot.
  record Stored(String name, Kind kind, @Nullable Slot slot) {}

  /// The plan to read instances of a schema.
  ///
  /// @param added slots of the class without a stored field, in the order of the class
  record Plan(List<Stored> stored, List<Slot> added) {}

  private final Shape shape;
  private final Class<?> type;
  private final List<String> storedNames;
  private final List<Slot> slots;
  private final String schema;
  private final int schemaId;
  private final TypeIds ids;
  private final @Nullable ObjectInstantiator<?> instantiator;
  private final @Nullable MethodHandle recordConstructor;
  private final @Nullable MethodHandle migration;
  private final Map<Integer, Plan> plans = new ConcurrentHashMap<>();

  /// @param storedNames the name that instances are written with, then others that they may have
  /// @param schemaId the number of the schema, or [#NO_SCHEMA]: then the codec only reads instances
  Struct(Shape shape, List<String> storedNames, int schemaId, TypeIds ids) {
    this.shape = shape;
    this.type = shape.type();
    this.storedNames = storedNames;
    this.ids = ids;
    this.slots = shape.slots();
    this.schema = schema(storedNames.getFirst(), shape);
    this.schemaId = schemaId;
    this.migration = shape.migration();
    if (type.isRecord()) {
      this.instantiator = null;
      this.recordConstructor = recordConstructor(type);
    } else {
      this.instantiator = OBJENESIS.getInstantiatorOf(type);
      this.recordConstructor = null;
    }
  }

  /// Returns the description of a class's fields in the dictionary.
  static String schema(String storedName, Shape shape) {
    String schema = "schema " + storedName + "{" + shape.body() + "}";
    if (schema.length() > TypeIds.NAME_CHARS_MAX) {
      throw new NotShareable(
          shape.type().getName()
              + " has too many fields to describe; split it into several classes");
    }
    return schema;
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

  /// Returns the number of the schema.
  ///
  /// @throws NotShareable when the dictionary has none, and this program may not add it
  int schemaId() {
    if (schemaId != NO_SCHEMA) return schemaId;
    throw new NotShareable(
        "the server does not know \""
            + schema
            + "\", so that this program cannot write the state of a "
            + storedNames.getFirst()
            + "; give it the same classes as the server");
  }

  boolean migrates() {
    return migration != null;
  }

  /// Returns the values of an instance's object fields.
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

  /// Calls the migration method; returns the record that it creates, or the instance.
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

  /// Returns the plan to read instances of a schema; null for the schema of the class itself.
  @Nullable Plan plan(int id) {
    if (id == schemaId) return null;
    Plan plan = plans.get(id);
    if (plan == null) {
      plan = makePlan(id);
      plans.put(id, plan);
    }
    return plan;
  }

  /// Gives transient fields their initial values, as far as those need no constructor's arguments.
  void restoreTransients(Object instance) {
    for (Slot slot : shape.transients()) {
      Object initial = initial(slot, instance);
      if (initial != null) slot.set(instance, initial);
    }
  }

  /// Returns the value of an added field before a migration method runs; null for the default of
  /// Java.
  @Nullable Object initial(Slot slot, Object instance) {
    var initial = shape.initial(slot);
    if (initial.isEmpty()) return null;
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

  private Plan makePlan(int id) {
    String text = ids.nameOf(id);
    for (String name : storedNames) {
      String prefix = "schema " + name + "{";
      if (text == null || !text.startsWith(prefix) || !text.endsWith("}")) continue;
      return shape.plan(name, text.substring(prefix.length(), text.length() - 1), ids.names());
    }
    throw new Corrupt(
        "a " + storedNames.getFirst() + " names the schema " + id + ", which is " + text);
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
}
