package stoa.objects;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.NotShareable;
import stoa.Ref;
import stoa.StoaException;
import stoa.base.Clock;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Footprint;
import stoa.base.Key;
import stoa.front.ClassNames;
import stoa.front.TimerArguments;
import stoa.front.marshal.Effort;
import stoa.front.marshal.Marshaller;
import stoa.front.proxy.Proxies;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;

/// A shared class or interface as one store knows it: the numbers of its methods in the store's
/// dictionary, and the times that they take. Thread-safe.
@SuppressWarnings("exports") // Justification: for stoa.client, on the class path
public final class ObjectType {
  // The number of short runs after which a caller's own thread may run a method.
  private static final int PROVEN_RUNS = 32;

  private static final long SHORT_MICROS = 1_000;

  // The time of a short run that lets a thread that others wait for run a method.
  private static final long BRIEF_MICROS = 100;

  /// The measured runs of a method. Races lose a count, nothing else.
  private static final class Runs {
    private int runs;
    private int briefRuns;
    private volatile boolean proven;
    private volatile boolean brief;
    private volatile boolean neverBrief;
  }

  /// The measured decodings of a method's arguments. Races lose a count, nothing else.
  private static final class Readings {
    private int briefRuns;
    private volatile boolean brief;
  }

  private final LoadedCode code;
  private final Faces faces;
  private final SharedType shared;
  private final Dictionary dictionary;
  private final Marshaller marshaller;
  private final Clock clock;
  private final Runs[] paces;
  private final Readings[] readings;
  private final AtomicReferenceArray<@Nullable Integer> numbers;

  // Which accessors have been seen to ask other objects.
  private final boolean[] asking;

  ObjectType(LoadedCode code, Faces faces, SharedType shared, Dictionary dictionary, Clock clock) {
    this.code = code;
    this.faces = faces;
    this.shared = shared;
    this.clock = clock;
    this.dictionary = dictionary;
    this.marshaller = code.marshaller();
    int count = shared.methods().size();
    paces = new Runs[count];
    for (int i = 0; i < count; i++) paces[i] = new Runs();
    readings = new Readings[count];
    for (int i = 0; i < count; i++) readings[i] = new Readings();
    numbers = new AtomicReferenceArray<>(count);
    asking = new boolean[count];
  }

  /// A method as a put calls it.
  ///
  /// @param type the caller's type
  /// @param method the method
  record Called(ObjectType type, SharedMethod method) {}

  SharedType shared() {
    return shared;
  }

  /// Returns the code that has its class.
  LoadedCode code() {
    return code;
  }

  /// Returns the marshaller of its arguments, answers and states.
  Marshaller marshaller() {
    return marshaller;
  }

  /// Returns the encoding of an instance.
  byte[] state(Object instance) {
    return marshaller.state(shared, instance);
  }

  /// Returns a new instance from an encoding by this code or another.
  Object state(byte[] bytes) {
    return marshaller.state(shared, bytes);
  }

  /// The arguments of a call, decoded before the call was logged.
  ///
  /// @param code the code of their classes
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record ReadArguments(LoadedCode code, @Nullable Object[] arguments) {}

  Key key(Object key) {
    return new Key(shared.name(), Keys.encode(key), new Ref<>(shared.name(), key));
  }

  /// Returns what a query reads by a name.
  ///
  /// @param name of a field with an index, of an accessor, or of a call of one with arguments
  /// @throws NotShareable when the class has none of the name, or its values have no order
  IndexedMember member(String name) {
    String id = IndexedMember.idIn(name);
    if (id == null) return shared.readable(name);
    if (IndexedMember.isPredicate(name)) return predicate(name);
    SharedMethod method = shared.method(id);
    return IndexedMember.of(method, arguments(name), name);
  }

  private @Nullable Object[] arguments(String name) {
    return TimerArguments.decode(
        IndexedMember.argumentsIn(name),
        code.loader(),
        (type, _, _, _) -> {
          throw new NotShareable(
              "an accessor of a query reads its own object, and gets one of " + type);
        });
  }

  /// Returns what a query reads by the name of a predicate: it gets a proxy whose accessors read
  /// the object.
  private IndexedMember predicate(String name) {
    Object decoded;
    try {
      decoded = arguments(name)[0];
    } catch (StoaException unknown) {
      throw new NotShareable(
          "the code of "
              + shared.name()
              + " lacks the predicate of a query; name its class in that class, or make it a record"
              + " within it: "
              + unknown.getMessage(),
          unknown);
    }
    if (!(decoded instanceof Predicate<?>)) {
      throw new NotShareable(decoded + " is no predicate in the code of " + shared.name());
    }
    @SuppressWarnings("unchecked") // Justification: a wrong class throws, like any predicate
    var predicate = (Predicate<Object>) decoded;
    var ref = new Ref<>(shared.name(), "");
    return IndexedMember.predicate(
        name,
        instance ->
            predicate.test(
                Proxies.create(
                    shared,
                    ref,
                    new @Nullable Object[0],
                    (_, method, arguments) -> read(instance, method, arguments))));
  }

