package stoa.front.marshal;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeModel;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.IncrementInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.classfile.instruction.LabelTarget;
import java.lang.classfile.instruction.LoadInstruction;
import java.lang.classfile.instruction.ReturnInstruction;
import java.lang.classfile.instruction.StoreInstruction;
import java.lang.classfile.instruction.ThrowInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.front.types.ModuleAccess;
import stoa.front.types.StackDepth;

/// The initial values of fields in a new instance, as far as they do not depend on a constructor's
/// arguments.
final class Initials {
  /*
   * javac copies the initializers of fields into every constructor that calls super(…), right after
   * that call, each as
   *
   *   aload_0; <expression>; putfield f
   *
   * with an empty operand stack before and after. The leading run of such statements whose
   * expression reads no parameter is taken as the initializers. A statement of a constructor's body
   * that follows and has the same form belongs to the run too, which is right as long as all
   * constructors have it; that is checked.
   *
   * To evaluate one expression on an object that already exists, its instructions are put into a
   * static method of a hidden class that is a nestmate of the field's class. The value is returned
   * and stored by the caller, so that final fields are no obstacle.
   *
   * Invariant: a slice never changes anything by itself but through methods that it calls, exactly as
   * the initializer would.
   */
  private Initials() {}

  /// Evaluates the initial value of one field for one instance.
  @FunctionalInterface
  interface Initial {
    @Nullable Object of(Object instance) throws Throwable;
  }

  private static final Initial NONE = _ -> null;

  /// Returns the initial value of a field of a class; absent when only a constructor with
  /// parameters knows it. A value of null means that the field keeps zero, false or null.
  static Optional<Initial> find(Class<?> type, Field field) {
    Optional<Initial> sliced = slice(field);
    return sliced.isPresent() ? sliced : constructed(type, field);
  }

  private static Optional<Initial> constructed(Class<?> type, Field field) {
    Constructor<?> constructor;
    try {
      constructor = type.getDeclaredConstructor();
    } catch (NoSuchMethodException e) {
      return Optional.empty();
    }
    try {
      constructor.setAccessible(true);
      field.setAccessible(true);
    } catch (RuntimeException e) {
      throw new NotShareable(
          type.getName() + " cannot be instantiated; " + ModuleAccess.remedy(type), e);
    }
    return Optional.of(_ -> field.get(create(constructor)));
  }

  private static Object create(Constructor<?> constructor) throws Throwable {
    try {
      return constructor.newInstance();
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }

  // ---- slices

  private static Optional<Initial> slice(Field field) {
    Class<?> owner = field.getDeclaringClass();
    ClassModel model = read(owner);
    if (model == null) return Optional.empty();
    List<CodeElement> found = null;
    boolean assigned = false;
    boolean everywhere = true;
    for (MethodModel method : model.methods()) {
      if (!method.methodName().equalsString("<init>")) continue;
      CodeModel code = method.code().orElse(null);
      if (code == null) continue;
      assigned |= assigns(code, owner, field);
      Map<String, List<CodeElement>> run = run(code, owner);
      if (run == null) continue; // calls this(…)
      List<CodeElement> expression = run.get(field.getName());
      everywhere &= expression != null;
      if (found == null) found = expression;
    }
    if (!assigned) return Optional.of(NONE);
    return everywhere && found != null
        ? Optional.ofNullable(define(owner, field, found))
        : Optional.empty();
  }

  private static @Nullable ClassModel read(Class<?> owner) {
    String resource = "/" + owner.getName().replace('.', '/') + ".class";
    try (InputStream in = owner.getResourceAsStream(resource)) {
      if (in == null) return null;
      var hierarchy = ClassHierarchyResolver.ofClassLoading(loader(owner));
      return ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(hierarchy))
          .parse(in.readAllBytes());
    } catch (IOException | IllegalArgumentException e) {
      return null; // a constructor without parameters may still tell
    }
  }

  private static ClassLoader loader(Class<?> owner) {
    ClassLoader loader = owner.getClassLoader();
    return loader == null ? ClassLoader.getSystemClassLoader() : loader;
  }

  private static boolean assigns(CodeModel code, Class<?> owner, Field field) {
    for (CodeElement element : code) {
      if (element instanceof FieldInstruction put && isPut(put, owner, field.getName()))
        return true;
    }
    return false;
  }

