package stoa.objects;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.Shared;
import stoa.StoaException;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.front.ClassNames;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedState;
import stoa.front.code.CodeVersion;
import stoa.front.code.StoredClasses;
import stoa.front.marshal.Loss;
import stoa.front.types.HandlerType;
import stoa.front.types.SharedType;
import stoa.front.types.StrictCode;
import stoa.store.Store;
import stoa.store.calls.Pace;
import stoa.store.calls.Terms;

/// An operator's commands on the code of shared types: they list its versions, check other classes
/// against the stored objects, and deploy classes that execute new calls. Thread-safe; waits for
/// the disk and runs users' code.
public final class CodeService {
  private static final byte[] NO_STATE = {};

  private final Catalog catalog;
  private final Store store;

  CodeService(Catalog catalog, Store store) {
    this.catalog = catalog;
    this.store = store;
  }

  /// A version of a type's code that executes, or has executed, its calls.
  ///
  /// @param type the stored name of the type
  /// @param turn how many versions the type has had with this one; a version that is active again
  ///   gets a further turn
  /// @param version the name of the version
  /// @param active whether it executes what is called now
  /// @param accepted the losses that were accepted when it became active
  public record TypeVersion(
      String type, int turn, String version, boolean active, List<String> accepted) {
    public TypeVersion {
      accepted = List.copyOf(accepted);
    }
  }

  /// The result of a check or deployment.
  ///
  /// @param findings what was found of each type
  /// @param superfluous those of the accepted losses that the classes do not have
  public record Result(List<Finding> findings, Set<String> superfluous) {
    public Result {
      findings = List.copyOf(findings);
      superfluous = Collections.unmodifiableSet(new TreeSet<>(superfluous));
    }

    /// Whether all classes fit, and every accepted loss is one.
    public boolean fits() {
      return superfluous.isEmpty() && findings.stream().allMatch(Finding::fits);
    }
  }

  /// The effect that other classes would have on the objects of a type.
  ///
  /// @param type the stored name of the type
  /// @param kind the relation of the classes to the stored versions
  /// @param objects how many objects the check tried
  /// @param unfit how many of them the classes cannot read
  /// @param reason why the check refuses the classes, or the first of these objects; empty when
  ///   they fit
  /// @param calls the results of the last calls of these objects in the other classes
  public record Finding(
      String type, Kind kind, long objects, long unfit, String reason, ReplayedCalls calls) {
    /// Returns whether the classes may execute new calls.
    public boolean fits() {
      return kind != Kind.REFUSED && unfit == 0;
    }
  }

  /// A comparison of logged calls with the same calls executed by other classes: their answers, and
  /// the states after them.
  ///
  /// @param compared how many calls the check executed again, at most four of an object
  /// @param different how many of them have another answer or state
  /// @param first the difference of the first of these; empty when there is none
  public record ReplayedCalls(long compared, long different, String first) {
    /// The check executed no call again.
    public static final ReplayedCalls NONE = new ReplayedCalls(0, 0, "");
  }

  /// How far an operator trusts the code of classes.
  public enum Trust {
    /// The code may use the classes and members that [StrictCode] permits.
    STRICT,
    /// The code may do everything that the process may do.
    WHOLE
  }

  /// The relation of classes to the stored versions.
  public enum Kind {
    /// The store has no objects of the type's name.
    NEW,
    /// The classes are the active version.
    ACTIVE,
    /// The classes are another version.
    CHANGED,
    /// The classes do not fit, whatever the objects contain.
    REFUSED
  }

  /// Returns the versions of all types, ordered by type and turn.
  public List<TypeVersion> versions() {
    return versions(catalog.codes(), "");
  }

  /// Returns the versions of all classes of handlers, ordered by class and turn. The type of each
  /// is [ClassNames#HANDLER] and the name of the class. The active one executes the handlers that
  /// are registered from now on.
  public List<TypeVersion> handlers() {
    return versions(catalog.handlers().codes(), ClassNames.HANDLER);
  }

  private List<TypeVersion> versions(Codes codes, String prefix) {
    var versions = new ArrayList<TypeVersion>();
    for (String type : codes.types()) {
      List<Codes.Activation> activations = codes.of(type);
      int turn = 0;
      int from = 0;
      for (Codes.Activation one : activations) {
        boolean now = one.equals(activations.getLast());
        List<String> accepted = catalog.codes().accepted(type, from, one.number());
        String version = one.version().toString();
        versions.add(new TypeVersion(prefix + type, ++turn, version, now, accepted));
        from = one.number();
      }
    }
    return versions;
  }

