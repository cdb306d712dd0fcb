package stoa.front.types;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.CallFailed;
import stoa.Index;
import stoa.LogOrder;
import stoa.NotShareable;
import stoa.Placement;
import stoa.Unique;
import stoa.base.ThrowableText;
import stoa.base.Unwinding;
import stoa.spi.Cancellation;

/// A field or accessor of a shared class that has an index, see [Index] and [Unique]. Immutable and
/// thread-safe.
public final class IndexedMember {
  // Separates the identity of an accessor from its arguments, each byte of which is a character.
  private static final char ARGUMENTS = 0;

  // In front of the class of a predicate; no accessor has a name with a space.
  private static final String MEETS = "meets ";

  private static final String INDEXED = " has an index, and is of ";

  private final String name;
  private final boolean unique;
  private final IndexForm form;
  private final MethodHandle reader;
  private final String id;
  private final boolean isField;

  /// The meaning of the annotations of a member.
  ///
  /// @param version of the meaning of the values, see [Index#version]
  private record Mark(boolean unique, int version) {
    static @Nullable Mark of(@Nullable Index index, @Nullable Unique unique) {
      if (unique != null) return new Mark(true, unique.version());
      return index == null ? null : new Mark(false, index.version());
    }
  }

  private IndexedMember(
      String name, Mark mark, IndexForm form, MethodHandle reader, boolean isField) {
    this.name = name;
    this.unique = mark.unique;
    this.isField = isField;
    this.form = form;
    this.reader = reader.asType(MethodType.methodType(Object.class, Object.class));
    String meaning = mark.version == 0 ? "" : " " + mark.version;
    this.id = (unique ? "unique " : "index ") + name + " " + form.name() + meaning;
  }

  /// Returns the name of the field or accessor; for a call of an accessor with arguments, what
  /// [#named] returned.
  public String name() {
    return name;
  }

  /// Returns the name for people.
  public String shown() {
    int end = name.indexOf(ARGUMENTS);
    return end < 0 ? name : name.substring(0, end);
  }

  /// Returns whether a value belongs to one object at most.
  public boolean isUnique() {
    return unique;
  }

  /// Returns the form of its values.
  public IndexForm form() {
    return form;
  }

  /// Returns a text that names the index among those of all versions of the class: two with the
  /// same text have entries of the same form.
  public String id() {
    return id;
  }

  /// Returns whether its value is in a field, and of a class of the JDK or an enum, so that no code
  /// of a user runs when it is read.
  public boolean isPlain() {
    return isField && form.isPlain();
  }

  /// Returns the value of an object.
  ///
  /// @throws CallFailed when the accessor throws, naming the member and what it threw
  public @Nullable Object rawValueOf(Object instance) {
    return read(instance);
  }

  /// Returns the value of an object in its form.
  ///
  /// @throws CallFailed when the accessor throws, naming the member and what it threw
  public String valueOf(Object instance) {
    return form.encode(read(instance));
  }

  /// Returns the same without an end to its length.
  public String wholeValueOf(Object instance) {
    return form.encodeWhole(read(instance));
  }

  private @Nullable Object read(Object instance) {
    try {
      return (Object) reader.invokeExact(instance);
    } catch (VirtualMachineError | Cancellation.Stopped passedOn) {
      throw passedOn;
    } catch (Throwable thrown) {
      Unwinding.throwOn(thrown);
      throw new CallFailed(shown() + " threw " + ThrowableText.of(thrown), thrown);
    }
  }

  // ---- declarations

  /// Returns the indexes of a class, in the order of their ids.
  ///
  /// @throws NotShareable naming the member and the remedy
  static List<IndexedMember> of(SharedType type) {
    var found = new ArrayList<IndexedMember>();
    for (Class<?> c = type.implementation(); c != null; c = c.getSuperclass()) {
      if (Platform.has(c)) break;
      for (Field field : c.getDeclaredFields()) {
        Mark mark = Mark.of(field.getAnnotation(Index.class), field.getAnnotation(Unique.class));
        if (mark != null) found.add(of(field, mark));
      }
    }
    for (SharedMethod method : type.methods()) {
      Index index = type.annotation(method.method(), Index.class);
      Unique unique = type.annotation(method.method(), Unique.class);
      Mark mark = Mark.of(index, unique);
      if (mark != null) found.add(of(method, mark));
    }
    if (found.isEmpty()) return List.of();
    if (type.placement() != Placement.SERVER || type.order() != LogOrder.GLOBAL) {
      throw new NotShareable(
          type.face().getName()
              + " has an @Index or @Unique, and is not executed at the store in LogOrder.GLOBAL,"
              + " where an index has its place; take the annotation away, or the placement and the"
              + " order");
    }
    var names = new HashSet<String>();
    for (IndexedMember member : found) {
      if (names.add(member.name)) continue;
      throw new NotShareable(
          type.face().getName()
              + " has two indexes of the name "
              + member.name
              + "; annotate the field or the accessor, and not both");
    }
    found.sort(java.util.Comparator.comparing(IndexedMember::id));
    return List.copyOf(found);
  }

