package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
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
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/// One build of a program: classes that are compiled here, from sources in the package `v`.
final class Program {
  private static final String HEAD = "package v; import stoa.*; import java.util.*; ";
  private static final Pattern NAME = Pattern.compile("(?:class|record|enum|interface) (\\w+)");
  private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

  // Shared, as it remembers what is on the class path.
  private static final StandardJavaFileManager FILES =
      COMPILER.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8);

  // By their sources.
  private static final ConcurrentHashMap<List<String>, Map<String, byte[]>> COMPILED =
      new ConcurrentHashMap<>();

  private final Path classes;
  private final URLClassLoader loader;

  /// @param directory where the classes go
  /// @param sources each one top-level declaration, without package and imports
  Program(Path directory, String... sources) {
    this(directory, path -> new URLClassLoader(path, Program.class.getClassLoader()), sources);
  }

  private Program(Path directory, Function<URL[], URLClassLoader> loaders, String... sources) {
    try {
      classes = directory;
      Files.createDirectories(classes.resolve("v"));
      for (var file : COMPILED.computeIfAbsent(List.of(sources), Program::compiled).entrySet()) {
        Files.write(classes.resolve("v").resolve(file.getKey()), file.getValue());
      }
      loader = loaders.apply(new URL[] {classes.toUri().toURL()});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// A build whose class files a store cannot find, so that the store keeps no version of the code.
  /// Releases before there were versions wrote such stores.
  static Program withoutVersions(Path directory, String... sources) {
    return new Program(directory, Hiding::new, sources);
  }

  /// Has the class files, and does not say where.
  private static final class Hiding extends URLClassLoader {
    Hiding(URL[] path) {
      super(path, Program.class.getClassLoader());
    }

    @Override
    public @Nullable URL getResource(String name) {
      return name.startsWith("v/") ? null : super.getResource(name);
    }

    @Override
    public @Nullable InputStream getResourceAsStream(String name) {
      if (!name.startsWith("v/")) return super.getResourceAsStream(name);
      try {
        URL url = findResource(name);
        return url == null ? null : url.openStream();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /// The class files of some sources, by the names of the files.
  private static Map<String, byte[]> compiled(List<String> sources) {
    var files = new ArrayList<JavaFileObject>();
    for (String source : sources) files.add(new Source(source));
    var errors = new DiagnosticCollector<JavaFileObject>();
    var options =
        List.of("-cp", System.getProperty("java.class.path"), "-proc:none", "-nowarn", "-g");
    var found = new TreeMap<String, byte[]>();
    try {
      Path directory = Files.createTempDirectory("stoa-program");
      synchronized (FILES) {
        FILES.setLocation(StandardLocation.CLASS_OUTPUT, List.of(directory.toFile()));
        boolean compiled = COMPILER.getTask(null, FILES, errors, options, null, files).call();
        assertTrue(compiled, () -> errors.getDiagnostics().toString());
      }
      try (var made = Files.list(directory.resolve("v"))) {
        for (Path file : (Iterable<Path>) made::iterator) {
          found.put(file.getFileName().toString(), Files.readAllBytes(file));
          Files.delete(file);
        }
      }
      Files.delete(directory.resolve("v"));
      Files.delete(directory);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return found;
  }

  /// The class files, by the names of their classes.
  Map<String, byte[]> files() {
    var files = new TreeMap<String, byte[]>();
    try (var found = Files.list(classes.resolve("v"))) {
      for (Path file : (Iterable<Path>) found::iterator) {
        String name = file.getFileName().toString();
        files.put("v." + name.substring(0, name.length() - 6), Files.readAllBytes(file));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files;
  }

  Class<?> type(String name) {
    try {
      return loader.loadClass("v." + name);
    } catch (ClassNotFoundException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /// Runs something as this program: it finds its own classes.
  <T extends @Nullable Object> T run(Supplier<T> task) {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(loader);
    try {
      return task.get();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  /// An instance of a class.
  Object make(String name, @Nullable Object... arguments) {
    var constructor = type(name).getDeclaredConstructors()[0];
    constructor.setAccessible(true);
    try {
      return constructor.newInstance(arguments);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
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
    throw new IllegalArgumentException(
        target.getClass() + " has no " + name + " of " + Arrays.toString(arguments));
  }

  /// Calls the first of several methods that there is.
  static @Nullable Object callFirst(
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
