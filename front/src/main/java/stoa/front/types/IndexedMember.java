package stoa.front.types;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Index;
import stoa.LogOrder;
import stoa.NotShareable;
import stoa.Placement;
import stoa.Unique;

/// A field or accessor of a shared class that has an index, see [Index] and [Unique]. Immutable and
/// thread-safe.
public final class IndexedMember {
  private final String name;
  private final boolean unique;
  private final IndexForm form;
  private final MethodHandle reader;
  private final String id;

  private IndexedMember(String name, boolean unique, IndexForm form, MethodHandle reader) {
    this.name = name;
    this.unique = unique;
    this.form = form;
    this.reader = reader.asType(MethodType.methodType(Object.class, Object.class));
    this.id = (unique ? "unique " : "index ") + name + " " + form.name();
  }

  /// Returns the name of the field or accessor.
  public String name() {
    return name;
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

  /// Returns the value of an object in its form, that of null when its accessor throws.
  public String valueOf(Object instance) {
    Object value;
    try {
      value = (Object) reader.invokeExact(instance);
    } catch (VirtualMachineError passedOn) {
      throw passedOn;
    } catch (Throwable thrown) {
      return "";
    }
    return form.encode(value);
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
        if (isMarked(
            field.isAnnotationPresent(Index.class), field.isAnnotationPresent(Unique.class)))
          found.add(of(field));
      }
    }
    for (SharedMethod method : type.methods()) {
      Index index = type.annotation(method.method(), Index.class);
      Unique unique = type.annotation(method.method(), Unique.class);
      if (isMarked(index != null, unique != null)) found.add(of(method, unique != null));
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

  private static boolean isMarked(boolean index, boolean unique) {
    return index || unique;
  }

  private static IndexedMember of(Field field) {
    String member = field.getDeclaringClass().getName() + "." + field.getName();
    if (Modifier.isStatic(field.getModifiers()) || Modifier.isTransient(field.getModifiers())) {
      throw new NotShareable(
          member
              + " has an index, and is "
              + (Modifier.isStatic(field.getModifiers()) ? "static" : "transient")
              + ", so that it is no part of an object's state; take @Index or @Unique away");
    }
    IndexForm form = form(member, field.getType());
    ModuleAccess.open(field);
    try {
      MethodHandle reader = MethodHandles.lookup().unreflectGetter(field);
      return new IndexedMember(
          field.getName(), field.isAnnotationPresent(Unique.class), form, reader);
    } catch (IllegalAccessException e) {
      throw new NotShareable(member + " cannot be read: " + e.getMessage(), e);
    }
  }

  static IndexedMember of(SharedMethod shared, boolean unique) {
    Method method = shared.method();
    String member = SharedType.member(method);
    if (shared.kind() != SharedMethod.Kind.ACCESSOR || method.getParameterCount() > 0) {
      throw new NotShareable(
          member
              + " has an index, and is no @Accessor without parameters; make it one, or annotate a"
              + " field");
    }
    IndexForm form = form(member, method.getReturnType());
    ModuleAccess.open(method);
    try {
      MethodHandle reader = MethodHandles.lookup().unreflect(method);
      return new IndexedMember(method.getName(), unique, form, reader);
    } catch (IllegalAccessException e) {
      throw new NotShareable(member + " cannot be called: " + e.getMessage(), e);
    }
  }

  private static IndexForm form(String member, Class<?> type) {
    IndexForm form = IndexForm.of(type);
    if (form != null) return form;
    throw new NotShareable(
        member
            + " has an index, and is of "
            + type.getName()
            + "; the values of an index are of a primitive type, a String, a BigInteger or"
            + " BigDecimal, a UUID, an Instant, Duration, LocalDate, LocalTime or LocalDateTime, an"
            + " enum, or a record of these: index an accessor that returns such a value");
  }

  /// Returns the member of a name; null when there is none.
  static @Nullable IndexedMember find(List<IndexedMember> members, String name) {
    for (IndexedMember member : members) if (member.name.equals(name)) return member;
    return null;
  }
}