  // ---- the values of maps

  private static final ClassValue<List<IndexedMember>> OF_VALUES =
      new ClassValue<>() {
        @Override
        protected List<IndexedMember> computeValue(Class<?> values) {
          return declared(values);
        }
      };

  private static final ClassValue<Map<String, IndexedMember>> PARTS =
      new ClassValue<>() {
        @Override
        protected Map<String, IndexedMember> computeValue(Class<?> values) {
          return new ConcurrentHashMap<>();
        }
      };

  /// Returns the indexes that a class of values of maps declares, in the order of their ids.
  ///
  /// @throws NotShareable naming the member and the remedy
  public static List<IndexedMember> ofValues(Class<?> values) {
    return OF_VALUES.get(values);
  }

  private static List<IndexedMember> declared(Class<?> values) {
    var found = new TreeMap<String, IndexedMember>();
    for (Class<?> c = values; c != null && !Platform.has(c); c = c.getSuperclass()) {
      for (Field field : c.getDeclaredFields()) {
        Mark mark = Mark.of(field.getAnnotation(Index.class), field.getAnnotation(Unique.class));
        if (mark != null) add(of(field, mark), c.isRecord(), found);
      }
      for (Method method : c.getDeclaredMethods()) {
        Mark mark = Mark.of(method.getAnnotation(Index.class), method.getAnnotation(Unique.class));
        if (mark == null || method.isBridge()) continue;
        // The annotation of a record's component is on the field and on the method.
        if (c.isRecord() && found.containsKey(method.getName())) continue;
        add(ofValue(method, mark), false, found);
      }
    }
    var members = new ArrayList<>(found.values());
    members.sort(java.util.Comparator.comparing(IndexedMember::id));
    return List.copyOf(members);
  }

  private static void add(
      IndexedMember member, boolean isComponent, Map<String, IndexedMember> found) {
    IndexedMember other = found.putIfAbsent(member.name, member);
    if (other == null || isComponent) return;
    throw new NotShareable(
        "a class of values has two indexes of the name "
            + member.name
            + "; annotate the field or the method, and not both");
  }

  private static IndexedMember ofValue(Method method, Mark mark) {
    String member = SharedType.member(method);
    boolean isRead =
        method.getParameterCount() == 0
            && method.getReturnType() != void.class
            && !Modifier.isStatic(method.getModifiers());
    if (!isRead) {
      throw new NotShareable(
          member
              + " has an index, and is no method without parameters that returns a value; annotate"
              + " such a method, a field or a component");
    }
    IndexForm form = form(member, INDEXED, method.getReturnType());
    return new IndexedMember(method.getName(), mark, form, reader(method), false);
  }

  /// Returns a part of the values of a map, by the name of a component, of a method without
  /// parameters, or of a field with an index.
  ///
  /// @throws NotShareable when there is none
  public static IndexedMember part(Class<?> values, String name) {
    IndexedMember index = find(ofValues(values), name);
    return index != null
        ? index
        : PARTS.get(values).computeIfAbsent(name, _ -> findPart(values, name));
  }

  private static IndexedMember findPart(Class<?> values, String name) {
    for (Class<?> c = values; c != null && !Platform.has(c); c = c.getSuperclass()) {
      for (Method method : c.getDeclaredMethods()) {
        boolean isPart =
            method.getName().equals(name)
                && method.getParameterCount() == 0
                && !method.isBridge()
                && !Modifier.isStatic(method.getModifiers());
        if (!isPart) continue;
        String member = SharedType.member(method);
        IndexForm form = form(member, " is read by a query, and returns ", method.getReturnType());
        return new IndexedMember(name, new Mark(false, 0), form, reader(method), false);
      }
    }
    throw new NotShareable(
        values.getName()
            + " has no component, no method without parameters and no field with an @Index of the"
            + " name "
            + name
            + ", by which a query asks; declare it, or correct the name");
  }

  /// Returns an accessor without an index, for comparisons.
  static IndexedMember of(SharedMethod accessor) {
    return of(accessor, new Object[0], accessor.name());
  }

  // ---- calls with arguments

  /// Returns the name of a call of an accessor with arguments.
  ///
  /// @param arguments their encoding
  public static String named(SharedMethod accessor, byte[] arguments) {
    return accessor.id() + ARGUMENTS + new String(arguments, StandardCharsets.ISO_8859_1);
  }

  /// Returns the name by which a query reads whether objects meet a predicate.
  ///
  /// @param type the name of its class
  /// @param encoded the predicate
  public static String predicate(String type, byte[] encoded) {
    return MEETS + type + ARGUMENTS + new String(encoded, StandardCharsets.ISO_8859_1);
  }

