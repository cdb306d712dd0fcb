package stoa.front.types;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.MethodModel;
import java.lang.constant.ClassDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.Shared;
import stoa.spi.ClassWeaver;
import stoa.spi.SharedField;

/// Reads the bytecode of a shared class and of the code that it reaches. It refuses code whose
/// result would differ in a replay, or that would run on the empty fields of a proxy.
final class Verifier {
  /*
   * The walk starts at every method of the implementation and of its superclasses, except the
   * JDK's. It follows calls into classes that were loaded from the same place (same loader, same
   * code source, or same module), every method of a class that is instantiated there, and the
   * bodies of lambdas. It does not follow calls on other shared classes, as those have a check of
   * their own. It follows an interface call only into classes that it has seen instantiated. It
   * judges the JDK and other libraries by name, see ForbiddenMethods.
   *
   * It cannot see reflection, libraries, and state shared through the object of a static field.
   */
  private static final int METHODS_MAX = 20_000;

  private final Class<?> implementation;
  private final Set<Class<?>> lineage = new LinkedHashSet<>();
  private final Map<String, SharedMethod.Kind> kinds = new HashMap<>();
  private final Map<Class<?>, @Nullable ClassModel> models = new HashMap<>();
  private final ArrayDeque<Step> pending = new ArrayDeque<>();
  private final Set<String> seen = new HashSet<>();
  private final Set<Class<? extends Throwable>> exceptions = new LinkedHashSet<>();

  private record Step(Class<?> owner, MethodModel method) {}

  Verifier(Class<?> implementation, List<SharedMethod> methods) {
    this.implementation = implementation;
    for (Class<?> c = implementation; c != null && !Platform.has(c); c = c.getSuperclass()) {
      lineage.add(c);
    }
    for (SharedMethod method : methods) {
      kinds.put(SharedType.signature(method.method()), method.kind());
    }
  }

  /// Checks everything, and returns the exceptions that the code declares or creates.
  static Set<Class<? extends Throwable>> verify(
      Class<?> face, Class<?> implementation, List<SharedMethod> methods) {
    var verifier = new Verifier(implementation, methods);
    if (face.isInterface()) verifier.start(face);
    verifier.lineage.forEach(verifier::start);
    for (SharedMethod method : methods) verifier.addExceptions(method.method());
    verifier.lineage.forEach(Verifier::checkFields);
    while (!verifier.pending.isEmpty()) {
      Step step = verifier.pending.poll();
      new MethodCheck(verifier, step.owner, step.method).run();
    }
    return Collections.unmodifiableSet(verifier.exceptions);
  }

  private void start(Class<?> type) {
    ClassModel model = model(type);
    if (model == null) {
      throw new NotShareable(
          type.getName()
              + " has no class file that its class loader would show, so that it cannot be checked;"
              + " load it from a class path");
    }
    for (MethodModel method : model.methods()) {
      if (!type.isInterface() || method.code().isPresent()) enqueue(type, method);
    }
    for (Class<?> i : type.getInterfaces()) {
      if (follows(i)) start(i);
    }
  }

  private void addExceptions(Method method) {
    for (Class<?> type : method.getExceptionTypes()) {
      exceptions.add(type.asSubclass(Throwable.class));
    }
  }

  // ---- for MethodCheck

  /// Returns whether the fields of a class belong to shared objects.
  boolean isShared(Class<?> type) {
    return lineage.contains(type) || type.isAnnotationPresent(Shared.class);
  }

  boolean isAccessor(Class<?> owner, String signature) {
    SharedMethod.Kind kind = kinds.get(signature);
    return lineage.contains(owner) && kind != null && kind.isReading();
  }

  /// Returns the annotation that makes a method a reading one.
  String annotation(String signature) {
    SharedMethod.Kind kind = kinds.get(signature);
    return kind != null && kind.isTransaction() ? "@Transactional" : "@Accessor";
  }

  @Nullable Class<?> load(ClassDesc type) {
    if (type.isPrimitive() || type.isArray()) return null;
    String descriptor = type.descriptorString();
    return load(descriptor.substring(1, descriptor.length() - 1));
  }

  /// Returns the class of an internal name; null when it does not exist.
  @Nullable Class<?> load(String internalName) {
    if (internalName.startsWith("[")) return null;
    try {
      return Class.forName(internalName.replace('/', '.'), false, implementation.getClassLoader());
    } catch (ClassNotFoundException | LinkageError e) {
      return null; // an optional dependency; calling it would fail at run time, not here
    }
  }

  /// Checks a called method too, when the walk follows its class.
  void call(Class<?> owner, String name, String descriptor) {
    for (Class<?> c = owner; c != null && follows(c); c = c.getSuperclass()) {
      if (enqueueNamed(c, name, descriptor)) return;
    }
    for (Class<?> i : owner.getInterfaces()) {
      if (follows(i)) call(i, name, descriptor);
    }
  }

  /// Checks all methods of an instantiated class, since callers may reach them, through an
  /// interface for example.
  void instantiate(Class<?> type) {
    if (Throwable.class.isAssignableFrom(type)) exceptions.add(type.asSubclass(Throwable.class));
    for (Class<?> c = type; c != null && follows(c); c = c.getSuperclass()) {
      if (!seen.add("class " + c.getName())) return;
      ClassModel model = model(c);
      if (model == null) return;
      for (MethodModel method : model.methods()) enqueue(c, method);
    }
  }

