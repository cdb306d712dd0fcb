package stoa.front.types;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Member;
import java.util.Objects;
import stoa.NotShareable;

/// The access of Stoa to the modules of users' classes, and of those modules to Stoa.
///
/// A program on the module path opens the packages of its shared classes, and requires `stoa.api`
/// alone. Stoa generates classes in these packages, which use classes of the module `stoa.front`;
/// so each of the two modules has to read the other. Thread-safe.
public final class ModuleAccess {
  private static final ClassValue<MethodHandles.Lookup> LOOKUPS =
      new ClassValue<>() {
        @Override
        protected MethodHandles.Lookup computeValue(Class<?> owner) {
          try {
            return connect(owner);
          } catch (IllegalAccessException e) {
            throw new ClosedPackage(e);
          } catch (Throwable e) {
            throw new IllegalStateException("no lookup in " + owner, e);
          }
        }
      };

  private static final class ClosedPackage extends RuntimeException {
    private static final long serialVersionUID = 1L;

    ClosedPackage(IllegalAccessException cause) {
      super(cause);
    }
  }

  private ModuleAccess() {}

  /// Returns a lookup with all rights of a class, its module's included. The class's module reads
  /// `stoa.front` from now on, and `stoa.front` reads that module.
  ///
  /// @throws IllegalAccessException if the class's module does not open its package
  public static MethodHandles.Lookup lookup(Class<?> owner) throws IllegalAccessException {
    try {
      return LOOKUPS.get(owner);
    } catch (ClosedPackage e) {
      Throwable cause = Objects.requireNonNull(e.getCause());
      throw (IllegalAccessException)
          new IllegalAccessException(cause.getMessage()).initCause(cause);
    }
  }

  /// Makes a member of a user's class accessible to Stoa.
  ///
  /// @throws NotShareable if the class's module does not open its package
  public static <M extends AccessibleObject & Member> void open(M member) {
    try {
      member.setAccessible(true);
    } catch (RuntimeException e) {
      throw new NotShareable(
          member + " is not accessible; " + remedy(member.getDeclaringClass()), e);
    }
  }

  /// Returns the remedy for a class that Stoa may not access, as an imperative.
  public static String remedy(Class<?> owner) {
    Module module = owner.getModule();
    return module.isNamed()
        ? "add \"opens %s;\" to the module-info of %s"
            .formatted(owner.getPackageName(), module.getName())
        : "make it accessible to the module stoa.front";
  }

  private static MethodHandles.Lookup connect(Class<?> owner) throws Throwable {
    Module ours = ModuleAccess.class.getModule();
    ours.addReads(owner.getModule());
    MethodHandles.Lookup beside = beside(owner);
    MethodHandle addReads =
        beside.findVirtual(
            Module.class, "addReads", MethodType.methodType(Module.class, Module.class));
    var _ = (Module) addReads.invokeExact(owner.getModule(), ours);
    return MethodHandles.privateLookupIn(owner, beside);
  }

  /// Returns a lookup with the rights of the class's module. A lookup from outside lacks them; a
  /// class that is defined beside the class hands out a lookup of its own.
  private static MethodHandles.Lookup beside(Class<?> owner) throws Throwable {
    var foreign = MethodHandles.privateLookupIn(owner, MethodHandles.lookup());
    ClassDesc lookup = describe(MethodHandles.Lookup.class);
    MethodTypeDesc type = MethodTypeDesc.of(lookup);
    byte[] bytes =
        ClassFile.of()
            .build(
                ClassDesc.of(owner.getName() + "$StoaLookup"),
                made ->
                    made.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SYNTHETIC)
                        .withMethodBody(
                            "lookup",
                            type,
                            ClassFile.ACC_STATIC,
                            code ->
                                code.invokestatic(describe(MethodHandles.class), "lookup", type)
                                    .areturn()));
    Class<?> made = foreign.defineClass(bytes);
    MethodHandle own =
        foreign.findStatic(made, "lookup", MethodType.methodType(MethodHandles.Lookup.class));
    return (MethodHandles.Lookup) own.invokeExact();
  }

  private static ClassDesc describe(Class<?> type) {
    return type.describeConstable()
        .orElseThrow(() -> new IllegalStateException(type + " is a hidden class"));
  }
}
