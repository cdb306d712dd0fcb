package stoa.objects;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Corrupt;
import stoa.NotShareable;
import stoa.Ref;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.base.Decoder;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.front.CallNumbers;
import stoa.front.ClassNames;
import stoa.front.Service;
import stoa.front.SharedBlob;
import stoa.front.SharedKeys;
import stoa.front.SharedReferences;
import stoa.front.SharedStoa;
import stoa.front.code.CodeVersion;
import stoa.front.code.StoredClasses;
import stoa.front.marshal.Marshaller;
import stoa.front.marshal.TypeIds;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;
import stoa.front.types.Platform;
import stoa.front.types.SharedType;
import stoa.spi.CallContext;
import stoa.spi.ClassWeaver;
import stoa.store.Store;
import stoa.store.calls.OngoingCall;

/// The types of a store, their names in the log, and the code that executes their puts.
/// Thread-safe; may wait for the disk.
///
/// A type is known by its stored name. Its classes are those of the program, or come from a version
/// in the log: [ActiveCode] says which of them executes what is put now, and a put's number says
/// which has executed it.
final class Catalog {
  private static final Logger LOG = LoggerFactory.getLogger(Catalog.class);

  private static final int STATE_BYTES_MAX = 512 << 20;

  /// The objects, blobs and handlers that names in the log and in values stand for.
  interface Targets {
    /// Returns an object as the target of calls.
    ObjectTarget object(ObjectType type, Key key);

    /// Returns a blob that a value refers to.
    Service.BlobTarget blob(Object key, long generation);

    /// Returns the key of a blob.
    Key blobKey(Object key);

    /// Creates the handlers of a type, whose puts a code executes.
    ObjectHandler.Factory factory(String name, ActiveCode by);
  }

  private final Store store;
  private final SharedStoa stoa;
  private final Clock clock;
  private final Targets targets;
  private final Dictionary dictionary;
  private final Codes codes;
  private final HandlerCodes handlers;
  private final Marshaller marshaller;
  private final ClassLoader loader;
  private final LoadedCode own;
  private final StoredCodes storedCodes;
  private final AdmittedClasses admitted;
  private final ForeignCode foreign;
  private final ConcurrentHashMap<String, ActiveCode> active = new ConcurrentHashMap<>();
  // By the numbers of code in puts: types of the program, and of versions that are kept.
  private final ConcurrentHashMap<Integer, ObjectType> numbered = new ConcurrentHashMap<>();
  // The indexes that code lacks, by its number.
  private final ConcurrentHashMap<Integer, List<String>> dropped = new ConcurrentHashMap<>();
  // The numbers of the first activations, by type.
  private final ConcurrentHashMap<String, Integer> firsts = new ConcurrentHashMap<>();
  private final ReentrantLock settling = new ReentrantLock();
  private final List<Class<?>> extraTypes;
  // True when this process takes calls, and does not only follow.
  private volatile boolean leads;

  /// @param stoa the store as programs use it
  /// @param others finds code at the other servers; null when there are none
  /// @param loader finds the classes of the program
  Catalog(
      StoaConfig config,
      Store store,
      SharedStoa stoa,
      CodeOfOthers.@Nullable Source others,
      Clock clock,
      ClassLoader loader,
      Targets targets) {
    this.store = store;
    this.stoa = stoa;
    this.clock = clock;
    this.targets = targets;
    dictionary = new Dictionary(store, config.accepted());
    this.loader = loader;
    extraTypes = config.types();
    codes = new Codes(store, dictionary, Codes.CODE);
    storedCodes = new StoredCodes(this::load, this::isActive, this::forget);
    handlers = new HandlerCodes(this, new Codes(store, dictionary, Codes.HANDLER));
    own = LoadedCode.ofProgram(this, dictionary, loader);
    marshaller = own.marshaller();
    admitted = new AdmittedClasses(dictionary, loader, marshaller);
    foreign = new ForeignCode(this, store, others);
  }

  /// Notes that from now on what is put names its code: this process takes calls.
  void lead() {
    leads = true;
  }

  /// Returns whether this process takes calls, and does not only follow.
  boolean leads() {
    return leads;
  }

  Clock clock() {
    return clock;
  }

  /// A marshaller of a code's values that speaks in the numbers of some dictionary.
  ///
  /// @param classes finds the classes of keys and of values
  Marshaller marshaller(TypeIds ids, LoadedCode code, ClassLoader classes) {
    List<Class<?>> extra =
        classes.equals(loader) ? extraTypes : AdmittedClasses.in(classes, extraTypes);
    var references = new SharedReferences(stoa, code);
    return new Marshaller(ids, references, SharedBlob.class, extra, classes, STATE_BYTES_MAX);
  }

