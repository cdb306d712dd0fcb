package stoa.front.marshal;

import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.Objects;
import org.apache.fory.reflect.FieldAccessor;

/// Makes Fory's accessors of private fields, and gives Fory the lookup that they need.
///
/// Fory would ask `sun.misc.Unsafe` for that lookup. The JVM warns of this, and refuses it under
/// `--sun-misc-unsafe-memory-access=deny`.
final class PrivateFields {
  /*
   * The JDK keeps sun.reflect.ReflectionFactory, in the module jdk.unsupported, for libraries that
   * marshal objects. It makes a constructor of any class accessible; here it is the one of Lookup.
   * The lookup goes into the variable of Fory that Fory would assign at its first need, and to
   * no other code.
   *
   * A JDK that refuses, or a Fory without that variable, changes nothing: Fory goes its own way,
   * and names the option that it needs.
   */
  private static final int TRUSTED = -1;

  static {
    give();
  }

  private PrivateFields() {}

  /// Gives Fory the lookup, at the latest when this returns.
  static void open() {}

  static FieldAccessor of(Field field) {
    return FieldAccessor.createAccessor(field);
  }

  private static void give() {
    try {
      Class<?> fory = Class.forName("org.apache.fory.platform.internal._Lookup");
      Lookup trusted = make();
      VarHandle variable = trusted.findStaticVarHandle(fory, "implLookup", Lookup.class);
      variable.setVolatile(trusted);
    } catch (ReflectiveOperationException | RuntimeException refused) {
      // Fory goes its own way.
    }
  }

  private static Lookup make() throws ReflectiveOperationException {
    Constructor<Lookup> hidden =
        Lookup.class.getDeclaredConstructor(Class.class, Class.class, int.class);
    Class<?> factory = Class.forName("sun.reflect.ReflectionFactory");
    Object made = factory.getMethod("getReflectionFactory").invoke(null);
    Object open =
        factory
            .getMethod("newConstructorForSerialization", Class.class, Constructor.class)
            .invoke(made, Lookup.class, hidden);
    return (Lookup)
        Objects.requireNonNull((Constructor<?>) open).newInstance(Object.class, null, TRUSTED);
  }
}