  /// The extent of a check.
  ///
  /// @param types the stored names of the types; empty for all types in the files. The other files
  ///   are classes that these types need
  /// @param objectsMax the most objects of each type that the check tries
  /// @param replays whether the check executes the last calls of these objects again
  public record Sample(Set<String> types, long objectsMax, boolean replays) {
    /// All types and objects, and their last calls.
    public static final Sample WHOLE = new Sample(Set.of(), Long.MAX_VALUE, true);
  }

  /// Checks classes against the stored objects. Logs nothing.
  ///
  /// @param files the class files by the binary names of their classes: the shared classes and the
  ///   classes that these need
  /// @param progress receives the number of objects that the check has tried
  /// @throws NotShareable when a class cannot be loaded
  public List<Finding> check(Map<String, byte[]> files, Sample sample, LongConsumer progress) {
    return check(files, sample, Set.of(), progress).findings();
  }

  /// Tries classes on what is stored, where some losses are accepted. Logs nothing.
  ///
  /// @param files the class files, by the names of their classes
  /// @param accepted the losses, as refusals name them
  /// @param progress receives the number of objects that the check has tried
  /// @throws NotShareable when a class cannot be loaded
  public Result check(
      Map<String, byte[]> files, Sample sample, Set<String> accepted, LongConsumer progress) {
    return check(files, sample, accepted, Trust.WHOLE, progress);
  }

  /// Tries classes as [#check(Map, Sample, Set, LongConsumer)], trusting their code as far as is
  /// said.
  public Result check(
      Map<String, byte[]> files,
      Sample sample,
      Set<String> accepted,
      Trust trust,
      LongConsumer progress) {
    return found(shared(files, sample.types()), sample, new Tried(accepted, trust, progress));
  }

  private Result found(Map<String, List<Class<?>>> shared, Sample sample, Tried tried) {
    var findings = new ArrayList<Finding>();
    shared.forEach((type, faces) -> findings.add(check(type, faces, sample, tried)));
    var superfluous = new TreeSet<>(tried.accepted);
    superfluous.removeAll(Loss.accepted(catalog.dictionary().names()));
    for (List<String> losses : tried.losses.values()) {
      superfluous.removeAll(Loss.accepted(losses));
    }
    return new Result(findings, superfluous);
  }

  /// The trial of one request: counts the objects of all types together, and has the losses of each
  /// type that are accepted.
  private static final class Tried {
    private final Set<String> accepted;
    private final Trust trust;
    private final LongConsumer progress;
    private final Map<String, List<String>> losses = new HashMap<>();
    private long objects;

    private Tried(Set<String> accepted, Trust trust, LongConsumer progress) {
      this.accepted = accepted;
      this.trust = trust;
      this.progress = progress;
    }

    private void another() {
      progress.accept(++objects);
    }

    /// Refuses classes that use more than they may, unless the store has had their version.
    ///
    /// @throws NotShareable with the use
    private void requireTrusted(List<Class<?>> classes, List<Codes.Activation> earlier) {
      if (trust == Trust.WHOLE) return;
      for (Class<?> one : classes) {
        CodeVersion version = CodeVersion.of(one);
        boolean isKnown =
            earlier.stream().anyMatch(known -> known.version().equals(version.name()));
        if (!isKnown) StrictCode.check(version.reached());
      }
    }
  }

  /// Deploys classes: they execute all calls from now on, if they fit all objects. If they do not,
  /// nothing changes.
  ///
  /// @param files as for [#check]
  /// @param progress as for [#check]
  /// @throws NotShareable when a class cannot be loaded
  public List<Finding> deploy(Map<String, byte[]> files, LongConsumer progress) {
    return deploy(files, Set.of(), progress);
  }

  /// Deploys the classes of some types only. The other files are classes that these types need.
  ///
  /// @param types the stored names of the types; empty for all types in the files
  /// @throws NotShareable when a class cannot be loaded
  public List<Finding> deploy(Map<String, byte[]> files, Set<String> types, LongConsumer progress) {
    return deploy(files, types, Set.of(), progress).findings();
  }

  /// Deploys classes that lose something, as the operator accepts.
  ///
  /// @param accepted the losses, as refusals name them; when one is not a loss of these classes,
  ///   nothing changes
  /// @throws NotShareable when a class cannot be loaded
  public Result deploy(
      Map<String, byte[]> files, Set<String> types, Set<String> accepted, LongConsumer progress) {
    return deploy(files, types, accepted, Trust.WHOLE, progress);
  }