  private boolean follows(Class<?> type) {
    if (type.isArray() || type.isPrimitive() || Platform.has(type)) return false;
    if (lineage.contains(type)) return true;
    if (type.isAnnotationPresent(Shared.class) && !type.isInterface()) return false;
    if (type.getName().startsWith("stoa.") && isProduct(type)) return false;
    if (!Objects.equals(type.getClassLoader(), implementation.getClassLoader())) return false;
    if (type.getModule().isNamed()) return type.getModule() == implementation.getModule();
    return sameSource(type, implementation);
  }

  private static boolean isProduct(Class<?> type) {
    return sameSource(type, Verifier.class) || sameSource(type, Shared.class);
  }

  private static boolean sameSource(Class<?> a, Class<?> b) {
    var x = a.getProtectionDomain().getCodeSource();
    var y = b.getProtectionDomain().getCodeSource();
    if (x == null || y == null) return x == null && y == null;
    return Objects.equals(String.valueOf(x.getLocation()), String.valueOf(y.getLocation()));
  }

  private boolean enqueueNamed(Class<?> type, String name, String descriptor) {
    ClassModel model = model(type);
    if (model == null) return false;
    for (MethodModel method : model.methods()) {
      if (method.methodName().equalsString(name) && method.methodType().equalsString(descriptor)) {
        enqueue(type, method);
        return true;
      }
    }
    return false;
  }

  private void enqueue(Class<?> owner, MethodModel method) {
    String key =
        owner.getName()
            + "."
            + method.methodName().stringValue()
            + method.methodType().stringValue();
    if (!seen.add(key)) return;
    if (seen.size() > METHODS_MAX) {
      throw new NotShareable(
          implementation.getName()
              + " reaches more than "
              + METHODS_MAX
              + " methods of its own library; let shared classes depend on less");
    }
    pending.add(new Step(owner, method));
  }

  private @Nullable ClassModel model(Class<?> type) {
    if (models.containsKey(type)) return models.get(type);
    ClassModel model = read(type);
    models.put(type, model);
    return model;
  }

  private static @Nullable ClassModel read(Class<?> type) {
    String resource = "/" + type.getName().replace('.', '/') + ".class";
    try (InputStream in = type.getResourceAsStream(resource)) {
      if (in == null) return null;
      byte[] seen = ClassWeaver.Agent.seen(type.getClassLoader(), in.readAllBytes());
      return ClassFile.of().parse(seen);
    } catch (IOException | IllegalArgumentException e) {
      throw new NotShareable(type.getName() + " has an unreadable class file: " + e, e);
    }
  }

  // ---- fields

  private static void checkFields(Class<?> type) {
    for (Field field : type.getDeclaredFields()) {
      if (field.isAnnotationPresent(Shared.class)) {
        var _ = SharedField.of(field); // refuses an invalid shared collection
      }
      if (Modifier.isStatic(field.getModifiers())) continue;
      checkOrdered(type, field, field.getGenericType());
    }
  }

  /// Refuses collections whose order follows addresses in memory.
  private static void checkOrdered(Class<?> owner, Field field, Type type) {
    Class<?> raw = Hashing.erasure(type);
    String remedy =
        switch (raw.getName()) {
          case "java.util.IdentityHashMap", "java.util.WeakHashMap" -> "use LinkedHashMap";
          case "java.util.HashMap",
              "java.util.Hashtable",
              "java.util.concurrent.ConcurrentHashMap" ->
              Hashing.isByIdentity(argument(type)) ? "use EnumMap or LinkedHashMap" : null;
          case "java.util.HashSet" ->
              Hashing.isByIdentity(argument(type)) ? "use EnumSet or LinkedHashSet" : null;
          default -> null;
        };
    if (remedy != null) {
      throw new NotShareable(
          owner.getName()
              + "."
              + field.getName()
              + " is a "
              + type.getTypeName()
              + ", whose order follows addresses in memory; "
              + remedy);
    }
    if (type instanceof ParameterizedType generic) {
      for (Type argument : generic.getActualTypeArguments()) checkOrdered(owner, field, argument);
    }
  }

  private static Type argument(Type type) {
    return type instanceof ParameterizedType generic
        ? generic.getActualTypeArguments()[0]
        : String.class;
  }

  // ---- names in messages

  static String describe(Class<?> owner, String name, MethodTypeDesc type) {
    if (name.startsWith("lambda$")) {
      int end = name.indexOf('$', "lambda$".length());
      String method = end < 0 ? name : name.substring("lambda$".length(), end);
      return "a lambda in " + owner.getName() + "." + method.replace("new", "the constructor");
    }
    String shown = name.equals("<init>") ? owner.getSimpleName() : name;
    return owner.getName() + "." + shown + signature(type);
  }

  static String signature(MethodTypeDesc type) {
    var text = new StringBuilder("(");
    for (int i = 0; i < type.parameterCount(); i++) {
      if (i > 0) text.append(',');
      text.append(binaryName(type.parameterType(i)));
    }
    return text.append(')').toString();
  }

  private static String binaryName(ClassDesc type) {
    if (type.isArray()) return binaryName(type.componentType()) + "[]";
    if (type.isPrimitive()) return type.displayName();
    String descriptor = type.descriptorString();
    return descriptor.substring(1, descriptor.length() - 1).replace('/', '.');
  }

  /// Returns the internal name of the class that declares a method handle's target.
  static String internalName(DirectMethodHandleDesc handle) {
    String descriptor = handle.owner().descriptorString();
    return descriptor.startsWith("[")
        ? descriptor
        : descriptor.substring(1, descriptor.length() - 1);
  }
}
