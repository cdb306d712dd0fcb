package stoa.objects;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import stoa.Blob;
import stoa.KeyHandler;
import stoa.NotShareable;
import stoa.Ref;
import stoa.Shared;
import stoa.front.ClassNames;
import stoa.front.SharedBlob;
import stoa.front.types.HandlerType;
import stoa.front.types.Platform;
import stoa.spi.Collections;
import stoa.spi.Facade;

/// The names that clients and the store refer to by number, and their classes. Thread-safe; may
/// wait for the disk.
///
/// A client's name finds a class only among those that the store would use itself: the store loads
/// it without initializing it, and the class must be shared, known, or admissible.
public final class Naming {
  private final Catalog catalog;
  private final Predicate<Class<?>> admissible;
  private final ClassLoader ofProgram;
  private final ConcurrentHashMap<LoadedCode, ClassLoader> ofStored = new ConcurrentHashMap<>();

  Naming(Catalog catalog, Predicate<Class<?>> admissible) {
    this.catalog = catalog;
    this.admissible = admissible;
    this.ofProgram = keysOfProgram();
  }

  /// Returns the numbers of names, in their order. A name without a number gets one, if it names a
  /// method of a shared class in use.
  ///
  /// @throws NotShareable when the store would not number it
  public List<Integer> numbers(List<String> names) {
    var numbers = new ArrayList<Integer>(names.size());
    for (String name : names) {
      if (catalog.dictionary().find(name) == null && !isMethod(name)) {
        throw new NotShareable(
            "the server has no name "
                + name
                + "; its classes differ from the client's: put the same ones on its class path");
      }
      numbers.add(catalog.dictionary().idOf(name));
    }
    return numbers;
  }

  /// Registers a class that another group of the store uses.
  ///
  /// @throws NotShareable when the store has no such class, or would not accept it from clients
  void useOfGroup(String className) {
    if (catalog.foreign().finds(className)) return;
    Class<?> type = find(className);
    if (type == Blob.class || type.isAnnotationPresent(Shared.class)) {
      use(className);
    } else if (!catalog.marshaller().isRegistered(type)) {
      boolean known =
          type.isArray()
              || Platform.has(type)
              || Throwable.class.isAssignableFrom(type)
              || isOfStoa(type)
              || admissible.test(type);
      if (!known) refuse(className, "put it on --classpath, or list it with --type");
      catalog.marshaller().register(type);
    }
  }

  /// Returns the number of a name that another group uses.
  ///
  /// @throws NotShareable when the store would not number it itself
  int numberOfGroup(String name) {
    if (catalog.dictionary().find(name) == null) {
      if (name.startsWith(ClassNames.CLASS)) useOfGroup(name.substring(name.lastIndexOf(' ') + 1));
      else useAgain(name);
    }
    return numbers(List.of(name)).getFirst();
  }

  /// Waits until the classes of a type are registered. While another thread does that, they have
  /// their numbers before the other names of the type.
  ///
  /// @param name that contains the stored name of the type
  private void useAgain(String name) {
    String type = name.substring(name.indexOf(' ') + 1);
    int face = type.indexOf(ClassNames.FACE);
    if (face >= 0) type = type.substring(0, face);
    int fields = type.indexOf('{'); // an earlier leader may have logged the class, and no schema
    if (fields >= 0) type = type.substring(0, fields);
    for (String className : catalog.dictionary().after(ClassNames.CLASS + type + " ")) {
      try {
        useOfGroup(className);
      } catch (NotShareable gone) {
        // A later class may have the type's name.
      }
    }
  }

  private boolean isMethod(String name) {
    int hash = name.indexOf('#');
    return name.startsWith(ClassNames.METHOD)
        && hash > 0
        && catalog.hasMethod(
            name.substring(ClassNames.METHOD.length(), hash), name.substring(hash + 1));
  }

  /// Returns the names from a number on.
  ///
  /// @param countMax the most names to return
  public List<String> from(int number, int countMax) {
    return catalog.dictionary().from(number, countMax);
  }

