package stoa.weave;

import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.MethodModel;
import java.lang.classfile.MethodTransform;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/// Inserts checks into class files. Thread-safe.
final class Weaver {
  /*
   * The weaver computes the frames of a method's stack map anew from the classes that it names, and
   * reads their superclasses from files; it loads no class for that. A method that cannot be woven,
   * because it would become too long or names missing classes, stays unchanged; the weaver weaves
   * the others of its class.
   */
  private final ClassFile format;
  private final Consumer<String> unwoven;

  /// Creates a weaver.
  ///
  /// @param files finds the files of classes
  /// @param unwoven receives each unchanged method, with the reason
  Weaver(FilesOfClasses files, Consumer<String> unwoven) {
    this.unwoven = unwoven;
    format = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(files.hierarchy()));
  }

  /// Returns a class with checks.
  byte[] weave(byte[] classFile) {
    ClassModel model;
    try {
      model = format.parse(classFile);
    } catch (RuntimeException unreadable) {
      unwoven.accept("a class file that cannot be read: " + unreadable.getMessage());
      return classFile; // the JVM reports the error
    }
    try {
      return weave(model, _ -> true);
    } catch (RuntimeException some) {
      return weaveWhatCanBe(model, classFile);
    }
  }

  private byte[] weave(ClassModel model, Predicate<MethodModel> which) {
    return format.transformClass(
        model,
        (ClassTransform)
            (builder, element) -> {
              if (element instanceof MethodModel method
                  && method.code().isPresent()
                  && which.test(method)) {
                var checks = new Checks(method, method.code().orElseThrow());
                builder.transformMethod(method, MethodTransform.transformingCode(checks));
              } else {
                builder.with(element);
              }
            });
  }

  /// Weaves each method alone to find those that fail, and then the others together.
  private byte[] weaveWhatCanBe(ClassModel model, byte[] classFile) {
    Map<MethodModel, RuntimeException> failures = new LinkedHashMap<>();
    for (MethodModel method : model.methods()) {
      try {
        var _ = weave(model, method::equals);
      } catch (RuntimeException failure) {
        failures.put(method, failure);
      }
    }
    String name = model.thisClass().asInternalName().replace('/', '.');
    failures.forEach((method, failure) ->
        unwoven.accept(
            name
                + "."
                + method.methodName().stringValue()
                + method.methodType().stringValue()
                + " cannot be stopped: "
                + failure.getMessage()));
    try {
      return weave(model, method -> !failures.containsKey(method));
    } catch (RuntimeException all) {
      unwoven.accept(name + " cannot be stopped: " + all.getMessage());
      return classFile;
    }
  }
}