  /// Returns the code of the program.
  LoadedCode program() {
    return own;
  }

  /// Registers all classes of a code with another marshaller; returns whether any were new.
  boolean registerAll(LoadedCode code, Marshaller other) {
    boolean any = false;
    for (Faces faces : code.all()) {
      for (SharedType type : faces.all()) any |= other.learn(type);
    }
    any |= admitted.register(code, other);
    return any;
  }

  /// Returns a key of the log.
  Key key(String space, byte[] name) {
    if (space.equals(SharedStoa.BLOBS)) return targets.blobKey(Keys.decode(name, loader));
    if (space.equals(SharedKeys.SPACE)) return KeyValues.key(name, loader);
    if (space.startsWith("stoa/")) return new Key(space, name, space);
    ObjectType type = typeNamed(space);
    return type.key(Keys.decode(name, type.code().loader()));
  }

  /// Returns an object as the target of calls.
  ObjectTarget object(ObjectType type, Object key) {
    return targets.object(type, type.key(key));
  }

  /// Returns an object as the target of calls.
  ObjectTarget object(ObjectType type, Key key) {
    return targets.object(type, key);
  }

  /// Returns a blob that a value refers to.
  Service.BlobTarget blob(Object key, long generation) {
    return targets.blob(key, generation);
  }

  /// Creates the handlers of a type.
  ///
  /// @param by the code that executes its puts
  ObjectHandler.Factory factory(String name, ActiveCode by) {
    return targets.factory(name, by);
  }

  /// Reads the names that another process has logged since the last call.
  void learnNames() {
    for (String name : dictionary.learn()) {
      if (name.startsWith(ClassNames.ADMITTED)) {
        admitted.admitAgain(name.substring(ClassNames.ADMITTED.length()));
      } else if (name.startsWith(Codes.CODE)) {
        active.values().forEach(ActiveCode::unsettle);
      }
    }
  }

  /// Returns the id of the method that a call makes; empty when it calls none.
  String methodOf(OngoingCall call) {
    if (call.query() instanceof ObjectHandler.Question question) return question.method().id();
    byte[] put = call.value();
    return put == null ? "" : methodOf(call.key(), put);
  }

  /// Returns the id of the method that a put calls; empty when it calls none, or when the id is
  /// unknown.
  String methodOf(Key key, byte[] put) {
    if (key.space().equals(SharedKeys.SPACE)) return KeyCommand.decoded(put).word();
    int number = (int) new Decoder(put).varint();
    String name = CallNumbers.isMethod(number) ? dictionary.nameOf(number - 1) : null;
    String prefix = ClassNames.methods(key.space());
    return name == null || !name.startsWith(prefix) ? "" : name.substring(prefix.length());
  }

  /// Returns the classes that values may have beside those of the shared types.
  AdmittedClasses admitted() {
    return admitted;
  }

  /// Returns the code of classes that the program lacks.
  ForeignCode foreign() {
    return foreign;
  }

  Marshaller marshaller() {
    return marshaller;
  }

  ClassLoader loader() {
    return loader;
  }

  Dictionary dictionary() {
    return dictionary;
  }

  /// Returns whether a caller has used a type since this process opened the store.
  boolean isKnown(String type) {
    return active.containsKey(type);
  }

  /// Returns whether a type has a method, in a class that is or was used with this store.
  boolean hasMethod(String type, String method) {
    if (isMethodInUse(type, method)) return true;
    for (String className : dictionary.after(ClassNames.CLASS + type + " ")) {
      try {
        var _ = served(Class.forName(className, false, loader));
      } catch (ClassNotFoundException | LinkageError | NotShareable gone) {
        // The class was renamed, or is no longer shared: another class may have the method.
      }
    }
    try {
      var _ = active(type); // the log has the class, perhaps, which the program lacks
    } catch (NotShareable unknown) {
      return false;
    }
    return isMethodInUse(type, method);
  }

  private boolean isMethodInUse(String type, String method) {
    Faces known = own.find(type);
    if (known != null && known.hasMethod(method)) return true;
    ActiveCode code = active.get(type);
    Faces stored = code == null ? null : code.now().type().code().find(type);
    return stored != null && stored.hasMethod(method);
  }