  private static @Nullable Object read(
      Object instance, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    if (method.kind() == SharedMethod.Kind.ACCESSOR) return method.invoke(instance, arguments);
    throw new UnsupportedOperationException(
        method + " is no accessor, and a predicate of a query reads its object only");
  }

  /// Returns a call as a put: the method's number and the arguments.
  byte[] call(SharedMethod method, @Nullable Object[] arguments) {
    return call(method, marshaller.arguments(method, arguments));
  }

  /// Returns the put of a call with encoded arguments.
  byte[] call(SharedMethod method, byte[] arguments) {
    return new Encoder(10).varint(number(method)).followedBy(arguments);
  }

  /// Returns a call as a put, after decoding its arguments as the executing replica does.
  ///
  /// @throws NotShareable when the store cannot store an argument, or cannot read it back
  Put put(SharedMethod method, byte[] call) {
    var in = new Decoder(call);
    var _ = in.varint();
    @Nullable Object[] read = marshaller.read(method, call, in.position());
    return new Put(call, read == null ? null : new ReadArguments(code, read));
  }

  /// Returns the put of a call by other code, like [#put(SharedMethod, byte\[\])].
  ///
  /// @throws NotShareable when this code has no such method, or cannot read the arguments
  Put put(byte[] call) {
    var in = new Decoder(call);
    Called called = called(in);
    if (called == null) return Put.of(call);
    ObjectType face = called.type();
    try {
      @Nullable Object[] read =
          face.marshaller.arguments(called.method(), call, in.position(), call.length);
      return new Put(call, new ReadArguments(face.code, read));
    } catch (Corrupt unreadable) {
      throw new NotShareable(
          "the active code cannot read an argument of "
              + called.method()
              + ": "
              + unreadable.getMessage(),
          unreadable);
    }
  }

  /// Returns the part of an object on which a call works.
  ///
  /// @param active the code that executes the puts of the type: other code may see parts
  ///   differently
  Footprint footprint(ActiveCode active, SharedMethod method, @Nullable Object[] arguments) {
    if (!method.hasParts()) return Footprint.ALL;
    ActiveCode.Now now = active.now();
    return now.type().code().equals(code)
        ? method.footprint(arguments, now.number())
        : Footprint.ALL;
  }

  private int number(SharedMethod method) {
    Integer number = numbers.get(method.index());
    if (number == null) {
      number = dictionary.idOf(ClassNames.method(shared, method)) + 1;
      numbers.set(method.index(), number);
    }
    return number;
  }

  /// Returns the method that a put calls, or null when the put only creates.
  @Nullable Called called(Decoder put) {
    return faces.called(put);
  }

  /// Returns whether all runs of the method were short, so that a caller's own thread may run it.
  boolean isQuick(SharedMethod method) {
    return paces[method.index()].proven;
  }

  /// Returns whether an accessor has asked other objects. Only a hint: other threads may not have
  /// noticed yet.
  boolean asksOthers(SharedMethod method) {
    return asking[method.index()];
  }

  /// Notes that an accessor asks other objects.
  void sawAskOthers(SharedMethod method) {
    asking[method.index()] = true;
  }

  /// Returns the method's measured pace.
  Pace pace(SharedMethod method) {
    Runs runs = paces[method.index()];
    if (runs.brief && !runs.neverBrief) return Pace.BRIEF;
    return runs.proven ? Pace.SHORT : Pace.LONG;
  }

  /// Returns the effort that a thread that others wait for may spend on decoding a method's
  /// arguments.
  Effort briefReading(SharedMethod method) {
    return readings[method.index()].brief ? Effort.proven() : Effort.brief();
  }

  /// Begins to time the decoding of arguments.
  long beginReading() {
    return clock.nowMicros();
  }

  /// Ends the timing of a decoding; returns whether it was brief.
  boolean endReading(SharedMethod method, long began) {
    Readings known = readings[method.index()];
    boolean brief = clock.nowMicros() - began <= BRIEF_MICROS;
    if (!brief) {
      known.briefRuns = 0;
      known.brief = false;
    } else if (++known.briefRuns >= PROVEN_RUNS && !known.brief) {
      known.brief = true;
    }
    return brief;
  }

  /// Begins to time a run of a method; returns 0 when no further times are needed.
  long begin(SharedMethod method) {
    Runs runs = paces[method.index()];
    return runs.proven && (runs.brief || runs.neverBrief) ? 0 : clock.nowMicros();
  }

  /// Ends the timing of a run of a method.
  ///
  /// @param waited whether the run asked other objects, or had to be stopped: the method is never
  ///   brief again
  void end(SharedMethod method, long began, boolean waited) {
    Runs runs = paces[method.index()];
    if (waited && !runs.neverBrief) runs.neverBrief = true;
    if (began == 0) return;
    long took = clock.nowMicros() - began;
    if (took > BRIEF_MICROS) runs.briefRuns = 0;
    else if (++runs.briefRuns >= PROVEN_RUNS) runs.brief = true;
    if (took > SHORT_MICROS) runs.runs = 0;
    else if (++runs.runs >= PROVEN_RUNS) runs.proven = true;
  }
}
