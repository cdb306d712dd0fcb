package stoa.objects;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.NotShareable;
import stoa.base.StreamId;
import stoa.front.ClassNames;
import stoa.front.Service;
import stoa.front.SharedBlob;
import stoa.front.code.CodeVersion;
import stoa.front.code.StoredClasses;
import stoa.front.marshal.Marshaller;
import stoa.front.marshal.TypeIds;
import stoa.front.types.Platform;
import stoa.front.types.SharedType;

/// The shared types of one version of the code, as classes, and their marshaller. The classes are
/// those of the program, or come from a version in the log.
///
/// The code of one version never sees the objects of another: the first encodes an object for the
/// other, which decodes it. Thread-safe.
final class LoadedCode implements Service.Vocabulary {
  private final Catalog catalog;
  private final Dictionary dictionary;
  private final TypeIds ids;
  private final ClassLoader loader;
  private final Marshaller marshaller;
  private final boolean stored;
  private final ConcurrentHashMap<String, Faces> types = new ConcurrentHashMap<>();
  private final ReentrantLock registering = new ReentrantLock();

  private LoadedCode(
      Catalog catalog, Dictionary dictionary, TypeIds ids, ClassLoader loader, boolean stored) {
    this.catalog = catalog;
    this.dictionary = dictionary;
    this.ids = ids;
    this.loader = loader;
    this.stored = stored;
    this.marshaller = catalog.marshaller(ids, this, loader);
  }

  /// Returns the code of the program.
  static LoadedCode ofProgram(Catalog catalog, Dictionary dictionary, ClassLoader loader) {
    return new LoadedCode(catalog, dictionary, dictionary, loader, false);
  }

  /// Returns the code of a version in the log.
  ///
  /// @param number of an activation
  static LoadedCode stored(
      Catalog catalog, Dictionary dictionary, int number, StoredClasses loader) {
    var ids = new EarlierIds(dictionary);
    ids.extend(number - 1);
    return new LoadedCode(catalog, dictionary, ids, loader, true);
  }

  /// Notes an activation of a version in the log. The code then knows the names from before it, and
  /// so reads what the versions in between have written.
  ///
  /// @param number of the activation
  void noteActivation(int number) {
    if (ids instanceof EarlierIds earlier) earlier.extend(number - 1);
  }

  /// Code that is tried, of which nothing is logged.
  ///
  /// @param ids gives names their numbers meanwhile
  static LoadedCode tried(
      Catalog catalog, Dictionary dictionary, TentativeIds ids, StoredClasses loader) {
    return new LoadedCode(catalog, dictionary, ids, loader, true);
  }

  ClassLoader loader() {
    return loader;
  }

  Marshaller marshaller() {
    return marshaller;
  }

  /// Returns a marshaller of the same values that uses the numbers of another dictionary.
  Marshaller marshaller(TypeIds other) {
    return catalog.marshaller(other, this, loader);
  }

  /// Returns whether it is a version in the log, so that its objects never meet those of the
  /// program.
  boolean isStored() {
    return stored;
  }

  /// Returns whether a class is part of this version.
  boolean has(String className) {
    return loader instanceof StoredClasses classes && classes.has(className);
  }

  /// Returns the class of a name in this version, alone in a list. The list is empty when this
  /// version has no such class, or one that does not load: reading a value of it reports that.
  List<Class<?>> classesNamed(String className) {
    if (!has(className)) return List.of();
    try {
      return List.of(Class.forName(className, false, loader));
    } catch (ClassNotFoundException | LinkageError unusable) {
      return List.of();
    }
  }

  /// Returns whether the program may receive a value that its methods return without a copy.
  boolean mayShare(@Nullable Object value) {
    if (!marshaller.isValue(value)) return false;
    return !stored || isOfPlatform(value);
  }

  /// Returns whether a value contains no class of a version in the log.
  private static boolean isOfPlatform(@Nullable Object value) {
    if (value instanceof List<?> list) return list.stream().allMatch(LoadedCode::isOfPlatform);
    return value == null || Platform.has(value.getClass());
  }

  /// Returns the types that are in use.
  Iterable<Faces> all() {
    return types.values();
  }

  /// Returns the faces of a type, or null when no caller has used it.
  @Nullable Faces find(String name) {
    return types.get(name);
  }

  /// Returns the type of a class of this code.
  ///
  /// @throws NotShareable when the class is not shareable, or does not fit the others of its name
  ObjectType typeOf(Class<?> face) {
    SharedType shared = SharedType.of(face);
    Faces faces = types.get(shared.name());
    ObjectType known = faces == null ? null : faces.find(shared);
    return known == null ? register(shared) : known;
  }

  private ObjectType register(SharedType shared) {
    registering.lock();
    try {
      Faces faces = types.get(shared.name());
      boolean first = faces == null;
      var added = new ArrayList<SharedType>();
      if (faces == null) {
        faces = new Faces(shared.name(), dictionary);
        // The classes must have the methods that calls through other faces have logged.
        for (String className : dictionary.after(ClassNames.CLASS + shared.name() + " ")) {
          SharedType other = ClassNames.face(className, shared, loader);
          if (other == null) continue;
          var _ = add(faces, other);
          added.add(other);
        }
      }
      ObjectType known = faces.find(shared);
      if (known == null) {
        known = add(faces, shared);
        added.add(shared);
      }
      // The program's code, and later code, execute the calls that the log has without one. A class
      // that is refused leaves no name.
      boolean checks = first && (!stored || ids instanceof TentativeIds);
      List<String> accepted = checks ? faces.checkMethods(ids) : List.of();
      for (SharedType one : added) {
        marshaller.register(one);
        var _ = ids.idOf(ClassNames.CLASS + one.name() + " " + one.face().getName());
      }
      for (String loss : accepted) {
        var _ = ids.idOf(loss);
      }
      if (first) types.put(shared.name(), faces);
      return known;
    } finally {
      registering.unlock();
    }
  }

