package stoa.front.types;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Commutes;
import stoa.Key;
import stoa.LogOrder;
import stoa.MethodId;
import stoa.Mutator;
import stoa.NotShareable;
import stoa.Placement;
import stoa.Removed;
import stoa.Shared;
import stoa.Transactional;
import stoa.Was;
import stoa.spi.Entered;
import stoa.spi.Forkable;
import stoa.spi.OwnState;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;

/// A checked class of shared objects: the class that callers name, the class that the store
/// instantiates, and their methods.
///
/// Immutable, thread-safe, and the same instance for the same class.
public final class SharedType {
  /*
   * The methods of a type are all that a caller could reach through a reference of the face's type:
   * public, protected and package-private ones, inherited ones and defaults of interfaces. The
   * proxy dispatches all of them, so that none can run on the proxy's own, empty fields. Private
   * methods cannot be overridden; the verifier refuses calls of them on anything but `this`.
   *
   * Invariants:
   * (1) methods is sorted by id, and methods.get(i).index() == i.
   * (2) ids are unique; of methods that override each other only the most specific is listed.
   */
  private static final ClassValue<SharedType> TYPES =
      new ClassValue<>() {
        @Override
        protected SharedType computeValue(Class<?> type) {
          return new SharedType(type);
        }
      };

  private static final Comparator<Method> BY_SIGNATURE =
      Comparator.comparing(Method::getName).thenComparing(m -> parameters(m.getParameterTypes()));

  private static final Class<?>[] STORE = {StateOutput.class};
  private static final Class<?>[] RESTORE = {StateInput.class};

  private final Class<?> face;
  private final Class<?> implementation;
  private final String name;
  private final LogOrder order;
  private static final Pattern DOMAIN = Pattern.compile("[A-Za-z0-9._-]{1,100}");

  private final Placement placement;
  private final String domain;
  private final List<SharedMethod> methods;
  private final Map<String, SharedMethod> byId;
  private final Map<String, SharedMethod> bySignature;
  private final List<Constructor<?>> constructors;
  private final @Nullable Field keyField;
  private final Set<Class<? extends Throwable>> exceptions;
  private final Set<String> removed;
  private final byte[] schema;
  private final List<IndexedMember> indexes;
  private final @Nullable Lifetime lifetime;

  // Accessors without an index that queries have read, by name.
  private final Map<String, IndexedMember> readable = new ConcurrentHashMap<>();