  /// Names the indexes of a class in front of its activation, for [#droppedIndexes].
  private void nameIndexes(SharedType type) {
    for (IndexedMember member : type.indexes()) {
      var _ = dictionary.idOf(ClassNames.INDEX + type.name() + " " + member.id());
    }
  }

  /// Returns the ids of the indexes that earlier code of a type had, and that the code of a number
  /// does not have.
  List<String> droppedIndexes(ObjectType type, int number) {
    if (number <= 0) return List.of();
    return dropped.computeIfAbsent(
        number,
        _ -> {
          String prefix = ClassNames.INDEX + type.shared().name() + " ";
          var found = new java.util.TreeSet<String>();
          dictionary.each((name, at) -> {
            if (at < number && name.startsWith(prefix)) found.add(name.substring(prefix.length()));
          });
          for (IndexedMember member : type.shared().indexes()) found.remove(member.id());
          return List.copyOf(found);
        });
  }

  // ---- types, and the code that executes their puts

  /// Returns the type of a class that the program or the code of a version uses. A class of the
  /// program becomes active.
  ///
  /// @throws NotShareable when it is not shareable, or does not fit the stored objects
  ObjectType typeOf(Class<?> face) {
    if (face.getClassLoader() instanceof StoredClasses loaded) {
      LoadedCode handler = handlers.of(loaded);
      ObjectType stored = (handler == null ? codeOf(loaded) : handler).typeOf(face);
      var _ = active(stored.shared());
      return stored;
    }
    SharedType shared = SharedType.of(face);
    if (shared.name().equals(SharedStoa.BLOBS) || shared.name().startsWith("stoa/")) {
      throw new NotShareable(
          face.getName() + " is stored as " + shared.name() + "; give it another name in @Shared");
    }
    ObjectType type = own.typeOf(face);
    ActiveCode known = active.get(shared.name());
    // A running method is not the program: it may be a past call, or belong to a class of the
    // program that others have replaced.
    boolean asked = !CallContext.CURRENT.isBound();
    if (known == null
        || !known.now().settled()
        || (asked && known.now().type().code().isStored())) {
      settle(shared.name(), type, asked);
    }
    return type;
  }

  /// Returns the type of a program's class that a client or another group names, in the code that
  /// executes its puts.
  ///
  /// @throws NotShareable when it is not shareable, or neither the class nor the log fits the
  ///   stored objects
  ObjectType served(Class<?> face) {
    String name = SharedType.of(face).name();
    ActiveCode known = active.get(name);
    ObjectType type = null;
    try {
      type = own.typeOf(face);
    } catch (NotShareable unfit) {
      // The log may have other code for it, which stays active.
      boolean isStored = known == null || known.now().type().code().isStored();
      if (!isStored || codes.of(name).isEmpty()) throw unfit;
    }
    if (known == null || !known.now().settled()) known = settle(name, type, false);
    return known.now().type();
  }

  private LoadedCode codeOf(StoredClasses loader) {
    ObjectContext running = ObjectContext.current();
    if (running != null && running.code().loader().equals(loader)) return running.code();
    LoadedCode code = storedCodes.find(loader);
    if (code != null) return code;
    throw new IllegalStateException(loader + " belongs to no code of this store");
  }

  /// Returns the type of a stored name, in the code that executes its puts.
  ///
  /// @throws NotShareable when neither the program nor the log has a class for it
  ObjectType typeNamed(String name) {
    return active(name).now().type();
  }

  /// Returns the code that executes the puts of a type now.
  ActiveCode active(String name) {
    ActiveCode known = active.get(name);
    if (known != null && known.now().settled()) return known;
    return settle(name, null, false);
  }

  /// Returns the type of a stored name in the code of a number in puts.
  ///
  /// @throws Corrupt when the log has no such code
  ObjectType typeAt(String name, int number) {
    ActiveCode.Now now = active(name).now();
    if (now.number() == number) return now.type();
    if (number == 0) return typeBefore(name, now);
    ObjectType known = numbered.get(number);
    if (known != null) return known;
    Codes.Activation activation = codes.find(number);
    if (activation == null) {
      learnNames();
      activation = codes.find(number);
    }
    if (activation == null || !activation.type().equals(name)) {
      throw new Corrupt("a put on " + name + " names the code " + number + ", which is unknown");
    }
    ObjectType type = typeOf(activation);
    numbered.put(number, type);
    LoadedCode code = type.code();
    if (code.isStored() && !storedCodes.keeps(code)) numbered.remove(number, type);
    return type;
  }

