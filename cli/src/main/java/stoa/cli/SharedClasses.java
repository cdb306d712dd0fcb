package stoa.cli;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.KeyHandler;
import stoa.Shared;
import stoa.StoaException;
import stoa.front.ClassNames;
import stoa.front.code.CodeVersion;
import stoa.front.types.HandlerType;
import stoa.front.types.SharedType;
import stoa.weave.UserClasses;

/// The shared classes of some jar files and directories, with all class files that these need.
///
/// @param types the stored names of the types; and [ClassNames#HANDLER] with the name of each class
///   of handlers of keys
/// @param files the class files by the binary names of their classes
/// @param refusals why shared classes cannot be used, as `CLASS: REASON`
record SharedClasses(
    SortedSet<String> types, SortedMap<String, byte[]> files, List<String> refusals) {
  private static final String MARK = Shared.class.descriptorString();
  private static final String HANDLER = KeyHandler.class.getName().replace('.', '/');
  private static final String SUFFIX = ".class";

  /// Reads jar files and directories.
  ///
  /// @throws IllegalArgumentException when one of them cannot be read, or none has a shared class
  static SharedClasses of(List<Path> path) {
    var found = new SharedClasses(new TreeSet<>(), new TreeMap<>(), new ArrayList<>());
    try (var loader = UserClasses.open(path, _ -> {})) {
      SortedSet<String> names = names(path);
      if (names.isEmpty()) {
        throw new IllegalArgumentException(
            "no class with @Shared, and none of handlers, is in "
                + path
                + "; name the jar file of the program");
      }
      String places = path.stream().map(Path::toString).collect(Collectors.joining(", "));
      for (String name : names) found.add(name, loader, places);
    } catch (IOException unreadable) {
      throw new IllegalArgumentException(path + " cannot be read: " + unreadable, unreadable);
    }
    return found;
  }

  /// Returns the binary names of the shared classes in jar files and directories.
  ///
  /// @throws IllegalArgumentException when one of these cannot be read
  static SortedSet<String> names(List<Path> path) {
    var names = new TreeSet<String>();
    try {
      for (Path place : path) {
        if (Files.isDirectory(place)) searchDirectory(place, names);
        else searchJar(place, names);
      }
    } catch (IOException unreadable) {
      throw new IllegalArgumentException(path + " cannot be read: " + unreadable, unreadable);
    }
    return names;
  }

  private void add(String name, ClassLoader loader, String places) {
    try {
      Class<?> face = Class.forName(name, false, loader);
      if (!face.isAnnotationPresent(Shared.class)) {
        addHandler(face);
        return;
      }
      SharedType type = SharedType.of(face);
      CodeVersion version = CodeVersion.of(type.implementation());
      if (version.name() == null) return; // one of Stoa's own
      files.putAll(version.files());
      files.putAll(CodeVersion.of(face).files());
      types.add(type.name());
    } catch (StoaException | ClassNotFoundException | LinkageError unusable) {
      refusals.add(name + ": " + reason(unusable, places));
    }
  }

  private void addHandler(Class<?> type) {
    if (!HandlerType.mayBe(type)) return;
    CodeVersion version = CodeVersion.of(HandlerType.of(type).implementation());
    if (version.name() == null) return; // one of Stoa's own
    files.putAll(version.files());
    types.add(ClassNames.HANDLER + type.getName());
  }

  private static @Nullable String reason(Throwable unusable, String places) {
    boolean lacks =
        unusable instanceof NoClassDefFoundError
            && unusable.getCause() instanceof ClassNotFoundException;
    return lacks
        ? "%s has no class %s, which it needs; add that class, or the jar that has it"
            .formatted(places, String.valueOf(unusable.getMessage()).replace('/', '.'))
        : unusable.getMessage();
  }

  private static void searchJar(Path jar, SortedSet<String> names) throws IOException {
    try (var file = new JarFile(jar.toFile())) {
      for (var entries = file.entries(); entries.hasMoreElements(); ) {
        var entry = entries.nextElement();
        if (!isClass(entry.getName())) continue;
        try (InputStream in = file.getInputStream(entry)) {
          look(entry.getName(), in.readAllBytes(), names);
        }
      }
    }
  }

  private static void searchDirectory(Path directory, SortedSet<String> names) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String name = directory.relativize(file).toString().replace('\\', '/');
        if (isClass(name)) look(name, Files.readAllBytes(file), names);
      }
    }
  }

  private static boolean isClass(String file) {
    return file.endsWith(SUFFIX) && !file.endsWith("-info.class") && !file.startsWith("META-INF/");
  }

  private static void look(String name, byte[] file, SortedSet<String> names) {
    try {
      ClassModel type = ClassFile.of().parse(file);
      boolean isShared =
          type.findAttribute(Attributes.runtimeVisibleAnnotations()).stream()
              .flatMap(all -> all.annotations().stream())
              .anyMatch(one -> one.className().equalsString(MARK));
      boolean isHandler =
          type.interfaces().stream().anyMatch(one -> one.asInternalName().equals(HANDLER));
      if (isShared || isHandler)
        names.add(name.substring(0, name.length() - SUFFIX.length()).replace('/', '.'));
    } catch (IllegalArgumentException damaged) {
      throw new IllegalArgumentException(
          name + " is no class file that this Java can read: " + damaged.getMessage(), damaged);
    }
  }
}
