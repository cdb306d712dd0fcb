package stoa.objects;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import stoa.NotShareable;
import stoa.Shared;
import stoa.front.ClassNames;
import stoa.front.code.StoredClasses;
import stoa.front.marshal.Marshaller;
import stoa.front.types.Platform;

/// The classes that values may have beside those of the shared types: for instance, the elements of
/// a collection. A program admits them, and the dictionary keeps their names for later processes.
/// Thread-safe; may wait for the disk.
final class AdmittedClasses {
  private final Dictionary dictionary;
  private final ClassLoader loader;
  private final Marshaller marshaller;
  private final Set<Class<?>> admitted = ConcurrentHashMap.newKeySet();

  /// Admits again the classes that earlier processes have admitted.
  ///
  /// @param loader finds the classes of the program
  /// @param marshaller that of the program's values
  AdmittedClasses(Dictionary dictionary, ClassLoader loader, Marshaller marshaller) {
    this.dictionary = dictionary;
    this.loader = loader;
    this.marshaller = marshaller;
    for (String name : dictionary.after(ClassNames.ADMITTED)) admitAgain(name);
  }

  /// Admits a class of the program, see [stoa.front.Service#admit].
  void admit(Class<?> type) {
    marshaller.register(type);
    if (Platform.has(type) || type.isAnnotationPresent(Shared.class)) return;
    if (admitted.add(type)) {
      var _ = dictionary.idOf(ClassNames.ADMITTED + type.getName());
    }
  }

  /// Admits the class of an argument of a method of a version in the log: the program's class of
  /// that name, if there is one, and in any case those of other versions.
  void admitOfStored(Class<?> type) {
    String name = ClassNames.ADMITTED + type.getName();
    boolean known = Platform.has(type) || type.isAnnotationPresent(Shared.class);
    if (known || dictionary.find(name) != null) return;
    var _ = dictionary.idOf(name);
    admitAgain(type.getName());
  }

  /// Admits a class of each of some versions in the log that has it.
  void admitIn(Iterable<LoadedCode> codes, String className) {
    var _ = dictionary.idOf(ClassNames.ADMITTED + className);
    for (LoadedCode code : codes) {
      for (Class<?> type : code.classesNamed(className)) code.marshaller().register(type);
    }
  }

  /// Admits a class that another process has admitted.
  void admitAgain(String name) {
    try {
      Class<?> type = Class.forName(name, false, loader);
      admitted.add(type);
      marshaller.register(type);
    } catch (ClassNotFoundException | NotShareable gone) {
      // Reading an object with a value of such a class reports it.
    }
  }

  /// Returns whether values may have a class.
  boolean has(Class<?> type) {
    return Platform.has(type)
        || type.isAnnotationPresent(Shared.class)
        || Naming.isOfStoa(type)
        || admitted.contains(type)
        || marshaller.isRegistered(type)
        || (type.getClassLoader() instanceof StoredClasses
            && dictionary.find(ClassNames.ADMITTED + type.getName()) != null);
  }

  /// Registers the classes with a marshaller of a version in the log; returns whether any were new.
  boolean registerStored(LoadedCode code, Marshaller to) {
    var classes = new ArrayList<>(in(code.loader(), admitted));
    for (String name : dictionary.after(ClassNames.ADMITTED)) {
      classes.addAll(code.classesNamed(name));
    }
    return register(classes, to);
  }

  /// Registers the program's classes with a marshaller of some code, which may have classes of its
  /// own with the same names; returns whether any were new.
  boolean register(LoadedCode code, Marshaller to) {
    return register(code.isStored() ? in(code.loader(), admitted) : admitted, to);
  }

  private static boolean register(Iterable<Class<?>> classes, Marshaller to) {
    boolean any = false;
    for (Class<?> type : classes) {
      if (to.isRegistered(type)) continue;
      to.register(type);
      any = true;
    }
    return any;
  }

  /// Returns the classes that have the names of some classes in the code of a loader.
  static List<Class<?>> in(ClassLoader loader, Iterable<Class<?>> types) {
    var found = new ArrayList<Class<?>>();
    for (Class<?> type : types) {
      try {
        found.add(Class.forName(type.getName(), false, loader));
      } catch (ClassNotFoundException | LinkageError elsewhere) {
        // The code of that version does not know the class, so it has no value of it.
      }
    }
    return found;
  }
}
