package stoa.http;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Shared;
import stoa.StoaException;
import stoa.base.StreamId;
import stoa.front.code.CodeVersion;
import stoa.front.code.StoredClasses;
import stoa.front.types.SharedType;
import stoa.spi.ClassWeaver;

/// The shared types that a store can have now, as classes: those of the server's class path, and
/// those of other code that the store executes. Immutable and thread-safe.
final class SharedCode {
  private static final Logger LOG = LoggerFactory.getLogger(SharedCode.class);

  private final SortedMap<String, String> active;
  private final ClassLoader loader;
  private final ClassLoader own;
  private final SortedMap<String, SharedType> types;

  private SharedCode(
      SortedMap<String, String> active,
      ClassLoader loader,
      ClassLoader own,
      SortedMap<String, SharedType> types) {
    this.active = active;
    this.loader = loader;
    this.own = own;
    this.types = types;
  }

  /// Finds the types.
  ///
  /// @param active the active version of each type
  /// @param source has their class files
  /// @param loader has the classes of the server
  /// @param names the shared classes among them
  static SharedCode of(
      SortedMap<String, String> active,
      CodeSource source,
      ClassLoader loader,
      Collection<String> names) {
    var types = new TreeMap<String, SharedType>();
    for (String name : names) add(types, name, loader);
    var files = new HashMap<String, byte[]>();
    var stored = new TreeMap<String, String>();
    active.forEach((type, version) -> {
      SharedType here = types.get(type);
      if (here != null && version.equals(version(here))) return;
      files.putAll(source.files(type, version));
      stored.put(type, version);
    });
    if (files.isEmpty()) return new SharedCode(active, loader, loader, types);
    UnaryOperator<byte[]> weaver =
        loader instanceof ClassWeaver weaving ? weaving::woven : UnaryOperator.identity();
    var classes = new StoredClasses("the code of the store", files, loader, weaver);
    var found = new TreeMap<String, SharedType>();
    for (String name : files.keySet()) add(found, name, classes);
    for (String type : stored.keySet()) {
      SharedType there = found.get(type);
      if (there != null) types.put(type, there);
    }
    return new SharedCode(active, classes, loader, types);
  }

  private static @Nullable String version(SharedType type) {
    StreamId name = CodeVersion.of(type.implementation()).name();
    return name == null ? null : name.toString();
  }

  private static void add(Map<String, SharedType> types, String name, ClassLoader loader) {
    try {
      Class<?> face = Class.forName(name, false, loader);
      if (!face.isAnnotationPresent(Shared.class)) return;
      SharedType type = SharedType.of(face);
      types.putIfAbsent(type.name(), type);
    } catch (StoaException | ClassNotFoundException | LinkageError unusable) {
      LOG.debug("{} is no shared class that this server can use", name, unusable);
    }
  }

  /// Returns the active version of each type that it was made of.
  SortedMap<String, String> active() {
    return active;
  }

  /// Returns the loader of the types.
  ClassLoader loader() {
    return loader;
  }

  /// Returns a loader of the classes of keys: those of the JDK, of the class path for users, and of
  /// the store's code.
  ClassLoader keys() {
    return new ClassLoader(null) {
      @Override
      protected Class<?> findClass(String name) throws ClassNotFoundException {
        Class<?> found = Class.forName(name, false, loader);
        ClassLoader of = found.getClassLoader();
        if (loader.equals(of) || own.equals(of)) return found;
        throw new ClassNotFoundException(name + " is no class for keys");
      }
    };
  }

  /// Returns the types by their stored names.
  SortedMap<String, SharedType> types() {
    return types;
  }
}