  /// Registers a class that a client uses.
  ///
  /// @throws NotShareable when the store has no such class, or does not accept it from a client
  public void use(String className) {
    if (catalog.foreign().finds(className)) return;
    Class<?> type = find(className);
    if (type == Blob.class) {
      catalog.marshaller().register(SharedBlob.class);
    } else if (type.isAnnotationPresent(Shared.class)) {
      var _ = catalog.served(type);
      catalog.marshaller().register(type);
    } else if (!Platform.has(type) && !isOfStoa(type) && !catalog.marshaller().isRegistered(type)) {
      refuse(className, "list it with --type");
    }
  }

  /// Registers a class of a client's values: of the elements of a collection, or in the key-value
  /// store. Collections need the class on the class path; the key-value store has it from the code
  /// of a handler, too.
  ///
  /// @throws NotShareable when the store has no such class, or does not accept it from a client
  public void admit(String className) {
    if (catalog.foreign().finds(className) && catalog.handlers().has(className)) {
      catalog.admitted().admitIn(catalog.loaded().toList(), className);
      return;
    }
    Class<?> type =
        find(
            className,
            "put it on the server's class path; the class of a handler, or of a value that a handler"
                + " uses, can also be deployed with ./stoa deploy, or be brought by the clients of a"
                + " server with --client-classes");
    boolean known =
        Platform.has(type)
            || type.isAnnotationPresent(Shared.class)
            || KeyHandler.class.isAssignableFrom(type)
            || isOfStoa(type)
            || catalog.marshaller().isRegistered(type)
            || admissible.test(type);
    if (!known) refuse(className, "put it on --classpath, or list it with --type");
    if (KeyHandler.class.isAssignableFrom(type))
      HandlerType.of(type).named().forEach(catalog.admitted()::admit);
    else catalog.admitted().admit(type);
  }

  /// Returns a loader of the key classes that clients may use, and of no others: their constructors
  /// create the keys.
  ClassLoader classesOfKeys() {
    return ofProgram;
  }

  private ClassLoader keysOfProgram() {
    ClassLoader all = catalog.loader();
    return new ClassLoader(all) {
      @Override
      protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        Class<?> type = Class.forName(name, false, all);
        boolean known =
            Platform.has(type)
                || catalog.marshaller().isRegistered(type)
                || admissible.test(type)
                || isOfCollections(type);
        if (known) return type;
        throw new ClassNotFoundException(name + " is not on --classpath, and no --type names it");
      }
    };
  }

  /// Returns the loader of key classes for objects whose type is in some code: a version in the log
  /// has the classes of its keys itself.
  ClassLoader classesOfKeys(LoadedCode code) {
    if (!code.isStored()) return ofProgram;
    return ofStored.computeIfAbsent(
        code,
        _ ->
            new ClassLoader(ofProgram) {
              @Override
              protected Class<?> loadClass(String name, boolean resolve)
                  throws ClassNotFoundException {
                return code.has(name)
                    ? Class.forName(name, false, code.loader())
                    : super.loadClass(name, resolve);
              }
            });
  }

  /// Returns whether a class without [Shared] is one of Stoa's own shared objects: blobs,
  /// references and collections.
  static boolean isOfStoa(Class<?> type) {
    return type == Blob.class
        || type == Ref.class
        || Collections.isCollection(type)
        || Facade.class.isAssignableFrom(type);
  }

  private static boolean isOfCollections(Class<?> type) {
    try {
      return Collections.installed().isKey(type);
    } catch (UnsupportedOperationException none) {
      return false;
    }
  }

  private Class<?> find(String className) {
    return find(
        className,
        "put it on the server's class path, deploy it with ./stoa deploy, or start the server with"
            + " --client-classes so that clients bring their classes");
  }

  private Class<?> find(String className, String remedy) {
    try {
      return Class.forName(className, false, catalog.loader());
    } catch (ClassNotFoundException | LinkageError missing) {
      throw new NotShareable("the server has no class " + className + "; " + remedy, missing);
    }
  }

  private static void refuse(String className, String remedy) {
    throw new NotShareable(
        "the server does not take "
            + className
            + " from clients; "
            + remedy
            + " when it is started");
  }
}