  /// Returns the type in the code of puts without a version. Earlier releases of Stoa kept no
  /// versions; the first version in the log is the code that executed those puts when Stoa began to
  /// keep versions.
  private ObjectType typeBefore(String name, ActiveCode.Now now) {
    Integer first = firsts.get(name);
    if (first == null) {
      List<Codes.Activation> activations = codes.of(name);
      if (activations.isEmpty()) return now.type();
      first = activations.getFirst().number();
      firsts.put(name, first);
    }
    return typeAt(name, first);
  }

  /// Returns the type in the version of an activation: the program's type when it has the same
  /// classes.
  private ObjectType typeOf(Codes.Activation activation) {
    ObjectType program = null;
    try {
      boolean isSame = activation.version().equals(own.versionNamed(activation.type()));
      if (isSame) program = own.findNamed(activation.type());
    } catch (NotShareable refused) {
      // The program's class does not fit the stored objects, so it is another version.
    }
    if (program != null) return program;
    return stored(activation).typeNamed(activation.type());
  }

  private LoadedCode stored(Codes.Activation activation) {
    return storedCodes.get(activation);
  }

  private LoadedCode load(Codes.Activation activation) {
    String name = "code " + activation.type() + " " + activation.version();
    StoredClasses classes = classes(name, codes.files(activation));
    return LoadedCode.stored(this, dictionary, activation.number(), classes);
  }

  private boolean isActive(LoadedCode code) {
    return active.values().stream().anyMatch(one -> one.now().type().code().equals(code));
  }

  private void forget(LoadedCode code) {
    numbered.values().removeIf(type -> type.code().equals(code));
  }

  /// Returns the versions of code in the log that this process keeps.
  StoredCodes storedCodes() {
    return storedCodes;
  }

  /// Creates classes from class files, beside those of the program.
  ///
  /// @param name the loader's name in stack traces
  StoredClasses classes(String name, Map<String, byte[]> files) {
    UnaryOperator<byte[]> weaver =
        loader instanceof ClassWeaver weaving ? weaving::woven : UnaryOperator.identity();
    return new StoredClasses(name, files, loader, weaver);
  }

  Codes codes() {
    return codes;
  }

  /// Returns the code of the handlers of keys.
  HandlerCodes handlers() {
    return handlers;
  }

  /// Returns the code that executes the puts of a type of which some code has a class. That is the
  /// class's own version when neither the program nor the log has another one.
  ActiveCode active(SharedType type) {
    try {
      return active(type.name());
    } catch (NotShareable unknown) {
      if (!leads || !(type.face().getClassLoader() instanceof StoredClasses)) throw unknown;
      foreign.begin(type);
      return active(type.name());
    }
  }

  /// Returns the versions in the log that this process uses.
  Stream<LoadedCode> loaded() {
    return Stream.concat(handlers.newest(), storedCodes.all().stream())
        .filter(LoadedCode::isStored);
  }

  /// Returns whether the version that executes the puts of a type has a class.
  boolean has(String type, String className) {
    ObjectType now = active(type).now().type();
    return now.code().isStored()
        ? now.code().has(className)
        : CodeVersion.of(now.shared().implementation()).has(className);
  }

  /// Returns the type of some of its faces, in code that a check tries.
  ///
  /// @param ids gives names their numbers meanwhile
  /// @throws NotShareable when what is stored does not fit it
  ObjectType tried(List<Class<?>> faces, TentativeIds ids) {
    var loaded = (StoredClasses) faces.getFirst().getClassLoader();
    LoadedCode code = LoadedCode.tried(this, dictionary, ids, loaded);
    for (Class<?> face : faces) code.typeOf(face);
    return Objects.requireNonNull(code.findNamed(SharedType.of(faces.getFirst()).name()));
  }

  /// Has the code of a type's faces, which [#tried] has taken, execute its puts from now on.
  ///
  /// @param losses the names in the dictionary of the losses that are accepted for it
  void activate(String type, List<Class<?>> faces, List<String> losses) {
    var version = CodeVersion.of(SharedType.of(faces.getFirst()).implementation());
    settling.lock();
    try {
      List<Codes.Activation> earlier = codes.of(type);
      boolean isActive = !earlier.isEmpty() && earlier.getLast().version().equals(version.name());
      if (!isActive) {
        // The names of losses and classes come first: a process that finds the activation must find
        // them.
        for (String loss : losses) {
          var _ = dictionary.idOf(loss);
        }
        for (Class<?> face : faces) {
          var _ = dictionary.idOf(ClassNames.CLASS + type + " " + face.getName());
        }
        nameIndexes(SharedType.of(faces.getFirst()));
        Codes.Activation activation = codes.activate(type, version, earlier);
        ActiveCode known = active.get(type);
        if (known != null) known.unsettle(); // it is active, even if a later step fails
        LoadedCode code = stored(activation);
        for (Class<?> face : faces) code.typeOf(inCode(face, code));
      }
      var _ = active(type);
    } finally {
      settling.unlock();
    }
  }

