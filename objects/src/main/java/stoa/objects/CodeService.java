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
import java.util.TreeSet;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import stoa.NotShareable;
import stoa.Shared;
import stoa.StoaException;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.front.ObjectAnswer;
import stoa.front.PlacedState;
import stoa.front.code.CodeVersion;
import stoa.front.code.StoredClasses;
import stoa.front.marshal.Loss;
import stoa.front.types.SharedType;
import stoa.store.Terms;

/// What an operator does with the code of shared types: lists its versions, checks other classes
/// against what is stored, and has them execute what is called from now on. Thread-safe; waits for
/// the disk and runs users' code.
public final class CodeService {
  private final LocalService stoa;

  CodeService(LocalService stoa) {
    this.stoa = stoa;
  }

  /// A version of a type's code that executes, or has executed, its calls.
  ///
  /// @param type the stored name of the type
  /// @param turn how many versions the type has had with this one; a version that is active again
  ///   counts again
  /// @param version the name of the version
  /// @param active whether it executes what is called now
  /// @param accepted the losses that were accepted when it became active
  public record Version(
      String type, int turn, String version, boolean active, List<String> accepted) {
    public Version {
      accepted = List.copyOf(accepted);
    }
  }

  /// What a check or deployment came to.
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

  /// What other classes would make of the objects of a type.
  ///
  /// @param type the stored name of the type
  /// @param kind what is known of the version
  /// @param objects how many objects were tried
  /// @param unfit how many of them the classes cannot take
  /// @param reason why the classes, or the first of these objects, are refused; empty when they fit
  /// @param calls what the last calls of these objects would have come to
  public record Finding(
      String type, Kind kind, long objects, long unfit, String reason, ReplayedCalls calls) {
    /// Whether the classes may execute what is called from now on.
    public boolean fits() {
      return kind != Kind.REFUSED && unfit == 0;
    }
  }

  /// What calls that were executed would have come to in other classes: their answers, and the
  /// states that they leave behind.
  ///
  /// @param compared how many were executed again, at most four of an object
  /// @param different how many of them come to something else
  /// @param first what the first of these comes to; empty when there is none
  public record ReplayedCalls(long compared, long different, String first) {
    /// No call was executed again.
    public static final ReplayedCalls NONE = new ReplayedCalls(0, 0, "");
  }

  /// How classes stand to what is stored.
  public enum Kind {
    /// The store has no objects of the type's name.
    NEW,
    /// They are the version that is active.
    ACTIVE,
    /// They are another version.
    CHANGED,
    /// They do not fit, whatever the objects are.
    REFUSED
  }

  /// The versions of all types, in the order of their types and turns.
  public List<Version> versions() {
    var versions = new ArrayList<Version>();
    for (String type : stoa.codes().types()) {
      List<Codes.Activation> activations = stoa.codes().of(type);
      int turn = 0;
      int from = 0;
      for (Codes.Activation one : activations) {
        boolean now = one.equals(activations.getLast());
        List<String> accepted = stoa.codes().accepted(type, from, one.number());
        versions.add(new Version(type, ++turn, one.version().toString(), now, accepted));
        from = one.number();
      }
    }
    return versions;
  }

  /// How much is tried.
  ///
  /// @param types the stored names of the types; all in the files when there is none. Others among
  ///   the files are what these need
  /// @param objectsMax how many objects of each type are tried at most
  /// @param replays whether the last calls of these objects are executed again
  public record Sample(Set<String> types, long objectsMax, boolean replays) {
    /// All types and objects, with their last calls.
    public static final Sample WHOLE = new Sample(Set.of(), Long.MAX_VALUE, true);
  }

  /// Tries classes on what is stored. Logs nothing.
  ///
  /// @param files the class files by the binary names of their classes: those of shared classes,
  ///   and of what they need
  /// @param progress is told how many objects were tried
  /// @throws NotShareable when a class cannot be loaded
  public List<Finding> check(Map<String, byte[]> files, Sample sample, LongConsumer progress) {
    return check(files, sample, Set.of(), progress).findings();
  }

