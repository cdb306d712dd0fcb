package stoa.sim.code;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/// A program that is compiled from sources while a test runs, into a directory of class files.
/// Thread-safe.
public final class CompiledProgram {
  private static final Pattern NAME = Pattern.compile("(?:class|record|enum|interface) (\\w+)");
  private final Path directory;
  private final String packageName;
  private final URLClassLoader loader;

  private CompiledProgram(Path directory, String packageName) {
    this.directory = directory;
    this.packageName = packageName;
    loader = loader(directory);
  }

  /// Compiles programs, the one of number 0 in the package `v0` and so on.
  ///
  /// @param directory where the class files go, those of all programs
  /// @param programs of each the sources, each one top-level declaration without package and
  ///   imports
  /// @throws IllegalArgumentException when they do not compile
  public static List<CompiledProgram> all(Path directory, List<List<String>> programs) {
    create(directory);
    var compiled = new ArrayList<CompiledProgram>();
    var files = new ArrayList<JavaFileObject>();
    for (List<String> sources : programs) {
      String packageName = "v" + compiled.size();
      for (String source : sources) files.add(new Source(packageName, source));
      compiled.add(new CompiledProgram(directory, packageName));
    }
    compile(directory, files);
    return compiled;
  }

  /// Compiles one program in the package `v`.
  ///
  /// @param directory where the class files go, beside those that are there
  /// @param sources each one top-level declaration without package and imports
  /// @throws IllegalArgumentException when they do not compile
  public static CompiledProgram of(Path directory, String... sources) {
    create(directory);
    compile(directory, Arrays.stream(sources).map(source -> new Source("v", source)).toList());
    return new CompiledProgram(directory, "v");
  }

  private static void create(Path directory) {
    try {
      Files.createDirectories(directory); // first: a class loader asks what it is
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static void compile(Path directory, List<? extends JavaFileObject> files) {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    var errors = new DiagnosticCollector<JavaFileObject>();
    var options =
        List.of("-cp", System.getProperty("java.class.path"), "-proc:none", "-nowarn", "-g");
    try (var manager = compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8)) {
      manager.setLocation(StandardLocation.CLASS_OUTPUT, List.of(directory.toFile()));
      if (!compiler.getTask(null, manager, errors, options, null, files).call()) {
        throw new IllegalArgumentException(errors.getDiagnostics().toString());
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /// Finds the classes of all programs in a directory.
  public static URLClassLoader loader(Path directory) {
    try {
      URL[] path = {directory.toUri().toURL()};
      return new URLClassLoader(path, CompiledProgram.class.getClassLoader());
    } catch (MalformedURLException impossible) {
      throw new IllegalArgumentException(directory.toString(), impossible);
    }
  }

  /// The class files, by the binary names of their classes.
  public Map<String, byte[]> files() {
    var files = new TreeMap<String, byte[]>();
    try (var found = Files.list(directory.resolve(packageName))) {
      for (Path file : (Iterable<Path>) found::iterator) {
        String name = file.getFileName().toString();
        files.put(
            packageName + "." + name.substring(0, name.length() - ".class".length()),
            Files.readAllBytes(file));
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return files;
  }

  /// A class of the program.
  public Class<?> type(String name) {
    try {
      return loader.loadClass(packageName + "." + name);
    } catch (ClassNotFoundException none) {
      throw new IllegalArgumentException(none);
    }
  }

  /// Runs something as this program: it finds its own classes.
  public <T extends @Nullable Object> T run(Supplier<T> task) {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try {
      return task.get();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  /// Calls the method of a name that has as many parameters as there are arguments.
  ///
  /// @throws RuntimeException what it throws
  public static @Nullable Object call(Object target, String name, @Nullable Object... arguments) {
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

  /// Calls the first of several methods that an object has, with as many of the arguments as the
  /// method takes.
  ///
  /// @throws RuntimeException what it throws
  public static @Nullable Object callFirst(
      Object target, List<String> names, @Nullable Object... arguments) {
    for (String name : names) {
      for (Class<?> c = target.getClass(); c != null; c = c.getSuperclass()) {
        for (Method method : c.getDeclaredMethods()) {
          if (!method.getName().equals(name) || method.isBridge()) continue;
          method.setAccessible(true);
          return invoked(method, target, Arrays.copyOf(arguments, method.getParameterCount()));
        }
      }
    }
    throw new IllegalArgumentException(target.getClass() + " has none of " + names);
  }

  private static @Nullable Object invoked(
      Method method, Object target, @Nullable Object[] arguments) {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException thrown) {
      if (thrown.getCause() instanceof RuntimeException unchecked) throw unchecked;
      if (thrown.getCause() instanceof Error error) throw error;
      throw new IllegalStateException(thrown.getCause());
    } catch (IllegalAccessException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String packageName, String declaration) {
      super(uri(packageName, declaration), Kind.SOURCE);
      text = "package " + packageName + "; import stoa.*; import java.util.*; " + declaration;
    }

    private static URI uri(String packageName, String declaration) {
      Matcher matcher = NAME.matcher(declaration);
      if (!matcher.find()) throw new IllegalArgumentException(declaration);
      return URI.create("string:///" + packageName + "/" + matcher.group(1) + ".java");
    }

    @Override
    public CharSequence getCharContent(boolean ignored) {
      return text;
    }
  }
}
