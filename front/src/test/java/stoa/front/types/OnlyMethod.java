package stoa.front.types;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.MethodModel;

/// Makes class files that have one method of a class alone.
final class OnlyMethod {
  private OnlyMethod() {}

  static byte[] of(byte[] file, String name) {
    var own = ClassFile.of();
    return own.transformClass(
        own.parse(file),
        ClassTransform.dropping(element ->
            element instanceof MethodModel method && !method.methodName().equalsString(name)));
  }
}
