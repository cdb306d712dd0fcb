package stoa.log;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.instruction.InvokeInstruction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.base.Check;

/// The classes of the product and of its tests once more, with one fault: a method does not call
/// another one, but does something else with the same arguments.
///
/// One owner.
final class Mutant extends ClassLoader {
  private final String type;
  private final String method;
  private final String called;
  private final Consumer<CodeBuilder> instead;
  private int places;

  /// Creates it.
  ///
  /// @param type the name of the class with the fault
  /// @param method the name of the method with the fault
  /// @param called the name of the method that it does not call
  /// @param instead takes the arguments from the stack, and pushes the result
  Mutant(String type, String method, String called, Consumer<CodeBuilder> instead) {
    super(Mutant.class.getClassLoader());
    this.type = type;
    this.method = method;
    this.called = called;
    this.instead = instead;
  }

  /// Calls a static method with a number, and returns its text; null for none.
  @Nullable String run(Class<?> of, String name, long argument) {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(this);
    try {
      var runs = loadClass(of.getName()).getDeclaredMethod(name, long.class);
      runs.setAccessible(true);
      var text = (String) runs.invoke(null, argument);
      Check.that(places == 1, "%s calls %s at %s places", method, called, places);
      return text;
    } catch (ReflectiveOperationException failed) {
      throw new IllegalStateException(failed);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith("stoa.")) return super.loadClass(name, resolve);
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? define(name) : loaded;
    }
  }

  private Class<?> define(String name) throws ClassNotFoundException {
    String file = name.replace('.', '/') + ".class";
    try (InputStream in = getParent().getResourceAsStream(file)) {
      if (in == null) throw new ClassNotFoundException(name);
      byte[] bytes = in.readAllBytes();
      byte[] defined = name.equals(type) ? changed(bytes) : bytes;
      return defineClass(name, defined, 0, defined.length);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  private byte[] changed(byte[] bytes) {
    ClassFile files = ClassFile.of();
    CodeTransform fault = this::change;
    return files.transformClass(
        files.parse(bytes),
        ClassTransform.transformingMethodBodies(
            body -> body.methodName().equalsString(method), fault));
  }

  private void change(CodeBuilder code, CodeElement element) {
    if (element instanceof InvokeInstruction call && call.name().equalsString(called)) {
      places++;
      instead.accept(code);
    } else {
      code.with(element);
    }
  }
}
