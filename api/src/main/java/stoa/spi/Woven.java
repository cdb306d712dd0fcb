package stoa.spi;

import java.lang.invoke.CallSite;
import java.lang.invoke.ConstantCallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Call;
import stoa.NotShareable;
import stoa.Shared;

/// The methods that woven code calls where the source has `new` of a class with a [Shared#key()],
/// or reads a static field with [Shared]. Programs do not use it.
public final class Woven {
  private Woven() {}

  /// Stands on the stack where an uninitialized object stood before weaving. There are no
  /// instances.
  public static final class Absent {
    private Absent() {}
  }

  /// Links a `new`.
  ///
  /// @param caller the class that has it
  /// @param name unused
  /// @param type the parameters of the constructor, and the class
  /// @throws NotShareable when the class has no key that can be read
  /// @throws ReflectiveOperationException when the caller may not call the constructor
  public static CallSite instance(MethodHandles.Lookup caller, String name, MethodType type)
      throws ReflectiveOperationException {
    MethodHandle found = Instance.of(caller, type).handle();
    return new ConstantCallSite(
        found.asCollector(Object[].class, type.parameterCount()).asType(type));
  }

  /// Links a read of a static field.
  ///
  /// @param caller the class that reads it
  /// @param name the name of the field
  /// @param type its type
  /// @param owner the class in which the caller looks for it
  /// @throws NotShareable when the field can be no shared collection
  /// @throws ReflectiveOperationException when the caller may not read the field
  public static CallSite field(
      MethodHandles.Lookup caller, String name, MethodType type, Class<?> owner)
      throws ReflectiveOperationException {
    Field field = SharedField.find(owner, name);
    if (field == null) throw new NoSuchFieldException(owner.getName() + "." + name);
    var _ = caller.unreflectGetter(field);
    MethodHandle opened = FIELD.bindTo(SharedField.of(field));
    return new ConstantCallSite(opened.asType(type));
  }

  private static final MethodHandle FIELD = own("open", Object.class, SharedField.class);
  private static final MethodHandle INSTANCE =
      own("get", Object.class, Instance.class, Object[].class);

  private static MethodHandle own(String name, Class<?> result, Class<?>... parameters) {
    try {
      return MethodHandles.lookup()
          .findStatic(Woven.class, name, MethodType.methodType(result, parameters));
    } catch (ReflectiveOperationException absent) {
      throw new IllegalStateException(absent);
    }
  }

  @SuppressWarnings("UnusedMethod") // Justification: a method handle calls it
  private static Object open(SharedField field) {
    if (CallContext.CURRENT.isBound()) return CallContext.current().collection(field::open);
    return field.open(Binding.stoa("the shared collection " + field.name()));
  }

  @SuppressWarnings("UnusedMethod") // Justification: a method handle calls it
  private static Object get(Instance instance, @Nullable Object[] arguments) throws Throwable {
    return instance.get(arguments);
  }