  private SharedType(Class<?> face) {
    this.face = face;
    Shared shared = face.getDeclaredAnnotation(Shared.class);
    if (shared == null) {
      throw new NotShareable(
          face.getName() + " is not annotated with @Shared; annotate it, or pass it as a value");
    }
    this.implementation = shared.implementation() == void.class ? face : shared.implementation();
    checkClass(face, implementation);
    this.name = storedName(face, shared);
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
      throw new NotShareable(
          face.getName() + " is named with half of a surrogate pair; use well-formed text");
    }
    this.order = shared.order();
    this.placement = shared.placement();
    if (placement != Placement.SERVER && order != LogOrder.GLOBAL) {
      throw new NotShareable(
          face.getName() + " is placed at clients and not of LogOrder.GLOBAL; make it so");
    }
    this.domain = shared.domain();
    if (!DOMAIN.matcher(domain).matches()) {
      throw new NotShareable(
          face.getName()
              + " is of the domain \""
              + domain
              + "\"; name it by 1 to 100 letters, digits, dots, dashes and underscores");
    }
    this.keyField = shared.key().isEmpty() ? null : keyField(implementation, shared.key());
    this.methods = methods(face, implementation);
    this.byId = methods.stream().collect(Collectors.toUnmodifiableMap(SharedMethod::id, m -> m));
    this.bySignature =
        methods.stream().collect(Collectors.toUnmodifiableMap(m -> signature(m.method()), m -> m));
    this.removed = removed(face, implementation);
    this.constructors = List.of(implementation.getDeclaredConstructors());
    for (Constructor<?> constructor : constructors) ModuleAccess.open(constructor);
    this.exceptions = Verifier.verify(face, implementation, methods);
    this.schema = describe().getBytes(StandardCharsets.UTF_8);
    this.indexes = IndexedMember.of(this);
    this.lifetime = Lifetime.of(this);
  }

  /// Returns the type of a class or interface that is annotated with [Shared].
  ///
  /// @throws NotShareable naming the class, the member and the remedy
  public static SharedType of(Class<?> type) {
    return TYPES.get(type);
  }

  /// Returns the class or interface that callers name.
  public Class<?> face() {
    return face;
  }

  /// Returns the class that the store instantiates; the face itself unless that is an interface.
  public Class<?> implementation() {
    return implementation;
  }

  /// Returns the stored name, see [Shared#name()].
  public String name() {
    return name;
  }

  /// Returns the order of calls, see [Shared#order()].
  public LogOrder order() {
    return order;
  }

  /// Returns the place of execution, see [Shared#placement()].
  public Placement placement() {
    return placement;
  }

  /// Returns the domain of instances that are placed at clients, see [Shared#domain()].
  public String domain() {
    return domain;
  }

  /// Returns whether calls execute at clients, or may.
  public boolean isPlaced() {
    return placement != Placement.SERVER;
  }

  /// Returns the methods that callers may call, sorted by [SharedMethod#id()].
  public List<SharedMethod> methods() {
    return methods;
  }

  /// Returns the method of a stored identity.
  ///
  /// @throws NotShareable when the class has no such method any more
  public SharedMethod method(String id) {
    SharedMethod method = byId.get(id);
    if (method == null) throw absent(id);
    return method;
  }

  /// Returns the indexes of the class, in the order of their ids.
  public List<IndexedMember> indexes() {
    return indexes;
  }

  /// Returns how long objects of the class live; null when they stay.
  public @Nullable Lifetime lifetime() {
    return lifetime;
  }

  /// Returns the index of a name; null when there is none.
  public @Nullable IndexedMember index(String field) {
    return IndexedMember.find(indexes, field);
  }

  /// Returns a field with an index, or an accessor with or without one, whose value a query reads.
  ///
  /// @throws NotShareable when there is none of the name, or its values have no order
  public IndexedMember readable(String member) {
    IndexedMember index = index(member);
    if (index == null) index = readable.get(member);
    if (index != null) return index;
    for (SharedMethod method : methods) {
      boolean reads =
          method.kind() == SharedMethod.Kind.ACCESSOR && method.parameterTypes().isEmpty();
      if (!reads || !method.name().equals(member)) continue;
      IndexedMember found = IndexedMember.of(method);
      readable.put(member, found);
      return found;
    }
    throw new NotShareable(
        implementation.getName()
            + " has no field with an @Index and no @Accessor without parameters of the name "
            + member
            + ", by which a query asks; declare it, or correct the name");
  }

  /// Returns an annotation of a method, wherever it is declared; null when it has none.
  <A extends java.lang.annotation.Annotation> @Nullable A annotation(Method method, Class<A> type) {
    return annotation(face, implementation, method, type);
  }

  /// Returns whether the class declares a method of a stored identity as removed, see [Removed].
  public boolean hasRemoved(String id) {
    return removed.contains(id);
  }

  private NotShareable absent(String id) {
    if (removed.contains(id)) {
      return new NotShareable(
          implementation.getName() + " has the method " + id + " no more, says its @Removed");
    }
    return new NotShareable(
        implementation.getName()
            + " has no method "
            + id
            + ", which stored calls name; keep it, or give its successor @MethodId(\""
            + id
            + "\")");
  }

  /// Returns the method that overrides, or is, a method of the face; null when callers may not call
  /// it.
  public @Nullable SharedMethod method(Method method) {
    return bySignature.get(signature(method));
  }

  /// Returns the exceptions that methods of the type declare, or create anywhere in code that the
  /// check of the class has reached.
  public Set<Class<? extends Throwable>> exceptions() {
    return exceptions;
  }

  /// Returns fields and methods in a fixed text form. Two versions of a class with equal
  /// descriptions need no evolution between them.
  public byte[] schema() {
    return schema.clone();
  }

  /// Returns a new instance.
  ///
  /// @param key the object's key; the first argument of the constructor when [Shared#key()] is set
  ///   and a constructor takes it
  /// @param args the other arguments of the constructor, which determine the constructor
  /// @throws NotShareable when no constructor, or more than one, takes these arguments, or when it
  ///   leaves another key in the key's field
  /// @throws Throwable what the constructor throws
  public Object instantiate(Object key, @Nullable Object[] args) throws Throwable {
    @Nullable Object[] all = args;
    if (keyField != null) {
      all = new Object[args.length + 1];
      all[0] = key;
      System.arraycopy(args, 0, all, 1, args.length);
    }
    Object instance;
    try {
      List<Constructor<?>> best = best(all);
      if (keyField != null && best.isEmpty()) {
        List<Constructor<?>> withoutKey = best(args);
        if (withoutKey.size() == 1) {
          best = withoutKey;
          all = args;
        }
      }
      Constructor<?> constructor = only(best, all);
      instance = constructor.newInstance(spread(constructor, all));
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
    if (keyField != null && !key.equals(keyField.get(instance))) {
      throw new NotShareable(
          member(keyField)
              + " holds "
              + keyField.get(instance)
              + " after the constructor was given the key "
              + key
              + "; assign the constructor's first parameter to it");
    }
    return instance;
  }

  @Override
  public String toString() {
    return name + " (" + implementation.getName() + ")";
  }

  /// Returns the name and erased parameter types of a method, as in `deposit(long)`.
  static String signature(Method method) {
    return method.getName() + "(" + parameters(method.getParameterTypes()) + ")";
  }

  private static String parameters(Class<?>[] types) {
    return Arrays.stream(types).map(Class::getTypeName).collect(Collectors.joining(","));
  }

  // ---- checks of the class itself

  private static String storedName(Class<?> face, Shared shared) {
    Was was = face.getDeclaredAnnotation(Was.class);
    if (was == null) return shared.name().isEmpty() ? face.getName() : shared.name();
    if (!shared.name().isEmpty()) {
      throw new NotShareable(
          face.getName()
              + " is stored as "
              + shared.name()
              + ", whatever its class is called; remove @Was");
    }
    if (was.value().length != 1) {
      throw new NotShareable(
          face.getName()
              + " has "
              + was.value().length
              + " names in @Was; name the one under which its objects were stored first");
    }
    return was.value()[0];
  }

  private static void checkClass(Class<?> face, Class<?> implementation) {
    if (face.isInterface() && face == implementation) {
      throw new NotShareable(
          face.getName() + " is an interface; name its class in @Shared(implementation = …)");
    }
    if (!face.isAssignableFrom(implementation)) {
      throw new NotShareable(
          implementation.getName() + " does not implement " + face.getName() + "; let it");
    }
    if (face.isAnnotation() || face.isEnum() || face.isRecord() || face.isHidden()) {
      throw new NotShareable(
          face.getName()
              + " is an enum, record, annotation or hidden class, which has no proxies; make it an"
              + " ordinary class, or pass it as a value");
    }
    if (Throwable.class.isAssignableFrom(implementation)) {
      throw new NotShareable(
          implementation.getName() + " is an exception; exceptions travel as values");
    }
    if (implementation.isInterface() || Modifier.isAbstract(implementation.getModifiers())) {
      throw new NotShareable(
          implementation.getName()
              + " is abstract and cannot be instantiated; name a concrete class in"
              + " @Shared(implementation = …)");
    }
    if (Modifier.isFinal(face.getModifiers())) {
      throw new NotShareable(
          face.getName() + " is final, so that no proxy can extend it; remove final");
    }
    if (face.isSealed()) {
      throw new NotShareable(
          face.getName() + " is sealed, so that no proxy can extend it; make it non-sealed");
    }
    boolean inner =
        implementation.getEnclosingClass() != null
            && (implementation.isLocalClass()
                || implementation.isAnonymousClass()
                || !Modifier.isStatic(implementation.getModifiers()));
    if (inner) {
      throw new NotShareable(
          implementation.getName()
              + " is an inner class and needs an instance of its outer class; make it static");
    }
  }

  private static Field keyField(Class<?> implementation, String name) {
    for (Class<?> c = implementation; c != null; c = c.getSuperclass()) {
      for (Field field : c.getDeclaredFields()) {
        if (!field.getName().equals(name)) continue;
        if (Modifier.isStatic(field.getModifiers())) {
          throw new NotShareable(member(field) + " is static and cannot hold the key; remove it");
        }
        ModuleAccess.open(field);
        return field;
      }
    }
    throw new NotShareable(
        implementation.getName()
            + " has no field \""
            + name
            + "\", which @Shared(key) names; declare it, or correct the name");
  }

  // ---- methods

  /// Returns the names that the class declares as removed.
  private static Set<String> removed(Class<?> face, Class<?> implementation) {
    var names = new HashSet<String>();
    for (Class<?> type : List.of(face, implementation)) {
      Removed removed = type.getDeclaredAnnotation(Removed.class);
      if (removed != null) names.addAll(List.of(removed.value()));
    }
    return names;
  }

  private static List<SharedMethod> methods(Class<?> face, Class<?> implementation) {
    var chosen = new LinkedHashMap<String, Method>();
    collect(face, chosen);
    for (Method method : chosen.values()) checkMethod(method);
    if (face != implementation) checkImplementation(implementation, chosen);
    var byId = new TreeMap<String, Method>();
    for (Method method : chosen.values()) {
      MethodId explicit = annotation(face, implementation, method, MethodId.class);
      String id = explicit == null ? signature(method) : explicit.value();
      if (id.isEmpty()) {
        throw new NotShareable(member(method) + " has an empty @MethodId; give it a name");
      }
      Method other = byId.put(id, method);
      if (other != null) {
        throw new NotShareable(
            member(method)
                + " and "
                + member(other)
                + " have the same @MethodId \""
                + id
                + "\"; give each its own");
      }
    }
    var methods = new ArrayList<SharedMethod>(byId.size());
    byId.forEach((id, method) -> {
      SharedMethod.Kind kind = kind(face, implementation, method);
      methods.add(
          new SharedMethod(
              id,
              methods.size(),
              kind,
              waiting(face, implementation, method, kind),
              method,
              handle(method),
              parts(face, implementation, method)));
    });
    for (SharedMethod method : methods) method.left(left(face, implementation, method, methods));
    return List.copyOf(methods);
  }

  /// Returns the method that is called when a caller leaves while it waits; null for none.
  private static @Nullable SharedMethod left(
      Class<?> face, Class<?> implementation, SharedMethod waiting, List<SharedMethod> methods) {
    Awaits awaits = annotation(face, implementation, waiting.method(), Awaits.class);
    if (awaits == null || awaits.left().isEmpty()) return null;
    for (SharedMethod method : methods) {
      boolean fits =
          method.name().equals(awaits.left())
              && Arrays.equals(
                  method.method().getGenericParameterTypes(),
                  waiting.method().getGenericParameterTypes())
              && method.method().getReturnType() == void.class
              && !method.awaits()
              && !method.kind().isReading()
              && !method.kind().isTransaction();
      if (fits) return method;
    }
    throw new NotShareable(
        member(waiting.method())
            + " is marked @Awaits(left = \""
            + awaits.left()
            + "\"), and the class has no method of that name and the same parameters that returns"
            + " void, changes the object and does not wait; declare it, or correct the name");
  }

  /// Adds the instance methods of a class and its ancestors, the most specific of each signature.
  private static void collect(Class<?> type, Map<String, Method> chosen) {
    // Erased signatures from which a bridge calls a listed method: put(Object) to put(String).
    var overridden = new HashSet<String>();
    for (Class<?> c = type; c != null && c != Object.class; c = c.getSuperclass()) {
      Method[] declared = c.getDeclaredMethods();
      Arrays.sort(declared, BY_SIGNATURE);
      for (Method method : declared) {
        if (isIdentity(method) && Modifier.isFinal(method.getModifiers())) checkMethod(method);
        if (bridgesOverload(method, declared)) overridden.add(signature(method));
        if (!callable(method) || isForTheEngine(type, method)) continue;
        if (overridden.contains(signature(method))) continue;
        Method below = chosen.putIfAbsent(signature(method), method);
        if (below != null || Modifier.isPublic(method.getModifiers())) continue;
        boolean packagePrivate = !Modifier.isProtected(method.getModifiers());
        if (packagePrivate && c.getPackage() != type.getPackage()) {
          throw new NotShareable(
              member(method)
                  + " is package-private in another package than "
                  + type.getName()
                  + ", so that a proxy cannot pass it on; make it protected");
        }
      }
    }
    for (Class<?> i : interfaces(type)) {
      for (Method method : i.getDeclaredMethods()) {
        if (!callable(method) || isForTheEngine(type, method)) continue;
        if (overridden.contains(signature(method))) continue;
        Method known = chosen.get(signature(method));
        boolean moreSpecific =
            known == null
                || (known.getDeclaringClass().isInterface()
                    && known.getDeclaringClass().isAssignableFrom(i));
        if (moreSpecific) chosen.put(signature(method), method);
      }
    }
  }

  /// Returns whether a method is a bridge to one with narrower parameters. (Other bridges narrow
  /// the result only, or make a method of a package-private superclass public.)
  private static boolean bridgesOverload(Method method, Method[] declared) {
    if (!method.isBridge()) return false;
    for (Method other : declared) {
      if (other.isBridge() || !other.getName().equals(method.getName())) continue;
      Class<?>[] wide = method.getParameterTypes();
      Class<?>[] narrow = other.getParameterTypes();
      if (wide.length != narrow.length || Arrays.equals(wide, narrow)) continue;
      boolean overrides = method.getReturnType().isAssignableFrom(other.getReturnType());
      for (int i = 0; i < wide.length; i++) overrides &= wide[i].isAssignableFrom(narrow[i]);
      if (overrides) return true;
    }
    return false;
  }

  private static void checkImplementation(Class<?> implementation, Map<String, Method> chosen) {
    for (Method method : chosen.values()) {
      Method here = find(implementation, method);
      boolean synchronous = here != null && Modifier.isSynchronized(here.getModifiers());
      boolean foreign = here != null && Modifier.isNative(here.getModifiers());
      if (here != null && (synchronous || foreign)) checkMethod(here);
    }
  }

  private static List<Class<?>> interfaces(Class<?> type) {
    var all = new LinkedHashMap<Class<?>, Class<?>>();
    for (Class<?> c = type; c != null; c = c.getSuperclass()) addInterfaces(c, all);
    return List.copyOf(all.keySet());
  }

  private static void addInterfaces(Class<?> type, Map<Class<?>, Class<?>> all) {
    if (type.isInterface()) all.put(type, type);
    for (Class<?> i : type.getInterfaces()) addInterfaces(i, all);
  }

  private static boolean callable(Method method) {
    int modifiers = method.getModifiers();
    if (Modifier.isStatic(modifiers) || Modifier.isPrivate(modifiers) || method.isBridge()) {
      return false;
    }
    return !isIdentity(method);
  }

  /// Returns whether [Forkable], [OwnState] or [Entered] declares a method, which the engine calls
  /// on the object itself.
  private static boolean isForTheEngine(Class<?> type, Method method) {
    Class<?>[] parameters = method.getParameterTypes();
    return switch (method.getName()) {
      case "fork" -> parameters.length == 0 && Forkable.class.isAssignableFrom(type);
      case "store" -> Arrays.equals(parameters, STORE) && OwnState.class.isAssignableFrom(type);
      case "restore" -> Arrays.equals(parameters, RESTORE) && OwnState.class.isAssignableFrom(type);
      case "beginChanges", "endChanges", "keepChanges", "undoChanges", "owner" ->
          Entered.class.isAssignableFrom(type);
      default -> false;
    };
  }

  /// Returns whether a method is equals or hashCode, which proxies answer from the reference.
  private static boolean isIdentity(Method method) {
    Class<?>[] parameters = method.getParameterTypes();
    return switch (method.getName()) {
      case "hashCode" -> parameters.length == 0;
      case "equals" -> parameters.length == 1 && parameters[0] == Object.class;
      default -> false;
    };
  }

  private static void checkMethod(Method method) {
    int modifiers = method.getModifiers();
    if (Modifier.isFinal(modifiers)) {
      throw new NotShareable(
          member(method) + " is final, so that a proxy cannot pass it on; remove final");
    }
    if (Modifier.isSynchronized(modifiers)) {
      throw new NotShareable(
          member(method)
              + " is synchronized; calls on one object never overlap, so remove synchronized");
    }
    if (Modifier.isNative(modifiers)) {
      throw new NotShareable(member(method) + " is native; write it in Java");
    }
    if (method.getName().equals("finalize") && method.getParameterCount() == 0) {
      throw new NotShareable(member(method) + " would run on proxies too; remove it");
    }
  }

  private static SharedMethod.Kind kind(Class<?> face, Class<?> implementation, Method method) {
    boolean accessor = annotation(face, implementation, method, Accessor.class) != null;
    boolean mutator = annotation(face, implementation, method, Mutator.class) != null;
    if (accessor && mutator) {
      throw new NotShareable(
          member(method)
              + " is marked @Accessor and @Mutator; remove both when it reads and writes");
    }
    Transactional transactional = annotation(face, implementation, method, Transactional.class);
    if (transactional != null && (accessor || mutator)) {
      throw new NotShareable(
          member(method)
              + " is marked @Transactional and @"
              + (accessor ? "Accessor" : "Mutator")
              + "; keep one of them");
    }
    if (mutator && method.getReturnType() != void.class) {
      throw new NotShareable(
          member(method)
              + " is marked @Mutator and returns a value; return void, or remove @Mutator");
    }
    boolean text = method.getName().equals("toString") && method.getParameterCount() == 0;
    if (transactional != null) {
      return transactional.readOnly()
          ? SharedMethod.Kind.READING_TRANSACTION
          : SharedMethod.Kind.TRANSACTION;
    }
    if (accessor || (text && !mutator)) return SharedMethod.Kind.ACCESSOR;
    return mutator ? SharedMethod.Kind.MUTATOR : SharedMethod.Kind.UPDATE;
  }

  private static SharedMethod.Waiting waiting(
      Class<?> face, Class<?> implementation, Method method, SharedMethod.Kind kind) {
    Awaits awaits = annotation(face, implementation, method, Awaits.class);
    if (awaits == null) return SharedMethod.Waiting.NEVER;
    if (!kind.isReading()) {
      return awaits.inOrder() ? SharedMethod.Waiting.IN_ORDER : SharedMethod.Waiting.ALONE;
    }
    throw new NotShareable(
        member(method)
            + " is marked @Awaits and @"
            + (kind == SharedMethod.Kind.ACCESSOR ? "Accessor" : "Transactional")
            + "; only a call that the store logs can wait: remove one of them");
  }

  /// Returns what the annotations of a method say about the part on which it works.
  private static SharedMethod.FootprintMarks parts(
      Class<?> face, Class<?> implementation, Method method) {
    boolean commutes = annotation(face, implementation, method, Commutes.class) != null;
    int key = -1;
    for (Class<?> place : places(face, implementation)) {
      Method declared = declared(place, method);
      if (declared == null || key >= 0) continue;
      key = keyParameter(declared);
    }
    if (!commutes && key < 0) return SharedMethod.FootprintMarks.ALL;
    SharedMethod.Kind kind = kind(face, implementation, method);
    String mark = commutes ? "@Commutes" : "@Key";
    if (kind.isTransaction()) {
      throw new NotShareable(
          member(method)
              + " is marked @Transactional and "
              + mark
              + "; mark the methods that it calls instead");
    }
    if (commutes && method.getReturnType() != void.class) {
      throw new NotShareable(
          member(method)
              + " is marked @Commutes and returns a value, which others may change before the"
              + " transaction commits; return void, or remove @Commutes");
    }
    if (commutes && kind == SharedMethod.Kind.ACCESSOR) {
      throw new NotShareable(
          member(method)
              + " is marked @Commutes and @Accessor, and only changes can commute; remove one of"
              + " them");
    }
    return new SharedMethod.FootprintMarks(key, commutes);
  }

  /// Returns the index of the parameter that is marked with [Key]; negative when there is none.
  private static int keyParameter(Method method) {
    Parameter[] parameters = method.getParameters();
    int found = -1;
    for (int i = 0; i < parameters.length; i++) {
      if (!parameters[i].isAnnotationPresent(Key.class)) continue;
      if (found >= 0) {
        throw new NotShareable(
            member(method) + " has two parameters marked @Key; make them one record");
      }
      found = i;
      Class<?> type = parameters[i].getType();
      if (!ConflictKey.mayBe(type)) {
        throw new NotShareable(
            member(method)
                + " has a @Key of "
                + type.getTypeName()
                + ", whose equal values Stoa cannot tell; use a String, a number, a UUID, an enum, a"
                + " time, or a record of these, or remove @Key");
      }
    }
    return found;
  }

  /// Returns the annotation on the method, or on the nearest method that it overrides or
  /// implements.
  private static <A extends java.lang.annotation.Annotation> @Nullable A annotation(
      Class<?> face, Class<?> implementation, Method method, Class<A> type) {
    for (Class<?> place : places(face, implementation)) {
      Method declared = declared(place, method);
      A found = declared == null ? null : declared.getAnnotation(type);
      if (found != null) return found;
    }
    return null;
  }

  /// Returns the classes and interfaces that may declare a method, the nearest first.
  private static List<Class<?>> places(Class<?> face, Class<?> implementation) {
    var places = new ArrayList<Class<?>>();
    for (Class<?> c = implementation; c != null; c = c.getSuperclass()) places.add(c);
    places.addAll(interfaces(implementation));
    if (!places.contains(face)) places.addAll(interfaces(face));
    return places;
  }

  private static @Nullable Method find(Class<?> type, Method method) {
    for (Class<?> c = type; c != null; c = c.getSuperclass()) {
      Method declared = declared(c, method);
      if (declared != null) return declared;
    }
    return null;
  }

  private static @Nullable Method declared(Class<?> type, Method method) {
    try {
      return type.getDeclaredMethod(method.getName(), method.getParameterTypes());
    } catch (NoSuchMethodException e) {
      return null;
    }
  }

  private static MethodHandle handle(Method method) {
    ModuleAccess.open(method);
    try {
      return MethodHandles.lookup()
          .unreflect(method)
          .asFixedArity()
          .asSpreader(Object[].class, method.getParameterCount())
          .asType(MethodType.methodType(Object.class, Object.class, Object[].class));
    } catch (IllegalAccessException e) {
      throw new NotShareable(member(method) + " cannot be called: " + e.getMessage(), e);
    }
  }

  // ---- constructors

  /// Returns the constructors that take the arguments, without those that are less specific than
  /// another.
  private List<Constructor<?>> best(@Nullable Object[] args) {
    var fitting = new ArrayList<Constructor<?>>();
    for (Constructor<?> candidate : constructors) {
      if (fits(candidate.getParameterTypes(), args)) fitting.add(candidate);
    }
    if (fitting.isEmpty()) {
      for (Constructor<?> candidate : constructors) {
        if (candidate.isVarArgs() && fitsVariable(candidate.getParameterTypes(), args)) {
          fitting.add(candidate);
        }
      }
    }
    var best = new ArrayList<Constructor<?>>();
    for (Constructor<?> candidate : fitting) {
      if (fitting.stream().noneMatch(o -> !o.equals(candidate) && moreSpecific(o, candidate))) {
        best.add(candidate);
      }
    }
    return best;
  }

  private Constructor<?> only(List<Constructor<?>> best, @Nullable Object[] args) {
    if (best.size() == 1) return best.getFirst();
    String given =
        Arrays.stream(args)
            .map(a -> a == null ? "null" : a.getClass().getTypeName())
            .collect(Collectors.joining(", ", "(", ")"));
    throw new NotShareable(
        implementation.getName()
            + (best.isEmpty() ? " has no constructor for " : " has several constructors for ")
            + given
            + (keyField != null ? ", the key first" : "")
            + "; there are "
            + constructors.stream()
                .map(c -> "(" + parameters(c.getParameterTypes()) + ")")
                .sorted()
                .collect(Collectors.joining(", ")));
  }

  private static boolean fits(Class<?>[] parameters, @Nullable Object[] args) {
    if (parameters.length != args.length) return false;
    for (int i = 0; i < args.length; i++) {
      if (!fits(parameters[i], args[i])) return false;
    }
    return true;
  }

  private static boolean fits(Class<?> parameter, @Nullable Object arg) {
    if (arg == null) return !parameter.isPrimitive();
    if (parameter.isInstance(arg)) return true;
    return parameter.isPrimitive() && widens(arg.getClass(), parameter);
  }

  private static boolean fitsVariable(Class<?>[] parameters, @Nullable Object[] args) {
    int fixed = parameters.length - 1;
    if (args.length < fixed) return false;
    Class<?> element = parameters[fixed].getComponentType();
    for (int i = 0; i < args.length; i++) {
      if (!fits(i < fixed ? parameters[i] : element, args[i])) return false;
    }
    return true;
  }

  private static @Nullable Object[] spread(Constructor<?> constructor, @Nullable Object[] args) {
    Class<?>[] parameters = constructor.getParameterTypes();
    if (!constructor.isVarArgs() || fits(parameters, args)) return args;
    int fixed = parameters.length - 1;
    Object rest =
        java.lang.reflect.Array.newInstance(
            parameters[fixed].getComponentType(), args.length - fixed);
    for (int i = fixed; i < args.length; i++) {
      java.lang.reflect.Array.set(rest, i - fixed, args[i]);
    }
    @Nullable Object[] packed = Arrays.copyOf(args, parameters.length);
    packed[fixed] = rest;
    return packed;
  }

  private static boolean moreSpecific(Constructor<?> a, Constructor<?> b) {
    Class<?>[] x = a.getParameterTypes();
    Class<?>[] y = b.getParameterTypes();
    if (x.length != y.length) return false;
    boolean different = false;
    for (int i = 0; i < x.length; i++) {
      if (x[i] == y[i]) continue;
      different = true;
      boolean narrower =
          y[i].isAssignableFrom(x[i])
              || (x[i].isPrimitive() && !y[i].isPrimitive())
              || (x[i].isPrimitive() && y[i].isPrimitive() && widens(boxed(x[i]), y[i]));
      if (!narrower) return false;
    }
    return different;
  }

  private static Class<?> boxed(Class<?> primitive) {
    return MethodType.methodType(primitive).wrap().returnType();
  }

  /// Returns whether a boxed value can be passed to a primitive parameter, as in a method
  /// invocation.
  private static boolean widens(Class<?> box, Class<?> primitive) {
    if (boxed(primitive) == box) return true;
    List<Class<?>> order =
        List.of(Byte.class, Short.class, Integer.class, Long.class, Float.class, Double.class);
    int from = box == Character.class ? 1 : order.indexOf(box);
    int to = order.indexOf(boxed(primitive));
    return from >= 0 && to > from;
  }

  // ---- description

  private String describe() {
    var text = new StringBuilder();
    text.append("type ").append(name).append('\n');
    if (keyField != null) text.append("key ").append(keyField.getName()).append('\n');
    for (Class<?> c = implementation; c != null && c != Object.class; c = c.getSuperclass()) {
      var fields = new HashMap<String, String>();
      for (Field field : c.getDeclaredFields()) {
        int skipped = Modifier.STATIC | Modifier.TRANSIENT;
        if ((field.getModifiers() & skipped) != 0) continue;
        fields.put(field.getName(), field.getGenericType().getTypeName());
      }
      String owner = c == implementation ? "" : c.getName() + ".";
      new TreeMap<>(fields)
          .forEach((field, type) ->
              text.append("field ")
                  .append(owner)
                  .append(field)
                  .append(' ')
                  .append(type)
                  .append('\n'));
    }
    for (SharedMethod method : methods) {
      text.append("method ")
          .append(method.id())
          .append(' ')
          .append(method.kind())
          .append(' ')
          .append(method.genericReturnType().getTypeName())
          .append('\n');
    }
    return text.toString();
  }

  static String member(Method method) {
    return method.getDeclaringClass().getName() + "." + signature(method);
  }

  private static String member(Field field) {
    return field.getDeclaringClass().getName() + "." + field.getName();
  }
}
