package stoa.front.types;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeElement;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.lang.classfile.constantpool.ClassEntry;
import java.lang.classfile.instruction.ConstantInstruction;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ConstantDesc;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicConstantDesc;
import java.lang.constant.MethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import stoa.NotShareable;

/// Reads the class files of deployed code, and refuses what may reach beyond the objects of the
/// store: every use of a class outside of the files that is not [Permitted].
///
/// It reads all methods of all files, whether they are called or not: values that arrive as
/// arguments are of classes that no code creates. It follows nothing, and runs nothing. The
/// [Verifier] checks what differs in a replay.
public final class StrictCode {
  /*
   * Code names the static type of an object as the owner of a method. So a method that a class of
   * the files inherits from the JDK has that class as its owner; `required` looks for it in the
   * classes above, and judges it as a method of each class of the JDK there.
   *
   * Invariant: code that passes names no class outside of the files but permitted ones, as an owner
   * of members or as a superclass. It cannot reach others by name: no permitted member takes a name
   * of a class, or returns an object by which one can be found.
   */
  private static final String REMEDY =
      "; or deploy it as trusted code (--trusted-code), when the server may run it with all rights";

  // The checks that end a run, for instance, are in one of them.
  private static final Set<String> OWN_PACKAGES = Set.of("stoa", "stoa.spi");

  private final Map<String, ClassModel> models = new HashMap<>();

  private StrictCode(Map<String, byte[]> files) {
    files.forEach((name, file) -> models.put(name.replace('.', '/'), ClassFile.of().parse(file)));
  }

  /// Checks class files.
  ///
  /// @param files by the binary names of their classes
  /// @throws NotShareable for a use of what is not permitted; it names the class and the method
  public static void check(Map<String, byte[]> files) {
    var code = new StrictCode(files);
    for (ClassModel model : code.models.values()) code.check(model);
  }

  private void check(ClassModel model) {
    String name = model.thisClass().asInternalName().replace('/', '.');
    String pack = name.substring(0, Math.max(0, name.lastIndexOf('.')));
    if (OWN_PACKAGES.contains(pack) || name.startsWith("java.")) {
      throw new NotShareable(
          name
              + " is in a package of "
              + (name.startsWith("java.") ? "the JDK" : "Stoa")
              + ", whose classes it would stand for; move it to another package"
              + REMEDY);
    }
    for (String above : above(model)) {
      if (models.containsKey(above) || Permitted.isPermitted(above)) continue;
      throw new NotShareable(
          name
              + " extends or implements "
              + above.replace('/', '.')
              + ", which deployed code may not; make it a class without it"
              + REMEDY);
    }
    for (MethodModel method : model.methods()) new Method(name, method).check();
  }

  private static List<String> above(ClassModel model) {
    var above = new ArrayList<String>();
    model.superclass().map(ClassEntry::asInternalName).ifPresent(above::add);
    model.interfaces().forEach(one -> above.add(one.asInternalName()));
    return above;
  }

  private final class Method {
    private final String owner;
    private final MethodModel method;

    Method(String owner, MethodModel method) {
      this.owner = owner;
      this.method = method;
    }

    private NotShareable refused(String does, String remedy) {
      String name = method.methodName().stringValue();
      return new NotShareable(
          owner
              + "."
              + (name.equals("<init>") ? "constructor" : name)
              + Verifier.signature(method.methodTypeSymbol())
              + " "
              + does
              + ", which deployed code may not; "
              + remedy
              + REMEDY);
    }

    void check() {
      if (method.flags().has(AccessFlag.NATIVE)) throw refused("is native", "write it in Java");
      if (method.methodName().equalsString("finalize") && method.methodType().equalsString("()V")) {
        throw refused("runs on a thread of the JVM", "remove it");
      }
      method
          .code()
          .ifPresent(code -> {
            for (CodeElement element : code) {
              if (element instanceof Instruction instruction) check(instruction);
            }
          });
    }

    private void check(Instruction instruction) {
      switch (instruction) {
        case InvokeInstruction call ->
            require(
                call.owner().asInternalName(),
                call.name().stringValue(),
                call.type().stringValue());
        case FieldInstruction field ->
            require(
                field.owner().asInternalName(),
                field.name().stringValue(),
                field.type().stringValue());
        case InvokeDynamicInstruction dynamic -> {
          bootstrap(dynamic.bootstrapMethod());
          dynamic.bootstrapArgs().forEach(this::argument);
        }
        case ConstantInstruction.LoadConstantInstruction constant ->
            constant(constant.constantValue());
        default -> {}
      }
    }

    private void constant(ConstantDesc constant) {
      boolean isHandle = constant instanceof MethodHandleDesc || constant instanceof MethodTypeDesc;
      if (isHandle) throw refused("uses a method handle", "call the method");
      if (constant instanceof DynamicConstantDesc<?> dynamic) argument(dynamic);
    }

    private void bootstrap(DirectMethodHandleDesc handle) {
      String owner = Verifier.internalName(handle);
      if (Permitted.isBootstrap(owner, handle.methodName())) return;
      throw refused("is made by " + owner.replace('/', '.'), "compile it with javac");
    }

    private void argument(ConstantDesc argument) {
      switch (argument) {
        case DirectMethodHandleDesc handle ->
            require(Verifier.internalName(handle), name(handle), handle.lookupDescriptor());
        case DynamicConstantDesc<?> dynamic -> {
          bootstrap(dynamic.bootstrapMethod());
          dynamic.bootstrapArgsList().forEach(this::argument);
        }
        default -> {}
      }
    }

    private static String name(DirectMethodHandleDesc handle) {
      return handle.kind() == DirectMethodHandleDesc.Kind.CONSTRUCTOR
          ? "<init>"
          : handle.methodName();
    }

    /// Refuses the use of a member that is not permitted.
    private void require(String owner, String name, String descriptor) {
      if (owner.startsWith("[")) {
        // Besides clone(), an array has the methods of Object.
        if (!name.equals("clone")) require("java/lang/Object", name, descriptor);
        return;
      }
      ClassModel model = models.get(owner);
      if (model == null) {
        String remedy = Permitted.remedy(owner, name, descriptor);
        if (remedy == null) return;
        String shown = owner.replace('/', '.');
        throw refused(
            name.equals("<init>") ? "creates a " + shown : "uses " + shown + "." + name, remedy);
      }
      if (name.equals("<init>") || declares(model, name, descriptor)) return;
      for (String above : above(model)) require(above, name, descriptor);
    }

    private static boolean declares(ClassModel model, String name, String descriptor) {
      return model.methods().stream()
              .anyMatch(one ->
                  one.methodName().equalsString(name) && one.methodType().equalsString(descriptor))
          || model.fields().stream()
              .anyMatch(one ->
                  one.fieldName().equalsString(name) && one.fieldType().equalsString(descriptor));
    }
  }
}