  private ObjectType add(Faces faces, SharedType shared) {
    var type = new ObjectType(this, faces, shared, dictionary, catalog.clock());
    faces.add(type);
    return type;
  }

  /// Returns the version of the class that [#findNamed] finds, null when there is none. Uses no
  /// type: a replica that follows cannot log the names of classes that the leader does not use.
  @Nullable StreamId versionNamed(String name) {
    Faces known = types.get(name);
    if (known != null) return versionOf(known.first().shared());
    for (String className : dictionary.after(ClassNames.CLASS + name + " ").reversed()) {
      try {
        SharedType shared = SharedType.of(Class.forName(className, false, loader));
        if (shared.name().equals(name)) return versionOf(shared);
      } catch (ClassNotFoundException gone) {
        // As in findNamed.
      }
    }
    return null;
  }

  private static @Nullable StreamId versionOf(SharedType type) {
    return CodeVersion.of(type.implementation()).name();
  }

  /// Returns the type of a stored name, through the last class used under it; null when this code
  /// has no such class.
  @Nullable ObjectType findNamed(String name) {
    Faces known = types.get(name);
    if (known != null) return known.first();
    for (String className : dictionary.after(ClassNames.CLASS + name + " ").reversed()) {
      try {
        Class<?> face = Class.forName(className, false, loader);
        if (isOfOtherCode(face)) continue;
        ObjectType type = typeOf(face);
        if (type.shared().name().equals(name))
          return Objects.requireNonNull(types.get(name)).first();
      } catch (ClassNotFoundException gone) {
        // Its class has been renamed: an older or newer name may be there.
      }
    }
    return null;
  }

  /// Returns whether this code is a version in the log and a class belongs to the program. All code
  /// has the same classes of Stoa.
  private boolean isOfOtherCode(Class<?> face) {
    return stored
        && !has(face.getName())
        && CodeVersion.of(SharedType.of(face).implementation()).name() != null;
  }

  /// Returns the type like [#findNamed(String)].
  ///
  /// @throws NotShareable when this code has no such class
  ObjectType typeNamed(String name) {
    ObjectType found = findNamed(name);
    if (found != null) return found;
    List<String> candidates = dictionary.after(ClassNames.CLASS + name + " ").reversed();
    throw new NotShareable(
        "no class for objects stored as "
            + name
            + (candidates.isEmpty() ? "" : ", once " + candidates.getFirst())
            + "; use the class once before, or put it on the class path",
        new ClassNotFoundException(name));
  }

  // ---- the vocabulary of its marshaller

  @Override
  public Service.Target named(String type, Object key) {
    ObjectType active = catalog.typeNamed(type);
    try {
      ObjectType here = findNamed(type);
      return catalog.object(here == null ? active : here, key);
    } catch (NotShareable unfit) {
      return catalog.object(active, key); // the class here does not fit the stored objects
    }
  }

  @Override
  public Service.Target target(Class<?> face, Object key) {
    ObjectType type = typeOf(face);
    var _ = catalog.active(type.shared());
    return catalog.object(type, key);
  }

  @Override
  public Service.BlobTarget blob(Object key, long generation) {
    marshaller.register(SharedBlob.class);
    return catalog.blob(key, generation);
  }

  @Override
  public void admit(Class<?> type) {
    if (!stored) {
      catalog.admitted().admit(type);
      return;
    }
    marshaller.register(type);
    catalog.admitted().admitOfStored(type);
  }

  @Override
  public @Nullable ClassLoader elements() {
    return stored ? loader : null;
  }

  @Override
  public boolean learn() {
    return stored && catalog.admitted().registerStored(this, marshaller);
  }

  // The names in the dictionary are of classes that this store has used, so that no caller decides
  // which classes are loaded.
  @Override
  public @Nullable Class<?> classOf(String name) {
    if (dictionary.find(name) == null) return null;
    String rest = name.substring(name.indexOf(' ') + 1);
    if (name.startsWith(ClassNames.CLASS)) return successor(rest);
    if (rest.equals(Blob.class.getName())) return SharedBlob.class;
    int face = rest.lastIndexOf(ClassNames.FACE);
    Class<?> named = face < 0 ? null : loaded(rest.substring(face + ClassNames.FACE.length()));
    if (named != null) return named;
    ObjectType type = findNamed(rest);
    // An object of other code is known by its reference alone.
    return (type == null ? catalog.typeNamed(rest) : type).shared().face();
  }

  /// Returns the class of a name, or that which the name was changed to or from; null when there is
  /// none.
  private @Nullable Class<?> successor(String name) {
    Class<?> found = loaded(name);
    if (found != null) return found;
    int begin = name.startsWith("[") ? name.indexOf('L') + 1 : 0;
    int end = name.length() - (begin == 0 ? 0 : 1);
    String plain = name.substring(begin, end);
    for (String renaming : dictionary.after("was ")) {
      String now = renaming.substring(0, renaming.indexOf(' '));
      String before = renaming.substring(now.length() + 1);
      if (!plain.equals(now) && !plain.equals(before)) continue;
      String other = plain.equals(now) ? before : now;
      found = loaded(name.substring(0, begin) + other + name.substring(end));
      if (found != null) return found;
    }
    return null;
  }

  private @Nullable Class<?> loaded(String name) {
    try {
      return Class.forName(name, false, loader);
    } catch (ClassNotFoundException | LinkageError lacking) {
      return null; // the caller says what it lacks
    }
  }
}