  /// Tries classes on what is stored, where some losses are accepted. Logs nothing.
  ///
  /// @param files as of the other one
  /// @param accepted the losses, as refusals name them
  /// @param progress as of the other one
  /// @throws NotShareable when a class cannot be loaded
  public Result check(
      Map<String, byte[]> files, Sample sample, Set<String> accepted, LongConsumer progress) {
    return found(shared(files, sample.types()), sample, new Tried(accepted, progress));
  }

  private Result found(Map<String, List<Class<?>>> shared, Sample sample, Tried tried) {
    var findings = new ArrayList<Finding>();
    shared.forEach((type, faces) -> findings.add(check(type, faces, sample, tried)));
    var superfluous = new TreeSet<>(tried.accepted);
    superfluous.removeAll(Loss.accepted(stoa.dictionary().names()));
    for (List<String> losses : tried.losses.values()) {
      superfluous.removeAll(Loss.accepted(losses));
    }
    return new Result(findings, superfluous);
  }

  /// What one request tries: counts the objects of all types together, and has the losses of each
  /// type that are accepted.
  private static final class Tried {
    private final Set<String> accepted;
    private final LongConsumer progress;
    private final Map<String, List<String>> losses = new HashMap<>();
    private long objects;

    private Tried(Set<String> accepted, LongConsumer progress) {
      this.accepted = accepted;
      this.progress = progress;
    }

    private void another() {
      progress.accept(++objects);
    }
  }

  /// Has classes execute what is called from now on, if they fit all objects. When they do not,
  /// nothing changes.
  ///
  /// @param files as of [#check]
  /// @param progress as of [#check]
  /// @throws NotShareable when a class cannot be loaded
  public List<Finding> deploy(Map<String, byte[]> files, LongConsumer progress) {
    return deploy(files, Set.of(), progress);
  }

  /// Deploys the classes of some types only: others among the files are what these need.
  ///
  /// @param types the stored names of the types; all in the files when there is none
  /// @throws NotShareable when a class cannot be loaded
  public List<Finding> deploy(Map<String, byte[]> files, Set<String> types, LongConsumer progress) {
    return deploy(files, types, Set.of(), progress).findings();
  }

  /// Deploys classes that lose something, as whoever deploys them accepts.
  ///
  /// @param accepted the losses, as refusals name them; when one is not a loss of these classes,
  ///   nothing changes
  /// @throws NotShareable when a class cannot be loaded
  public Result deploy(
      Map<String, byte[]> files, Set<String> types, Set<String> accepted, LongConsumer progress) {
    Map<String, List<Class<?>>> shared = shared(files, types);
    var tried = new Tried(accepted, progress);
    Result result = found(shared, new Sample(types, Long.MAX_VALUE, false), tried);
    if (result.fits()) {
      shared.forEach((type, faces) ->
          stoa.activate(type, faces, tried.losses.getOrDefault(type, List.of())));
    }
    return result;
  }

  /// Has classes that a client brings execute the calls of types that the store has never had.
  /// Changes nothing about other types.
  ///
  /// @param files as of [#check]
  /// @param types the stored names of the types
  /// @throws NotShareable when a class cannot be loaded, or does not fit what is stored
  public void bring(Map<String, byte[]> files, Set<String> types) {
    Map<String, List<Class<?>>> shared = shared(files, types);
    shared.keySet().removeIf(type -> !stoa.codes().of(type).isEmpty());
    for (Finding found : found(shared, Sample.WHOLE, new Tried(Set.of(), _ -> {})).findings()) {
      if (!found.fits()) throw new NotShareable(found.reason());
    }
    shared.forEach((type, faces) -> stoa.activate(type, faces, List.of()));
  }

