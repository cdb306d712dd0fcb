package stoa.objects;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.KeyHandler;
import stoa.NotShareable;
import stoa.StoaException;
import stoa.base.StreamId;
import stoa.front.code.CodeVersion;
import stoa.front.code.StoredClasses;
import stoa.front.types.HandlerType;

/// The code of the handlers of keys: its versions in the log, and those that this process has
/// loaded. Thread-safe; may wait for the disk.
///
/// A registration names the version of its handler's code by the number of its activation. The
/// handler runs in this code until its listener is gone, on every replica. The classes are those of
/// the program when it has the same version, and otherwise come from the log.
final class HandlerCodes {
  private final Catalog catalog;
  private final Codes codes;

  // A listener that has run keeps the code of its handler; this limits the others. The class of the
  // program counts as no version.
  private final StoredCodes loaded = new StoredCodes(this::load, code -> !code.isStored(), _ -> {});
  private final ReentrantLock lock = new ReentrantLock();

  HandlerCodes(Catalog catalog, Codes codes) {
    this.catalog = catalog;
    this.codes = codes;
  }

  /// Returns the versions in the log.
  Codes codes() {
    return codes;
  }

  // ---- the code of registrations

  /// Returns the code of a number in a registration; 0 is that of the program.
  ///
  /// @throws Corrupt when the log has no such code
  LoadedCode at(int number) {
    if (number == 0) return catalog.program();
    Codes.Activation activation = codes.find(number);
    if (activation == null) {
      catalog.learnNames();
      activation = codes.find(number);
    }
    if (activation == null) {
      throw new Corrupt("a listener names the code " + number + ", which is unknown");
    }
    return loaded.get(activation);
  }

  private LoadedCode load(Codes.Activation activation) {
    Class<?> own = ofProgram(activation.type());
    if (own != null && activation.version().equals(CodeVersion.of(own).name())) {
      try {
        register(own, catalog.program());
        return catalog.program();
      } catch (NotShareable unfit) {
        // The program has other classes of its values, which the log has described meanwhile.
      }
    }
    String name = "handler " + activation.type() + " " + activation.version();
    StoredClasses classes = catalog.classes(name, codes.files(activation));
    LoadedCode code =
        LoadedCode.stored(catalog, catalog.dictionary(), activation.number(), classes);
    register(inCode(activation.type(), classes), code);
    return code;
  }

  private @Nullable Class<?> ofProgram(String className) {
    try {
      return Class.forName(className, false, catalog.loader());
    } catch (ClassNotFoundException | LinkageError lacking) {
      return null;
    }
  }

  private static Class<?> inCode(String className, StoredClasses classes) {
    try {
      return Class.forName(className, false, classes);
    } catch (ClassNotFoundException lost) {
      throw new NotShareable(className + " is not in its own version", lost);
    }
  }

  /// Registers the classes that a handler's declaration names with the code of the handler.
  private static void register(Class<?> handler, LoadedCode code) {
    HandlerType.of(handler).named().forEach(code.marshaller()::register);
  }

  /// Returns the code whose classes a loader has created; null when it is not that of a handler.
  @Nullable LoadedCode of(StoredClasses loader) {
    return loaded.find(loader);
  }

  // ---- the newest versions

  /// Returns whether the newest version of some handler's code has a class, which the program
  /// lacks.
  boolean has(String className) {
    return newest().anyMatch(code -> code.has(className));
  }

  /// Returns whether the newest version of a handler's code has a class.
  boolean has(String handler, String className) {
    Class<?> own = ofProgram(handler);
    LoadedCode code = at(codes.of(handler).getLast().number());
    return (code.isStored() || own == null)
        ? code.has(className)
        : CodeVersion.of(own).has(className);
  }

  /// Returns the newest code of each class of handlers, as far as it can be used here.
  Stream<LoadedCode> newest() {
    var newest = new ArrayList<LoadedCode>();
    for (String className : codes.types()) {
      try {
        newest.add(at(codes.of(className).getLast().number()));
      } catch (StoaException unusable) {
        // The caller asks for another class.
      }
    }
    return newest.stream();
  }

  // ---- registrations

  /// Returns the number of the code that executes a handler of the program. A version that the
  /// store has never had becomes the newest one. Logs, and therefore waits.
  ///
  /// @param asked whether the program itself registers the handler, and not a client
  int numberOf(Class<?> handler, boolean asked) {
    CodeVersion version = CodeVersion.of(handler);
    StreamId name = version.name();
    if (name == null) return 0; // a class of Stoa itself
    lock.lock();
    try {
      List<Codes.Activation> earlier = codes.of(handler.getName());
      Codes.Activation last = earlier.isEmpty() ? null : earlier.getLast();
      if (last != null) {
        boolean isKnown = earlier.stream().anyMatch(one -> one.version().equals(name));
        if (last.version().equals(name) || (isKnown && !asked)) return last.number();
      }
      register(handler, catalog.program());
      return codes.activate(handler.getName(), version, earlier).number();
    } finally {
      lock.unlock();
    }
  }

  /// Returns the number of the code that executes a client's handler, after reading the handler in
  /// this code.
  ///
  /// @param decode decodes the handler in some code
  /// @throws NotShareable when neither the program nor the log has the class, or when it is none of
  ///   handlers
  int numberOf(Function<LoadedCode, @Nullable Object> decode) {
    Object read;
    try {
      read = decode.apply(catalog.program());
    } catch (NotShareable absent) {
      return stored(decode, absent);
    }
    if (!(read instanceof KeyHandler<?, ?> handler)) {
      throw new NotShareable("what is to be registered is no KeyHandler");
    }
    int number = numberOf(HandlerType.of(handler.getClass()).implementation(), false);
    LoadedCode code = at(number);
    if (code.isStored()) {
      Object _ = decode.apply(code);
    }
    return number;
  }

  private int stored(Function<LoadedCode, @Nullable Object> decode, NotShareable absent) {
    for (String className : codes.types()) {
      int number = codes.of(className).getLast().number();
      try {
        Object read = decode.apply(at(number));
        if (read != null && read.getClass().getName().equals(className)) return number;
      } catch (NotShareable | Corrupt other) {
        absent.addSuppressed(other);
      }
    }
    throw new NotShareable(
        "the server has no code of a handler: "
            + absent.getMessage()
            + "; put the class of the handler on the server's class path or deploy it with ./stoa"
            + " deploy, and register again",
        absent);
  }

  // ---- deployments

  /// Tries a class of handlers from class files, of which nothing is logged.
  ///
  /// @throws NotShareable when it cannot be one, or does not fit what is stored
  void checkFits(Class<?> handler, TentativeIds ids) {
    var classes = (StoredClasses) handler.getClassLoader();
    register(handler, LoadedCode.tried(catalog, catalog.dictionary(), ids, classes));
  }

  /// Makes a class of handlers, which [#checkFits] has taken, the newest of its name: listeners
  /// that register from now on use it.
  ///
  /// @param replaces whether it takes the place of an earlier version
  void activate(Class<?> handler, boolean replaces) {
    CodeVersion version = CodeVersion.of(handler);
    lock.lock();
    try {
      List<Codes.Activation> earlier = codes.of(handler.getName());
      boolean stays = !earlier.isEmpty() && !replaces;
      if (stays || isNewest(version, earlier)) return;
      var _ = at(codes.activate(handler.getName(), version, earlier).number());
    } finally {
      lock.unlock();
    }
  }

  /// Returns whether a version is the newest one.
  static boolean isNewest(CodeVersion version, List<Codes.Activation> earlier) {
    return !earlier.isEmpty() && earlier.getLast().version().equals(version.name());
  }
}