  /// Deploys classes as [#deploy(Map, Set, Set, LongConsumer)], trusting their code as far as is
  /// said.
  public Result deploy(
      Map<String, byte[]> files,
      Set<String> types,
      Set<String> accepted,
      Trust trust,
      LongConsumer progress) {
    Map<String, List<Class<?>>> shared = shared(files, types);
    var tried = new Tried(accepted, trust, progress);
    Result result = found(shared, new Sample(types, Long.MAX_VALUE, false), tried);
    if (result.fits()) {
      shared.forEach((type, faces) -> {
        if (isHandler(type)) catalog.handlers().activate(faces.getFirst(), true);
        else catalog.activate(type, faces, tried.losses.getOrDefault(type, List.of()));
      });
    }
    return result;
  }

  /// Has classes that a client brings execute the calls of types that the store has never had.
  /// Changes nothing about other types.
  ///
  /// @param files as of [#check]
  /// @param types the stored names of the types
  /// @throws NotShareable when a class cannot be loaded, does not fit what is stored, or uses more
  ///   than [StrictCode] permits
  public void bring(Map<String, byte[]> files, Set<String> types) {
    Map<String, List<Class<?>>> shared = shared(files, types);
    shared.keySet().removeIf(type -> !activations(type).isEmpty());
    for (Finding found :
        found(shared, Sample.WHOLE, new Tried(Set.of(), Trust.STRICT, _ -> {})).findings()) {
      if (!found.fits()) throw new NotShareable(found.reason());
    }
    shared.forEach((type, faces) -> {
      if (isHandler(type)) catalog.handlers().activate(faces.getFirst(), false);
      else catalog.begin(type, faces);
    });
  }

  private static boolean isHandler(String type) {
    return type.startsWith(ClassNames.HANDLER);
  }

  private List<Codes.Activation> activations(String type) {
    return isHandler(type)
        ? catalog.handlers().codes().of(type.substring(ClassNames.HANDLER.length()))
        : catalog.codes().of(type);
  }

  /// Returns the code that the group executes and that has a class; null when there is none. Reads
  /// the log.
  CodeOfOthers.@Nullable Found find(String className) {
    SortedSet<String> types = catalog.codes().types();
    for (String type : types) {
      if (catalog.dictionary().find(ClassNames.CLASS + type + " " + className) != null) {
        return found(type);
      }
    }
    SortedSet<String> handlers = catalog.handlers().codes().types();
    if (handlers.contains(className)) return foundHandler(className);
    for (String handler : handlers) {
      if (catalog.handlers().has(handler, className)) return foundHandler(handler);
    }
    for (String type : types) {
      if (catalog.has(type, className)) return found(type);
    }
    return null;
  }

  private CodeOfOthers.Found foundHandler(String className) {
    Codes handlers = catalog.handlers().codes();
    var files = handlers.files(handlers.of(className).getLast());
    return new CodeOfOthers.Found(ClassNames.HANDLER + className, files, true);
  }

  private CodeOfOthers.Found found(String type) {
    var files = catalog.codes().files(catalog.codes().of(type).getLast());
    return new CodeOfOthers.Found(type, files, true);
  }

  /// Returns the class files of a version, by the binary names of their classes. Deploying them
  /// takes the type back to that version. Reads the log.
  ///
  /// @param version its name, see [TypeVersion#version()]
  /// @throws NotShareable when the store has no such version of the type
  public SortedMap<String, byte[]> files(String type, String version) {
    for (Codes.Activation one : activations(type)) {
      if (one.version().toString().equals(version)) return catalog.codes().files(one);
    }
    throw new NotShareable(type + " has no version " + version + "; the list of versions has all");
  }

  /// Returns the shared classes among the files, by the stored names of their types.
  private Map<String, List<Class<?>>> shared(Map<String, byte[]> files, Set<String> types) {
    StoredClasses loader = catalog.classes("code to be tried", files);
    var shared = new LinkedHashMap<String, List<Class<?>>>();
    for (String className : files.keySet()) {
      try {
        Class<?> type = Class.forName(className, false, loader);
        boolean isHandler = HandlerType.mayBe(type);
        if (!isHandler && !type.isAnnotationPresent(Shared.class)) continue;
        String name = isHandler ? ClassNames.HANDLER + className : SharedType.of(type).name();
        if (!types.isEmpty() && !types.contains(name)) continue;
        shared.computeIfAbsent(name, _ -> new ArrayList<>()).add(type);
      } catch (ClassNotFoundException | LinkageError unusable) {
        throw new NotShareable(className + " cannot be loaded: " + unusable, unusable);
      }
    }
    for (String type : types) {
      if (shared.containsKey(type)) continue;
      throw new NotShareable(
          isHandler(type)
              ? "the class files have no handler " + type.substring(ClassNames.HANDLER.length())
              : "the class files have no class with @Shared for " + type);
    }
    return shared;
  }

