package stoa.cli;

import java.nio.file.Path;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.View;
import stoa.sim.code.CompiledProgram;

/// One build of a program: classes that are compiled here, from sources in the package `v`, into a
/// directory of class files. A client that runs as this program finds its classes there.
final class Build {
  private final Path classes;
  private final CompiledProgram program;

  /// @param classes where the class files go, beside those that are there
  /// @param sources each one top-level declaration, without package and imports
  Build(Path classes, String... sources) {
    this.classes = classes;
    this.program = CompiledProgram.of(classes, sources);
  }

  /// The directory of the class files.
  String path() {
    return classes.toString();
  }

  /// Uses a store as a client with these classes.
  <T> T client(String url, Function<Stoa, T> use) {
    return client(StoaConfig.of(url), use);
  }

  /// Uses a store as a client with these classes.
  <T> T client(StoaConfig config, Function<Stoa, T> use) {
    return program.run(() -> {
      try (Stoa stoa = Stoa.open(config)) {
        return use.apply(stoa);
      }
    });
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
    return program.type(className);
  }

  /// Calls the static method of a name without parameters.
  @Nullable Object callStatic(String className, String name) {
    try {
      return type(className).getMethod(name).invoke(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(e);
    }
  }

  /// Calls the method of a name.
  ///
  /// @throws RuntimeException what it throws
  static @Nullable Object call(Object target, String name, @Nullable Object... arguments) {
    return CompiledProgram.call(target, name, arguments);
  }
}
