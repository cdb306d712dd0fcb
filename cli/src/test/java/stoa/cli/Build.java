package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.View;

/// One build of a program: classes that are compiled here, from sources in the package `v`, into a
/// directory of class files. A client that runs as this program finds its classes there.
final class Build {
  private static final String HEAD = "package v; import stoa.*; import java.util.*; ";
  private static final Pattern NAME = Pattern.compile("(?:class|record|enum|interface) (\\w+)");

  private final Path classes;
  private final URLClassLoader loader;

  /// @param classes where the class files go, beside those that are there
  /// @param sources each one top-level declaration, without package and imports
  Build(Path classes, String... sources) throws IOException {
    this.classes = Files.createDirectories(classes);
    var files = new ArrayList<JavaFileObject>();
    for (String source : sources) files.add(new Source(source));
    var compiler = ToolProvider.getSystemJavaCompiler();
    var errors = new DiagnosticCollector<JavaFileObject>();
    var options =
        List.of(
            "-cp", System.getProperty("java.class.path"), "-d", classes.toString(), "-proc:none");
    try (var manager = compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8)) {
      boolean compiled = compiler.getTask(null, manager, errors, options, null, files).call();
      assertTrue(compiled, () -> errors.getDiagnostics().toString());
    }
    URL[] path = {classes.toUri().toURL()};
    loader = new URLClassLoader(path, Build.class.getClassLoader());
  }

  /// The directory of the class files.
  String path() {
    return classes.toString();
  }

  /// Uses a store as a client with these classes.
  <T> T client(String url, Function<Stoa, T> use) {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try (Stoa stoa = Stoa.open(url)) {
      return use.apply(stoa);
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  /// A shared object of a class.
  Object object(Stoa stoa, String className, Object key) {
    return stoa.get(type(className), key);
  }

  /// A shared object of a class, of which the accessors run in the client.
  Object local(Stoa stoa, String className, Object key) {
    return local(stoa, type(className), key);
  }

  private static <T> T local(Stoa stoa, Class<T> type, Object key) {
    return stoa.view(type, stoa.ref(stoa.get(type, key)), new View.Local());
  }

  /// A class of the program.
  Class<?> type(String className) {
    try {
      return loader.loadClass("v." + className);
    } catch (ClassNotFoundException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /// Calls the static method of a name without parameters.
  @Nullable Object callStatic(String className, String name) {
    try {
      return loader.loadClass("v." + className).getMethod(name).invoke(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /// Calls the method of a name.
  ///
  /// @throws RuntimeException what it throws
  static @Nullable Object call(Object target, String name, @Nullable Object... arguments) {
    for (Class<?> c = target.getClass(); c != null; c = c.getSuperclass()) {
      for (Method method : c.getDeclaredMethods()) {
        boolean same = method.getName().equals(name) && !method.isBridge();
        if (!same || method.getParameterCount() != arguments.length) continue;
        method.setAccessible(true);
        return invoked(method, target, arguments);
      }
    }
    throw new IllegalArgumentException(target.getClass() + " has no method " + name);
  }

  private static @Nullable Object invoked(
      Method method, Object target, @Nullable Object[] arguments) {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      if (e.getCause() instanceof RuntimeException thrown) throw thrown;
      if (e.getCause() instanceof Error error) throw error;
      throw new IllegalStateException(e.getCause());
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String text) {
      super(uri(text), Kind.SOURCE);
      this.text = HEAD + text;
    }

    private static URI uri(String text) {
      Matcher matcher = NAME.matcher(text);
      if (!matcher.find()) throw new IllegalArgumentException(text);
      return URI.create("string:///v/" + matcher.group(1) + ".java");
    }

    @Override
    public CharSequence getCharContent(boolean ignored) {
      return text;
    }
  }
}