  /// Listeners keep the code with which they were registered, so there is nothing else to try.
  private Finding checkHandler(String type, Class<?> handler, Tried progress) {
    List<Codes.Activation> earlier = activations(type);
    Kind kind = earlier.isEmpty() ? Kind.NEW : Kind.CHANGED;
    String why = "";
    try {
      catalog
          .handlers()
          .checkFits(handler, new TentativeIds(catalog.dictionary(), progress.accepted));
      progress.requireTrusted(List.of(handler), earlier);
      if (HandlerCodes.isNewest(CodeVersion.of(handler), earlier)) kind = Kind.ACTIVE;
    } catch (StoaException refused) {
      kind = Kind.REFUSED;
      why = String.valueOf(refused.getMessage());
    }
    return new Finding(type, kind, 0, 0, why, ReplayedCalls.NONE);
  }

  private Finding check(String type, List<Class<?>> faces, Sample sample, Tried progress) {
    if (isHandler(type)) return checkHandler(type, faces.getFirst(), progress);
    List<Codes.Activation> earlier = catalog.codes().of(type);
    ObjectType tried;
    try {
      var ids = new TentativeIds(catalog.dictionary(), progress.accepted);
      tried = catalog.tried(faces, ids);
      progress.losses.put(type, ids.losses());
      var version = CodeVersion.of(tried.shared().implementation()).name();
      if (!earlier.isEmpty() && earlier.getLast().version().equals(version)) {
        return new Finding(type, Kind.ACTIVE, 0, 0, "", ReplayedCalls.NONE);
      }
      var code = new ArrayList<>(faces);
      code.add(tried.shared().implementation());
      progress.requireTrusted(code, earlier);
      if (!earlier.isEmpty()) Catalog.requireSame(catalog.typeNamed(type).shared(), tried.shared());
    } catch (StoaException refused) {
      String why = String.valueOf(refused.getMessage());
      return new Finding(type, Kind.REFUSED, 0, 0, why, ReplayedCalls.NONE);
    }
    if (earlier.isEmpty()) return new Finding(type, Kind.NEW, 0, 0, "", ReplayedCalls.NONE);
    long objects = 0;
    long unfit = 0;
    String reason = "";
    var calls = new Replays(catalog, store, tried);
    Iterator<byte[]> names = store.list(type);
    while (names.hasNext() && objects < sample.objectsMax()) {
      Key key = catalog.key(type, names.next());
      String refusal = refusal(tried, key);
      if (refusal != null && unfit++ == 0) reason = refusal;
      if (refusal == null && sample.replays()) calls.add(key);
      objects++;
      progress.another();
    }
    var replayed = new ReplayedCalls(calls.calls(), calls.different(), calls.first());
    return new Finding(type, Kind.CHANGED, objects, unfit, reason, replayed);
  }

  /// Returns why a type cannot read an object; null when it can, or when the object is deleted.
  private @Nullable String refusal(ObjectType tried, Key key) {
    try {
      byte[] bytes = state(key);
      if (bytes.length > 0) {
        var _ = store.limited(key, () -> tried.state(tried.state(bytes)));
      }
      return null;
    } catch (StoaException unfit) {
      return key + ": " + unfit.getMessage();
    }
  }

  /// Returns the encoded state of an object; empty when it is deleted.
  private byte[] state(Key key) {
    long known = store.generationHint(key);
    try {
      if (known > 0) return state(key, known);
    } catch (stoa.Gone replaced) {
      // Deleted, or created again: only the object can tell.
    }
    long generation = store.generation(key);
    try {
      return generation > 0 ? state(key, generation) : NO_STATE;
    } catch (stoa.Gone deleted) {
      return NO_STATE;
    }
  }

  /// Reads a state on this thread, so that no worker takes a processor from a caller.
  private byte[] state(Key key, long generation) {
    var terms = Terms.expecting(new Existence.Generation(generation)).at(Pace.SHORT);
    var target = store.target(key);
    var answer = store.get(target, new ObjectHandler.StateQuestion(), terms).answer();
    return answer instanceof ObjectAnswer.Travelling(_, byte[] state)
        ? PlacedState.decode(state, 0).bytes()
        : NO_STATE;
  }
}