  /// Returns whether a name is that of a predicate.
  public static boolean isPredicate(String name) {
    return name.startsWith(MEETS);
  }

  /// Returns the form of what a predicate returns for the objects that meet it.
  public static String met() {
    return Objects.requireNonNull(IndexForm.of(boolean.class)).encode(true);
  }

  /// Returns what a query reads by the name of a predicate.
  ///
  /// @param met returns whether an object meets it
  public static IndexedMember predicate(String name, Predicate<Object> met) {
    try {
      MethodHandle reader =
          MethodHandles.lookup()
              .findVirtual(
                  Predicate.class, "test", MethodType.methodType(boolean.class, Object.class))
              .bindTo(met);
      IndexForm form = Objects.requireNonNull(IndexForm.of(boolean.class));
      return new IndexedMember(name, new Mark(false, 0), form, reader, false);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /// Returns the identity of the accessor in a name of a call with arguments; null when it is
  /// another name.
  public static @Nullable String idIn(String name) {
    int end = name.indexOf(ARGUMENTS);
    return end < 0 ? null : name.substring(0, end);
  }

  /// Returns the arguments in a name of a call with arguments.
  public static byte[] argumentsIn(String name) {
    return name.substring(name.indexOf(ARGUMENTS) + 1).getBytes(StandardCharsets.ISO_8859_1);
  }

  /// Returns a call of an accessor, for comparisons.
  ///
  /// @param name names the call
  /// @throws NotShareable when the method is no accessor, or returns no value with an order
  public static IndexedMember of(SharedMethod shared, @Nullable Object[] arguments, String name) {
    Method method = shared.method();
    String member = SharedType.member(method);
    if (shared.kind() != SharedMethod.Kind.ACCESSOR) {
      throw new NotShareable(
          member + " is no @Accessor, and a query reads objects by accessors; make it one");
    }
    IndexForm form = form(member, " is read by a query, and returns ", method.getReturnType());
    MethodHandle reader = reader(method).asFixedArity();
    try {
      return new IndexedMember(
          name,
          new Mark(false, 0),
          form,
          MethodHandles.insertArguments(reader, 1, arguments),
          false);
    } catch (ClassCastException | IllegalArgumentException other) {
      throw new NotShareable("the arguments of a query do not fit " + member, other);
    }
  }

  private static MethodHandle reader(Method method) {
    ModuleAccess.open(method);
    try {
      return MethodHandles.lookup().unreflect(method);
    } catch (IllegalAccessException e) {
      throw new NotShareable(SharedType.member(method) + " cannot be called: " + e.getMessage(), e);
    }
  }

  private static IndexedMember of(Field field, Mark mark) {
    String member = field.getDeclaringClass().getName() + "." + field.getName();
    if (Modifier.isStatic(field.getModifiers()) || Modifier.isTransient(field.getModifiers())) {
      throw new NotShareable(
          member
              + " has an index, and is "
              + (Modifier.isStatic(field.getModifiers()) ? "static" : "transient")
              + ", so that it is no part of an object's state; take @Index or @Unique away");
    }
    IndexForm form = form(member, INDEXED, field.getType());
    ModuleAccess.open(field);
    try {
      MethodHandle reader = MethodHandles.lookup().unreflectGetter(field);
      return new IndexedMember(field.getName(), mark, form, reader, true);
    } catch (IllegalAccessException e) {
      throw new NotShareable(member + " cannot be read: " + e.getMessage(), e);
    }
  }

  private static IndexedMember of(SharedMethod shared, Mark mark) {
    Method method = shared.method();
    String member = SharedType.member(method);
    if (shared.kind() != SharedMethod.Kind.ACCESSOR || method.getParameterCount() > 0) {
      throw new NotShareable(
          member
              + " has an index, and is no @Accessor without parameters; make it one, or annotate a"
              + " field");
    }
    IndexForm form = form(member, INDEXED, method.getReturnType());
    return new IndexedMember(method.getName(), mark, form, reader(method), false);
  }

  private static IndexForm form(String member, String use, Class<?> type) {
    IndexForm form = IndexForm.of(type);
    if (form != null) return form;
    throw new NotShareable(
        member
            + use
            + type.getName()
            + "; the values of an index or a query are of a primitive type, a String, a BigInteger or"
            + " BigDecimal, a UUID, an Instant, Duration, LocalDate, LocalTime or LocalDateTime, an"
            + " enum, or a record of these: use an accessor that returns such a value");
  }

  /// Returns the member of a name; null when there is none.
  static @Nullable IndexedMember find(List<IndexedMember> members, String name) {
    for (IndexedMember member : members) if (member.name.equals(name)) return member;
    return null;
  }
}
