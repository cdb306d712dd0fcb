package stoa.front.types;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import stoa.NotShareable;

/// Tells a record's own `hashCode` from the compiler's.
public final class RecordHash {
  private RecordHash() {}

  /// Returns whether the program declares the method. The compiler's version calls
  /// [java.lang.runtime.ObjectMethods] at run time.
  public static boolean isDeclared(Class<?> type) {
    String resource = "/" + type.getName().replace('.', '/') + ".class";
    try (InputStream in = type.getResourceAsStream(resource)) {
      if (in == null) return false;
      for (MethodModel method : ClassFile.of().parse(in.readAllBytes()).methods()) {
        boolean hashes =
            method.methodName().equalsString("hashCode") && method.methodType().equalsString("()I");
        if (hashes) return !isCompiled(method);
      }
      return false;
    } catch (IOException | IllegalArgumentException e) {
      throw new NotShareable(type.getName() + " has an unreadable class file: " + e, e);
    }
  }

  private static boolean isCompiled(MethodModel hashCode) {
    return hashCode.code().stream()
        .flatMap(code -> code.elementStream())
        .anyMatch(element ->
            element instanceof InvokeDynamicInstruction dynamic
                && dynamic
                    .bootstrapMethod()
                    .owner()
                    .descriptorString()
                    .equals("Ljava/lang/runtime/ObjectMethods;"));
  }
}
