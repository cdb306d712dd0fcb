package stoa.front.marshal;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.Removed;
import stoa.Was;
import stoa.front.types.Hashing;

/// Maps a stored name to the present class, and decides whether a declared type takes the values of
/// a stored type.
///
/// Filled while a registry is made. Afterwards it learns what the dictionary gets. Thread-safe
/// then.
final class Lineage {
  private static final String WAS = "was ";

  private static final Map<String, Class<?>> PRIMITIVES = new HashMap<>();

  static {
    for (Class<?> type :
        List.of(
            boolean.class,
            byte.class,
            short.class,
            char.class,
            int.class,
            long.class,
            float.class,
            double.class)) {
      PRIMITIVES.put(type.getName(), type);
    }
  }

  // Classes by the names in their @Was.
  private final Map<String, Class<?>> renamed;

  // Shared classes by the names of earlier classes of the same stored name.
  private final Map<String, Class<?>> faces;

  // The losses that are accepted.
  private final Set<String> accepted;

  // The accepted losses that a class of this program has.
  private final Set<String> lost = ConcurrentHashMap.newKeySet();

  private final StoredNames stored;

  Lineage(StoredNames stored) {
    this.renamed = new HashMap<>();
    this.faces = new HashMap<>();
    this.accepted = ConcurrentHashMap.newKeySet();
    this.stored = stored;
  }

  Lineage(Lineage other) {
    this.renamed = new HashMap<>(other.renamed);
    this.faces = new HashMap<>(other.faces);
    this.accepted = ConcurrentHashMap.newKeySet();
    this.accepted.addAll(other.accepted);
    this.stored = other.stored;
  }

  /// Returns the names in the [Was] of a class or member.
  static List<String> was(AnnotatedElement element) {
    Was was = element.getDeclaredAnnotation(Was.class);
    return was == null ? List.of() : List.of(was.value());
  }

  /// Returns the names of a class, the present one first.
  static List<String> names(Class<?> type) {
    var names = new ArrayList<String>();
    names.add(type.getName());
    names.addAll(was(type));
    return List.copyOf(names);
  }

  /// Returns the members that a class and its superclasses declare as removed.
  static Set<String> removed(Class<?> type) {
    var names = new TreeSet<String>();
    for (Class<?> c = type; c != null; c = c.getSuperclass()) {
      Removed removed = c.getDeclaredAnnotation(Removed.class);
      if (removed != null) names.addAll(List.of(removed.value()));
    }
    return names;
  }

  /// Adds the earlier names of a class.
  ///
  /// @throws NotShareable when another class has the same one
  void add(Class<?> type) {
    for (String name : was(type)) {
      Class<?> other = renamed.putIfAbsent(name, type);
      if (other == null || other == type) continue;
      throw new NotShareable(
          type.getName()
              + " and "
              + other.getName()
              + " are both marked @Was(\""
              + name
              + "\"); only one of them can be its successor");
    }
  }

  /// Takes in what a dictionary has got since: another version of the classes has described what it
  /// was, and which losses are accepted.
  void learn(List<String> names) {
    stored.learn(names);
    for (String name : stored.after(Loss.ACCEPTED)) accepted.add(Loss.loss(name));
  }

  /// Takes in losses that are accepted.
  void accept(Collection<String> losses) {
    accepted.addAll(losses);
  }

  /// Whether a loss is accepted.
  boolean accepts(String loss) {
    if (!accepted.contains(loss)) return false;
    lost.add(loss);
    return true;
  }

  /// The accepted losses that were met since this was made.
  Set<String> lost() {
    return lost;
  }

  /// Takes in the earlier classes of a shared type.
  void addFaces(Class<?> type, List<String> classNames) {
    for (String name : classNames) faces.putIfAbsent(name, type);
  }

  /// Refuses a present class that another class names as its earlier name.
  void checkPresent(Class<?> type) {
    Class<?> successor = renamed.get(type.getName());
    if (successor == null || successor == type) return;
    throw new NotShareable(
        successor.getName()
            + " is marked @Was(\""
            + type.getName()
            + "\"), and that class is still there and in use; remove one of the two");
  }

  /// Returns the classes by their earlier names.
  Map<String, Class<?>> renamed() {
    return renamed;
  }

  /// Returns the dictionary's form of a class's [Was], so that a program that still has the class
  /// under its earlier name, as after a rollback, knows the meaning of the later name.
  static List<String> descriptions(Class<?> type) {
    return was(type).stream().map(was -> WAS + type.getName() + " " + was).toList();
  }