  private static boolean isPut(FieldInstruction put, Class<?> owner, String name) {
    return put.opcode() == Opcode.PUTFIELD
        && put.owner().asInternalName().equals(owner.getName().replace('.', '/'))
        && put.name().equalsString(name);
  }

  /// Returns the expressions assigned right after super(…), by field; null when the constructor
  /// calls this(…) instead.
  private static @Nullable Map<String, List<CodeElement>> run(CodeModel code, Class<?> owner) {
    var run = new LinkedHashMap<String, List<CodeElement>>();
    var statement = new ArrayList<CodeElement>();
    var depth = new StackDepth();
    boolean started = false;
    for (CodeElement element : code) {
      if (element instanceof ExceptionCatch) return run; // initializers have none
      statement.add(element);
      depth.step(element);
      if (!(element instanceof Instruction) || depth.slots() != 0) continue;
      if (!started) {
        if (element instanceof InvokeInstruction call && isConstructor(call)) {
          if (call.owner().asInternalName().equals(owner.getName().replace('.', '/'))) return null;
          started = true;
        }
      } else if (!take(statement, owner, run)) {
        return run;
      }
      statement.clear();
    }
    return started ? run : null;
  }

  private static boolean isConstructor(InvokeInstruction call) {
    return call.opcode() == Opcode.INVOKESPECIAL && call.name().equalsString("<init>");
  }

  /// Adds a statement to the run; returns false when it does not assign a field, or needs a
  /// parameter.
  private static boolean take(
      List<CodeElement> statement, Class<?> owner, Map<String, List<CodeElement>> run) {
    var body = new ArrayList<CodeElement>();
    boolean receiver = false;
    for (CodeElement element : statement) {
      boolean code = element instanceof Instruction || element instanceof LabelTarget;
      if (!code) continue;
      boolean first = element instanceof LoadInstruction load && load.slot() == 0;
      if (!receiver && first) receiver = true;
      else if (receiver || element instanceof LabelTarget) body.add(element);
      else return false;
    }
    if (!receiver || !(body.getLast() instanceof FieldInstruction put)) return false;
    if (!isPut(put, owner, put.name().stringValue())) return false;
    body.removeLast();
    if (!closed(body)) return false;
    run.putIfAbsent(put.name().stringValue(), List.copyOf(body));
    return true;
  }

  /// Returns whether an expression reads no variable except `this` and those that it has written,
  /// and never leaves.
  private static boolean closed(List<CodeElement> body) {
    Set<Integer> written = new HashSet<>();
    for (CodeElement element : body) {
      switch (element) {
        case StoreInstruction store -> written.add(store.slot());
        case LoadInstruction load when load.slot() != 0 && !written.contains(load.slot()) -> {
          return false;
        }
        case IncrementInstruction increment when !written.contains(increment.slot()) -> {
          return false;
        }
        case ReturnInstruction _, ThrowInstruction _ -> {
          return false;
        }
        default -> {}
      }
    }
    return true;
  }

  private static @Nullable Initial define(Class<?> owner, Field field, List<CodeElement> body) {
    ClassDesc type = describe(field.getType());
    var hierarchy = ClassHierarchyResolver.ofClassLoading(loader(owner));
    try {
      byte[] bytes =
          ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(hierarchy))
              .build(
                  ClassDesc.of(owner.getName() + "$StoaInitial"),
                  made ->
                      made.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SYNTHETIC)
                          .withMethodBody(
                              "value",
                              MethodTypeDesc.of(type, describe(owner)),
                              ClassFile.ACC_STATIC,
                              code -> {
                                body.forEach(code::with);
                                code.return_(TypeKind.from(type));
                              }));
      var hidden =
          ModuleAccess.lookup(owner)
              .defineHiddenClass(bytes, true, MethodHandles.Lookup.ClassOption.NESTMATE);
      MethodHandle value =
          hidden
              .findStatic(
                  hidden.lookupClass(), "value", MethodType.methodType(field.getType(), owner))
              .asType(MethodType.methodType(Object.class, Object.class));
      return instance -> (Object) value.invokeExact(instance);
    } catch (ReflectiveOperationException | RuntimeException | LinkageError e) {
      return null; // a form that a slice cannot have, such as super.method(); a constructor may
      // tell
    }
  }

  private static ClassDesc describe(Class<?> type) {
    return type.describeConstable()
        .orElseThrow(() -> new IllegalStateException(type + " is a hidden class"));
  }
}