  /// The class files of a version, by the binary names of their classes. Deploying them for the
  /// type takes it back to that version. Reads the log.
  ///
  /// @param version its name, as [Version#version()] has it
  /// @throws NotShareable when the store has no such version of the type
  public SortedMap<String, byte[]> files(String type, String version) {
    for (Codes.Activation one : stoa.codes().of(type)) {
      if (one.version().toString().equals(version)) return stoa.codes().files(one);
    }
    throw new NotShareable(type + " has no version " + version + "; the list of versions has all");
  }

  /// The shared classes of some files, by the stored names of their types.
  private Map<String, List<Class<?>>> shared(Map<String, byte[]> files, Set<String> types) {
    StoredClasses loader = stoa.classes("code to be tried", files);
    var shared = new LinkedHashMap<String, List<Class<?>>>();
    for (String className : files.keySet()) {
      try {
        Class<?> type = Class.forName(className, false, loader);
        if (!type.isAnnotationPresent(Shared.class)) continue;
        String name = SharedType.of(type).name();
        if (!types.isEmpty() && !types.contains(name)) continue;
        shared.computeIfAbsent(name, _ -> new ArrayList<>()).add(type);
      } catch (ClassNotFoundException | LinkageError unusable) {
        throw new NotShareable(className + " cannot be loaded: " + unusable, unusable);
      }
    }
    for (String type : types) {
      if (shared.containsKey(type)) continue;
      throw new NotShareable("the class files have no class with @Shared for " + type);
    }
    return shared;
  }

  private Finding check(String type, List<Class<?>> faces, Sample sample, Tried progress) {
    List<Codes.Activation> earlier = stoa.codes().of(type);
    ObjectType tried;
    try {
      var ids = new TentativeIds(stoa.dictionary(), progress.accepted);
      tried = stoa.tried(faces, ids);
      progress.losses.put(type, ids.losses());
      var version = CodeVersion.of(tried.shared().implementation()).name();
      if (!earlier.isEmpty() && earlier.getLast().version().equals(version)) {
        return new Finding(type, Kind.ACTIVE, 0, 0, "", ReplayedCalls.NONE);
      }
      if (!earlier.isEmpty())
        LocalService.requireSame(stoa.typeNamed(type).shared(), tried.shared());
    } catch (StoaException refused) {
      String why = String.valueOf(refused.getMessage());
      return new Finding(type, Kind.REFUSED, 0, 0, why, ReplayedCalls.NONE);
    }
    if (earlier.isEmpty()) return new Finding(type, Kind.NEW, 0, 0, "", ReplayedCalls.NONE);
    long objects = 0;
    long unfit = 0;
    String reason = "";
    var calls = new Replays(stoa, tried);
    Iterator<byte[]> names = stoa.core().list(type);
    while (names.hasNext() && objects < sample.objectsMax()) {
      Key key = stoa.key(type, names.next());
      String refusal = refusal(tried, key);
      if (refusal != null && unfit++ == 0) reason = refusal;
      if (refusal == null && sample.replays()) calls.add(key);
      objects++;
      progress.another();
    }
    var replayed = new ReplayedCalls(calls.calls(), calls.different(), calls.first());
    return new Finding(type, Kind.CHANGED, objects, unfit, reason, replayed);
  }

  /// Why a type cannot take an object; null when it can, or the object is gone.
  private @Nullable String refusal(ObjectType tried, Key key) {
    long generation = stoa.core().generation(key);
    if (generation == 0) return null;
    try {
      var terms = Terms.expecting(new Existence.Generation(generation));
      var target = stoa.core().target(key);
      var answer = stoa.core().get(target, new ObjectHandler.StateQuestion(), terms).answer();
      if (!(answer instanceof ObjectAnswer.Travelling(_, byte[] state))) return null;
      byte[] bytes = PlacedState.decode(state, 0).bytes();
      if (bytes.length > 0) {
        var _ = stoa.core().limited(key, () -> tried.state(tried.state(bytes)));
      }
      return null;
    } catch (stoa.Gone deleted) {
      return null;
    } catch (StoaException unfit) {
      return key + ": " + unfit.getMessage();
    }
  }
}