  /// One `new`.
  ///
  /// @param shared the class
  /// @param parameters of the constructor that the source names
  /// @param constructor makes an instance from an array of arguments
  /// @param keyField where the instance then has its key
  /// @param key reads that
  /// @param others the parameters of the other constructors
  private record Instance(
      Class<?> shared,
      Class<?>[] parameters,
      MethodHandle constructor,
      Field keyField,
      MethodHandle key,
      List<Constructor<?>> others) {

    static Instance of(MethodHandles.Lookup caller, MethodType type)
        throws ReflectiveOperationException {
      Class<?> shared = type.returnType();
      MethodHandle constructor = caller.findConstructor(shared, type.changeReturnType(void.class));
      Shared annotation = shared.getDeclaredAnnotation(Shared.class);
      if (annotation == null || annotation.key().isEmpty()) {
        throw new NotShareable(
            shared.getName()
                + " is no longer a class of @Shared(key = ...); weave its users again");
      }
      Field field = null;
      for (Class<?> c = shared; field == null && c != null; c = c.getSuperclass()) {
        for (Field one : c.getDeclaredFields()) {
          if (one.getName().equals(annotation.key())) field = one;
        }
      }
      if (field == null) {
        throw new NotShareable(
            shared.getName()
                + " has no field \""
                + annotation.key()
                + "\", which @Shared(key) names; declare it, or correct the name");
      }
      MethodHandle key =
          MethodHandles.privateLookupIn(field.getDeclaringClass(), caller).unreflectGetter(field);
      Class<?>[] parameters = type.parameterArray();
      return new Instance(
          shared,
          parameters,
          constructor.asType(type.generic()).asSpreader(Object[].class, parameters.length),
          field,
          key.asType(MethodType.methodType(Object.class, Object.class)),
          Arrays.stream(shared.getDeclaredConstructors())
              .<Constructor<?>>map(one -> one)
              .filter(one -> !Arrays.equals(one.getParameterTypes(), parameters))
              .toList());
    }

    MethodHandle handle() {
      return INSTANCE.bindTo(this);
    }

    Object get(@Nullable Object[] arguments) throws Throwable {
      Object local = constructor.invokeExact(arguments);
      Object found = key.invokeExact(local);
      if (found == null) {
        throw new NotShareable(
            name() + " is null after the constructor; assign the key to it there");
      }
      boolean first = arguments.length > 0 && found.equals(arguments[0]);
      @Nullable Object[] rest =
          first ? Arrays.copyOfRange(arguments, 1, arguments.length) : arguments;
      for (Constructor<?> other : others) check(other, found, arguments, first);
      return CallContext.CURRENT.isBound()
          ? Call.get(shared, found, rest)
          : Binding.stoa(shared.getName() + " \"" + found + "\"").get(shared, found, rest);
    }

    private String name() {
      return keyField.getDeclaringClass().getName() + "." + keyField.getName();
    }

    /// Refuses arguments for which the store, which chooses the constructor by the classes of the
    /// arguments, would choose another one than the source does.
    private void check(
        Constructor<?> other, Object found, @Nullable Object[] arguments, boolean first) {
      Class<?>[] theirs = other.getParameterTypes();
      boolean chosen;
      if (first) {
        chosen = fits(theirs, arguments, 0) && !isBelow(theirs);
      } else {
        boolean variable = other.isVarArgs() && theirs.length <= arguments.length + 2;
        boolean withKey =
            theirs.length == arguments.length + 1
                && accepts(theirs[0], found)
                && fits(theirs, arguments, 1);
        chosen = variable || withKey || (fits(theirs, arguments, 0) && !isBelow(theirs));
      }
      if (!chosen) return;
      throw new NotShareable(
          "new "
              + shared.getName()
              + Arrays.toString(arguments)
              + " fits several of its constructors, and the store would choose "
              + other
              + "; let their numbers of parameters differ, and the key be the first parameter");
    }

    private static boolean fits(Class<?>[] theirs, @Nullable Object[] arguments, int from) {
      if (theirs.length != arguments.length + from) return false;
      for (int i = 0; i < arguments.length; i++) {
        if (!accepts(theirs[from + i], arguments[i])) return false;
      }
      return true;
    }

    private static boolean accepts(Class<?> parameter, @Nullable Object argument) {
      if (argument == null) return !parameter.isPrimitive();
      if (!parameter.isPrimitive()) return parameter.isInstance(argument);
      return widens(MethodType.methodType(argument.getClass()).unwrap().returnType(), parameter);
    }

    /// Whether other parameters take whatever those of this constructor take.
    private boolean isBelow(Class<?>[] theirs) {
      for (int i = 0; i < theirs.length; i++) {
        boolean wider =
            theirs[i].isAssignableFrom(parameters[i]) || widens(parameters[i], theirs[i]);
        if (!wider) return false;
      }
      return true;
    }

    private static boolean widens(Class<?> from, Class<?> to) {
      if (from == to) return true;
      List<Class<?>> order =
          List.of(byte.class, short.class, int.class, long.class, float.class, double.class);
      int narrow = from == char.class ? 1 : order.indexOf(from);
      return narrow >= 0 && order.indexOf(to) > narrow;
    }
  }
}