  /// Has code execute the puts of a type, like [#activate], unless the store has had the type.
  void begin(String type, List<Class<?>> faces) {
    settling.lock();
    try {
      if (codes.of(type).isEmpty()) activate(type, faces, List.of());
    } finally {
      settling.unlock();
    }
  }

  private static Class<?> inCode(Class<?> type, LoadedCode code) {
    try {
      return Class.forName(type.getName(), false, code.loader());
    } catch (ClassNotFoundException lost) {
      throw new NotShareable(type.getName() + " is not in its own version", lost);
    }
  }

  private static @Nullable StreamId versionOf(ObjectType type) {
    return CodeVersion.of(type.shared().implementation()).name();
  }

  /// Determines the code that executes the puts of a type, and activates the program's classes if
  /// necessary.
  ///
  /// @param program the type in the program's code; null to look it up
  /// @param asked whether the program itself uses the type, and not the log or a client
  private ActiveCode settle(String name, @Nullable ObjectType program, boolean asked) {
    settling.lock();
    try {
      ActiveCode.Now now = settled(name, program, asked);
      ActiveCode known = active.get(name);
      if (known == null) {
        known = new ActiveCode(now);
        store.register(name, factory(name, known));
        active.put(name, known); // readers that find it here go on without the lock
      } else {
        known.become(now);
      }
      return known;
    } finally {
      settling.unlock();
    }
  }

  private ActiveCode.Now settled(String name, @Nullable ObjectType program, boolean asked) {
    List<Codes.Activation> activations = codes.of(name);
    Codes.Activation last = activations.isEmpty() ? null : activations.getLast();
    ObjectType type = program;
    try {
      // A replica that follows cannot log the names of other classes than the leader's.
      boolean isOther = last != null && !leads && !last.version().equals(own.versionNamed(name));
      if (type == null && last == null) type = own.typeNamed(name);
      else if (type == null && !isOther) type = own.findNamed(name);
      if (type != null && last != null && leads && !last.version().equals(versionOf(type))) {
        requireSame(typeOf(last).shared(), type.shared());
      }
    } catch (NotShareable refused) {
      if (last == null || asked) throw refused;
      type = null;
      LOG.warn(
          "{} continues with the code in the log, since the class path has other code, which does"
              + " not fit the stored objects: {}",
          name,
          refused.getMessage());
    }
    StreamId version = type == null ? null : versionOf(type);
    if (type != null && version == null) return new ActiveCode.Now(0, type, true);
    if (last != null && last.version().equals(version)) {
      return new ActiveCode.Now(last.number(), Objects.requireNonNull(type), true);
    }
    boolean isNew = activations.stream().noneMatch(one -> one.version().equals(version));
    if (type != null && leads && (asked || isNew)) {
      var classes = CodeVersion.of(type.shared().implementation());
      nameIndexes(type.shared());
      return new ActiveCode.Now(codes.activate(name, classes, activations).number(), type, true);
    }
    if (last == null) return new ActiveCode.Now(0, Objects.requireNonNull(type), true);
    return new ActiveCode.Now(last.number(), stored(last).typeNamed(name), true);
  }

  /// Refuses code that would store objects in another order than the existing objects.
  static void requireSame(SharedType now, SharedType next) {
    if (now.order() == next.order()) return;
    throw new NotShareable(
        next.name()
            + " has the order "
            + next.order()
            + " in @Shared, and its objects are stored in the order "
            + now.order()
            + "; keep the order, or give the class another name");
  }

  Ref<?> refOf(Key key) {
    return (Ref<?>) key.label();
  }

  Object nameOf(Key key) {
    return refOf(key).key();
  }

  /// Returns the key's name in the code of a type: there a record or an enum constant has a class
  /// of its own.
  Object nameIn(ObjectType type, Key key) {
    return nameIn(type.code(), key);
  }

  /// Returns the key's name in some code.
  Object nameIn(LoadedCode code, Key key) {
    Object known = nameOf(key);
    return Platform.has(known.getClass()) ? known : Keys.decode(key.name(), code.loader());
  }
}
