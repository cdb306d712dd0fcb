package stoa.migration;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.AlreadyExists;
import stoa.base.StreamId;
import stoa.front.PlacedObject;
import stoa.front.types.SharedMethod;
import stoa.migration.core.Copy;
import stoa.migration.core.CopyVersion;
import stoa.spi.CallContext;

/// An operation that runs: instances of its objects, on which its thread makes calls. That thread
/// uses it.
final class RunningOperation {
  /// The one of the current thread.
  static final ScopedValue<RunningOperation> CURRENT = ScopedValue.newInstance();

  /// Makes the context of a method.
  interface Contexts {
    CallContext of(CopyVersion version);
  }

  private static final class Work {
    private final PlacedObject object;
    private final Copy copy;
    private final States.State state;
    private boolean exists;
    private @Nullable Object instance;
    private boolean changed;

    private Work(PlacedObject object, Copy copy) {
      this.object = object;
      this.copy = copy;
      state = States.unpacked(copy.state());
      exists = state.exists();
    }
  }

  private final Contexts contexts;
  private final Map<StreamId, Work> works = new LinkedHashMap<>();
  private long stateBytes;

  RunningOperation(Collection<PlacedObject> objects, List<Copy> copies, Contexts contexts) {
    this.contexts = contexts;
    SortedMap<StreamId, Copy> byStream = new TreeMap<>();
    for (var copy : copies) byStream.put(copy.object(), copy);
    for (var object : objects) {
      Copy copy = byStream.get(object.stream());
      if (copy != null) works.put(object.stream(), new Work(object, copy));
    }
  }

  /// Decodes an object, if it exists, for the next call.
  ///
  /// @throws Throwable what the decoding throws
  void prepare(PlacedObject object) throws Throwable {
    Work work = work(object);
    if (!work.exists) return;
    Object _ = instance(work, object);
  }

  /// Makes a call.
  ///
  /// @throws Throwable what the method throws
  @Nullable Object call(PlacedObject object, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    if (method.kind().isTransaction()) {
      throw new UnsupportedOperationException(
          method + " is @Transactional, and objects at clients take no part in transactions");
    }
    Work work = work(object);
    object.meet(work.state.life(), work.exists);
    return execute(object, method, arguments);
  }

  /// Returns whether the life of an object here is one that a call may meet.
  boolean isMeant(PlacedObject object) {
    Work work = work(object);
    return object.isMeant(work.state.life(), work.exists);
  }

  /// Makes a call that may meet the object as it is here, without fixing the life that the proxy
  /// means.
  ///
  /// @throws Throwable what the method throws
  @Nullable Object execute(PlacedObject object, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    Work work = work(object);
    Object instance = instance(work, object);
    if (method.kind() != SharedMethod.Kind.ACCESSOR) change(work, object);
    @Nullable Object[] own = object.arguments(method, arguments);
    var context = contexts.of(work.copy.version());
    try {
      return ScopedValue.where(CallContext.CURRENT, context)
          .call(() -> {
            try {
              return object.answer(method.invoke(instance, own));
            } catch (Exception | Error passedOn) {
              throw passedOn;
            } catch (Throwable other) {
              throw new Passing(other);
            }
          });
    } catch (Passing passing) {
      throw passing.thrown;
    }
  }

  /// Begins an object.
  ///
  /// @throws AlreadyExists when it exists
  /// @throws Throwable what the constructor throws
  void create(PlacedObject object) throws Throwable {
    Work work = work(object);
    if (work.exists) throw new AlreadyExists(object + " exists already");
    Object _ = instance(work, object);
    change(work, object);
  }

  private Work work(PlacedObject object) {
    Work work = works.get(object.stream());
    if (work != null) return work;
    throw new IllegalArgumentException(
        object + " is not among the objects of this operation; name it in together");
  }

  private static Object instance(Work work, PlacedObject object) throws Throwable {
    Object known = work.instance;
    if (known != null) return known;
    Object made = work.exists ? object.instance(work.state.bytes()) : object.construct();
    work.instance = made;
    return made;
  }

  /* An absent object begins with this. */
  private static void change(Work work, PlacedObject object) {
    work.changed = true;
    work.exists = true;
    object.meet(work.state.life(), true);
  }

  /// Returns the states of the changed objects.
  SortedMap<StreamId, byte[]> outputs() {
    SortedMap<StreamId, byte[]> outputs = new TreeMap<>();
    works.forEach((stream, work) -> {
      var instance = work.instance;
      if (work.changed && instance != null) {
        byte[] state = work.object.state(instance);
        stateBytes += state.length;
        outputs.put(stream, States.packed(new States.State(work.state.life(), state)));
      }
    });
    return outputs;
  }

  /// Returns the version that an object had.
  CopyVersion version(PlacedObject object) {
    return Objects.requireNonNull(works.get(object.stream()), "an object of it").copy.version();
  }

  /// Returns the size of those states before compression.
  long stateBytes() {
    return stateBytes;
  }

  /*
   * Carries a throwable that is neither exception nor error through code that may throw these only.
   */
  private static final class Passing extends Exception {
    private static final long serialVersionUID = 1L;
    private final transient Throwable thrown;

    private Passing(Throwable thrown) {
      super(thrown);
      this.thrown = thrown;
    }
  }
}
