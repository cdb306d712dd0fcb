package stoa.objects;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import stoa.base.Clock;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.front.ClassNames;
import stoa.front.marshal.Effort;
import stoa.front.marshal.Marshaller;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.store.calls.Pace;
import stoa.store.calls.Put;

/// A shared class or interface as one store knows it: the numbers of its methods in the store's
/// dictionary, and how long they run. Thread-safe.
@SuppressWarnings("exports") // Justification: for stoa.client, on the class path
public final class ObjectType {
  /// How often a method must have been short before a caller's own thread may run it, and how
  /// short.
  private static final int PROVEN_RUNS = 32;

  private static final long SHORT_MICROS = 1_000;

  /// How short it must have been as often before a thread that others wait for may run it.
  private static final long BRIEF_MICROS = 100;

  /// How a method has run so far. Races lose a count, nothing else.
  private static final class Runs {
    private int runs;
    private int briefRuns;
    private volatile boolean proven;
    private volatile boolean brief;
    private volatile boolean neverBrief;
  }

  /// How the decoding of a method's arguments has run so far. Races lose a count, nothing else.
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

  /// Which accessors have been seen to ask other objects.
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
  /// @param type by which it is called
  /// @param method the method
  record Called(ObjectType type, SharedMethod method) {}

  SharedType shared() {
    return shared;
  }

  /// The code that has its class.
  LoadedCode code() {
    return code;
  }

  /// What marshals its arguments, answers and states.
  Marshaller marshaller() {
    return marshaller;
  }

  /// The encoding of an instance.
  byte[] state(Object instance) {
    return marshaller.state(shared, instance);
  }

  /// The instance that was encoded, by this code or another, as a new one.
  Object state(byte[] bytes) {
    return marshaller.state(shared, bytes);
  }

  /// The arguments of a call as they were read before the call was logged.
  ///
  /// @param code as objects of whose classes
  @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by nobody
  record ReadArguments(LoadedCode code, @Nullable Object[] arguments) {}

  Key key(Object key) {
    return new Key(shared.name(), Keys.encode(key), new stoa.Ref<>(shared.name(), key));
  }

  /// A call as it is put: the method's number and the arguments.
  byte[] call(SharedMethod method, @Nullable Object[] arguments) {
    byte[] encoded = marshaller.arguments(method, arguments);
    return new Encoder(encoded.length + 5).varint(number(method)).raw(encoded).toBytes();
  }

  /// A call as it is put, once its arguments were read as whoever executes it reads them.
  ///
  /// @throws stoa.NotShareable when an argument cannot be stored, or not be read back
  Put put(SharedMethod method, byte[] call) {
    var in = new Decoder(call);
    var _ = in.varint();
    @Nullable Object[] read = marshaller.read(method, call, in.position());
    return new Put(call, read == null ? null : new ReadArguments(code, read));
  }

  /// As [#put(SharedMethod, byte\[\])], of a call by other code than this.
  ///
  /// @throws stoa.NotShareable when this has no such method, or cannot read the arguments
  Put put(byte[] call) {
    Called called = called(new Decoder(call));
    return called == null ? Put.of(call) : called.type().put(called.method(), call);
  }

  private int number(SharedMethod method) {
    Integer number = numbers.get(method.index());
    if (number == null) {
      number = dictionary.idOf(ClassNames.method(shared, method)) + 1;
      numbers.set(method.index(), number);
    }
    return number;
  }

  /// The method that a put calls, or null when it only creates.
  @Nullable Called called(Decoder put) {
    return faces.called(put);
  }

  /// Whether the method has always been short, so that a caller's own thread may run it.
  boolean isQuick(SharedMethod method) {
    return paces[method.index()].proven;
  }

  /// Whether an accessor was seen to ask other objects. Only a hint: others may not have noticed
  /// yet.
  boolean asksOthers(SharedMethod method) {
    return asking[method.index()];
  }

  /// An accessor asks other objects.
  void sawAskOthers(SharedMethod method) {
    asking[method.index()] = true;
  }

  /// What is known of how long the method runs.
  Pace pace(SharedMethod method) {
    Runs runs = paces[method.index()];
    if (runs.brief && !runs.neverBrief) return Pace.BRIEF;
    return runs.proven ? Pace.SHORT : Pace.LONG;
  }

  /// What the decoding of a method's arguments may take on a thread that others wait for.
  Effort briefReading(SharedMethod method) {
    return readings[method.index()].brief ? Effort.proven() : Effort.brief();
  }

  /// Begins to time the decoding of arguments.
  long beginReading() {
    return clock.nowMicros();
  }

  /// A method's arguments were decoded; answers whether that was brief.
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

  /// Begins to time a run of a method; 0 when that is no longer needed.
  long begin(SharedMethod method) {
    Runs runs = paces[method.index()];
    return runs.proven && (runs.brief || runs.neverBrief) ? 0 : clock.nowMicros();
  }

  /// Ends to time a run of a method.
  ///
  /// @param waited whether it asked other objects, or had to be stopped: it is never brief again
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