  /// Returns the present class of a stored name; null when there is none.
  @Nullable Class<?> find(String name, @Nullable ClassLoader loader) {
    return find(name, loader, new HashSet<>());
  }

  private @Nullable Class<?> find(String name, @Nullable ClassLoader loader, Set<String> asked) {
    if (!asked.add(name)) return null;
    Class<?> primitive = PRIMITIVES.get(name);
    if (primitive != null) return primitive;
    Class<?> successor = renamed.get(name);
    if (successor != null) return successor;
    try {
      return Class.forName(name, false, loader);
    } catch (ClassNotFoundException | LinkageError gone) {
      Class<?> face = faces.get(name);
      if (face != null) return face;
    }
    for (String earlier : stored.after(WAS + name + " ")) {
      Class<?> found = find(earlier, loader, asked);
      if (found != null) return found;
    }
    return null;
  }

  /// Returns whether a declared type takes every value of a stored one: it is the same, or a wider
  /// number, a box, or a supertype, and so are its type arguments. A decoded value is a copy, so
  /// that a list of integers may become a list of numbers. A type without arguments takes any, and
  /// any takes it.
  boolean takes(TypeText type, TypeText stored, @Nullable ClassLoader loader) {
    if (type.equals(stored)) return true;
    if (type.dimensions() > 0) {
      if (stored.dimensions() == 0) return false;
      // An array of a subtype would refuse elements that its declared type takes.
      Class<?> element = type.element().dimensions() > 0 ? null : find(type.name(), loader);
      boolean same = element == null || element.equals(find(stored.name(), loader));
      return same && takes(type.element(), stored.element(), loader);
    }
    if (type.name().equals("java.lang.Object")) return true;
    Class<?> to = find(type.name(), loader);
    if (to == null) return false;
    if (stored.dimensions() > 0) return to.isAssignableFrom(Object[].class);
    Class<?> from = find(stored.name(), loader);
    if (from == null) return false;
    if (Widening.isExact(from, to)) return sameArguments(type, stored, loader);
    if (to.isPrimitive() || !to.isAssignableFrom(Widening.boxed(from))) return false;
    TypeText seen = seenAs(stored, Widening.boxed(from), to);
    return seen == null || sameArguments(type, seen, loader);
  }

  private boolean sameArguments(TypeText type, TypeText stored, @Nullable ClassLoader loader) {
    List<TypeText> now = type.arguments();
    List<TypeText> before = stored.arguments();
    if (now.isEmpty() || before.isEmpty()) return true;
    if (now.size() != before.size()) return false;
    for (int i = 0; i < now.size(); i++) {
      if (isNumber(now.get(i), before.get(i))) return false;
      if (!takes(now.get(i), before.get(i), loader)) return false;
    }
    return true;
  }

  /// Returns whether the elements need conversion one by one.
  private static boolean isNumber(TypeText now, TypeText before) {
    return !now.equals(before) && BOXES.contains(now.erasure());
  }

  private static final Set<String> BOXES =
      Set.of(
          "java.lang.Short",
          "java.lang.Integer",
          "java.lang.Long",
          "java.lang.Float",
          "java.lang.Double");

  /// Returns a stored type as one of its supertypes, with the type arguments for it; null when they
  /// are unknown.
  private static @Nullable TypeText seenAs(TypeText stored, Class<?> from, Class<?> to) {
    if (from == to) return stored;
    TypeVariable<?>[] variables = from.getTypeParameters();
    if (variables.length != stored.arguments().size()) return null;
    var known = new HashMap<String, TypeText>();
    for (int i = 0; i < variables.length; i++) {
      known.put(variables[i].getName(), stored.arguments().get(i));
    }
    var parents = new ArrayList<Type>(List.of(from.getGenericInterfaces()));
    if (from.getGenericSuperclass() != null) parents.add(from.getGenericSuperclass());
    for (Type parent : parents) {
      Class<?> raw = Hashing.erasure(parent);
      if (!to.isAssignableFrom(raw)) continue;
      return seenAs(substituted(parent, known), raw, to);
    }
    return null;
  }

  private static TypeText substituted(Type type, Map<String, TypeText> known) {
    if (type instanceof TypeVariable<?> variable) {
      TypeText given = known.get(variable.getName());
      return given == null ? TypeText.of(type) : given;
    }
    if (!(type instanceof ParameterizedType generic)) return TypeText.of(type);
    var arguments = new ArrayList<TypeText>();
    for (Type argument : generic.getActualTypeArguments()) {
      arguments.add(substituted(argument, known));
    }
    return new TypeText(Hashing.erasure(generic).getName(), List.copyOf(arguments), 0);
  }
}
