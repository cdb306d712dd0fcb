package stoa.front.marshal;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Blob;
import stoa.CallFailed;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.NotShareable;
import stoa.Shared;
import stoa.StoaException;
import stoa.front.types.NotBrief;
import stoa.front.types.Platform;
import stoa.front.types.SharedMethod;
import stoa.front.types.SharedType;
import stoa.spi.OwnState;

/// Turns arguments, results, exceptions and states into bytes and back.
///
/// A decoded value equals the original in all that a program can observe; the marshaller refuses to
/// write values for which that is impossible. `docs/decisions/marshalling.md` lists the exceptions.
/// The decoded value is a copy, which shares nothing mutable with the original. Shared objects
/// anywhere inside become references. The bytes of equal inputs are equal within one JVM, and a
/// state that was decoded encodes to the same bytes as one that was decoded twice: hash collections
/// iterate in the order in which they were read, so that an object that continues from its decoded
/// checkpoint iterates like every other replica that did.
///
/// Thread-safe. Every method throws [NotShareable] for a value that cannot be encoded,
/// [LimitExceeded] for an encoding above the limit, and [Corrupt] for invalid bytes; nothing else,
/// unless the dictionary fails when a value brings in another class.
public final class Marshaller {
  /*
   * A registry is immutable; registering another type creates a new registry with a new, empty pool
   * of codecs. A call in progress ends with its codec, and returns it to the old pool, which no call
   * takes from any more. The marshaller drops a codec that an Error left in doubt.
   */
  private static final byte ARGUMENTS = 0x01;
  private static final byte DESCRIBED_ARGUMENTS = 0x02;
  private static final byte NULL = 0x10;
  private static final byte FALSE = 0x11;
  private static final byte TRUE = 0x12;
  private static final byte INT = 0x13;
  private static final byte LONG = 0x14;
  private static final byte DOUBLE = 0x15;
  private static final byte TEXT = 0x16;
  private static final byte ID = 0x17;
  private static final byte GRAPH = 0x1F;
  private static final byte STATE = 0x20;
  private static final byte OWN_STATE = 0x21;
  private static final byte THROWN = 0x30;
  private static final byte THROWN_TEXT = 0x31;

  private static final byte[] GRAPH_PREFIX = {GRAPH};
  private static final byte[] NULL_VALUE = {NULL};
  private static final byte[] FALSE_VALUE = {FALSE};
  private static final byte[] TRUE_VALUE = {TRUE};
  private static final int TRACE_CHARS_MAX = 16_000;

  private final References references;
  private final ClassLoader loader;
  private final int bytesMax;

  // Its holder may wait for the log, which gets the names of new classes.
  private final ReentrantLock registering = new ReentrantLock();

  private volatile Generation generation;

  private record Generation(ClassRegistry registry, CodecPool codecs) {}

  /// Creates a marshaller of a store without blobs.
  ///
  /// @param extraTypes classes of values though no declaration of a shared type names them
  /// @param loader finds the classes of keys
  /// @param bytesMax the longest encoding
  /// @throws NotShareable when an extra type cannot be encoded
  public Marshaller(
      TypeIds ids,
      References references,
      List<Class<?>> extraTypes,
      ClassLoader loader,
      int bytesMax) {
    this(ids, references, Blob.class, extraTypes, loader, bytesMax);
  }

  /// Creates a marshaller with a class of blobs.
  ///
  /// @param blobs the class of the blobs that callers hold
  public Marshaller(
      TypeIds ids,
      References references,
      Class<? extends Blob> blobs,
      List<Class<?>> extraTypes,
      ClassLoader loader,
      int bytesMax) {
    this.references = references;
    this.loader = loader;
    this.bytesMax = bytesMax;
    ClassRegistry registry = new ClassRegistry(ids, blobs);
    for (Class<?> type : extraTypes) registry = registry.with(type);
    this.generation = generation(registry);
  }

  /// Registers a type and all classes that its declarations name. Cheap when it is registered.
  ///
  /// @throws NotShareable when one of these classes cannot be encoded, or when no rule covers the
  ///   stored values of its earlier version; the dictionary then gets no new name
  public void register(SharedType type) {
    if (generation.registry.has(type)) return;
    registering.lock();
    try {
      if (generation.registry.has(type)) return;
      generation = generation(generation.registry.with(type));
    } finally {
      registering.unlock();
    }
  }

  /// Returns a number for the encoding of a type's state: for the schemas of all classes that its
  /// declarations name, and for the encoding of JDK values. It ignores what a field holds beside
  /// those. Not cheap.
  public long form(SharedType type) {
    return generation.registry.form(type);
  }

  /// Registers a class of values, like [#register(SharedType)].
  public void register(Class<?> type) {
    if (generation.registry.has(type)) return;
    registering.lock();
    try {
      if (generation.registry.has(type)) return;
      generation = generation(generation.registry.with(type));
    } finally {
      registering.unlock();
    }
  }

  /// Registers a type, like [#register(SharedType)]; returns whether it was new.
  public boolean learn(SharedType type) {
    boolean known = generation.registry.has(type);
    register(type);
    return !known;
  }

  /// Returns whether a class is registered.
  public boolean isRegistered(Class<?> type) {
    return generation.registry.has(type);
  }

  private Generation generation(ClassRegistry registry) {
    int places = 4 * Runtime.getRuntime().availableProcessors();
    var known = new KnownClasses(registry);
    return new Generation(
        registry,
        new CodecPool(places, () -> new ForyCodec(registry, references, known, bytesMax)));
  }

  // ---- arguments

  /// Returns whether a method's arguments are numbers, text and the like, whose decoding takes work
  /// proportional to their bytes.
  public static boolean isSimple(SharedMethod method) {
    List<Class<?>> types = method.parameterTypes();
    for (int i = 0; i < types.size(); i++) { // each call comes here: no iterator
      if (!Simple.covers(types.get(i))) return false;
    }
    return true;
  }

  /// Returns the encoding of a call's arguments.
  public byte[] arguments(SharedMethod method, @Nullable Object[] arguments) {
    List<Class<?>> types = method.parameterTypes();
    if (arguments.length != types.size()) {
      throw new IllegalArgumentException(
          method + " takes " + types.size() + " arguments, not " + arguments.length);
    }
    var out = new Simple.Output();
    boolean described = method.isSuccessor();
    out.put(described ? DESCRIBED_ARGUMENTS : ARGUMENTS);
    int others = 0;
    for (int i = 0; i < arguments.length; i++) {
      Class<?> type = types.get(i);
      if (described) out.put(Simple.number(type));
      if (Simple.covers(type)) Simple.write(out, type, arguments[i]);
      else others++;
    }
    if (others == 0) return bounded(out.toBytes());
    @Nullable Object[] roots = new Object[others];
    for (int i = 0, r = 0; i < arguments.length; i++) {
      if (!Simple.covers(types.get(i))) roots[r++] = arguments[i];
    }
    return using(codec -> codec.write(out.array(), out.length(), roots, 0));
  }

  /// Returns the decoded arguments.
  public @Nullable Object[] arguments(SharedMethod method, byte[] bytes) {
    return arguments(method, bytes, 0, bytes.length);
  }

  /// Returns the arguments encoded in the bytes from `from` to `to`, exclusive.
  public @Nullable Object[] arguments(SharedMethod method, byte[] bytes, int from, int to) {
    return arguments(method, bytes, from, to, loader);
  }

  /// Returns the decoded arguments. A loader finds the classes of keys in references.
  public @Nullable Object[] arguments(
      SharedMethod method, byte[] bytes, int from, int to, ClassLoader keys) {
    return arguments(method, bytes, from, to, keys, null);
  }

  /// Returns the arguments decoded from bytes that another process wrote.
  ///
  /// @param effort the limit; null for none
  /// @throws NotBrief when it takes more than a brief effort
  /// @throws NotShareable when a call of an earlier method with the same identity wrote them, and
  ///   this method takes others
  public @Nullable Object[] arguments(
      SharedMethod method,
      byte[] bytes,
      int from,
      int to,
      ClassLoader keys,
      @Nullable Effort effort) {
    var in = new Simple.Input(bytes, from, to);
    byte format = in.get();
    boolean described = format == DESCRIBED_ARGUMENTS;
    if (!described) expect(ARGUMENTS, format, "the arguments of ", method);
    try {
      return arguments(method, in, described, bytes, to, keys, effort);
    } catch (Corrupt unreadable) {
      if (!described && !method.isSuccessor()) throw unreadable;
      throw ParameterTypes.other(method, unreadable);
    }
  }

  private @Nullable Object[] arguments(
      SharedMethod method,
      Simple.Input in,
      boolean described,
      byte[] bytes,
      int to,
      ClassLoader keys,
      @Nullable Effort effort) {
    List<Class<?>> types = method.parameterTypes();
    List<Class<?>> written = described ? types : ParameterTypes.stored(method);
    @Nullable Object[] arguments = new Object[types.size()];
    boolean[] graph = new boolean[types.size()];
    int others = 0;
    for (int i = 0; i < arguments.length; i++) {
      Class<?> type = written.get(i);
      if (described) {
        byte number = in.get();
        type = number < 0 ? Object.class : Simple.type(number);
      }
      if (Simple.covers(type)) {
        arguments[i] = ParameterTypes.passed(method, i, type, Simple.read(in, type));
      } else {
        ParameterTypes.checkNotSimple(method, i);
        graph[i] = true;
        others++;
      }
    }
    if (others == 0) {
      in.end();
      return arguments;
    }
    int count = others;
    @Nullable Object[] roots = using(keys, effort, codec -> codec.read(bytes, in.at(), to, count));
    for (int i = 0, r = 0; i < arguments.length; i++) {
      if (!graph[i]) continue;
      Class<?> type = types.get(i);
      Object root = roots[r++];
      if (root != null && !type.isInstance(root)) {
        throw new Corrupt(
            "argument "
                + i
                + " of "
                + method
                + " is a "
                + type.getTypeName()
                + ", and a "
                + root.getClass().getTypeName()
                + " is stored for it");
      }
      arguments[i] = root;
    }
    return arguments;
  }

  /// Returns the arguments as the executing replica reads them, for a call that is not logged yet;
  /// null for a method that takes simple values only, which are always readable.
  ///
  /// @param from the offset of the arguments in the bytes
  /// @throws NotShareable when they are not readable
  public @Nullable Object @Nullable [] read(SharedMethod method, byte[] bytes, int from) {
    if (isSimple(method)) return null;
    try {
      return arguments(method, bytes, from, bytes.length);
    } catch (StoaException unreadable) {
      throw unreadable("an argument of " + method, unreadable);
    }
  }

  private static NotShareable unreadable(String what, StoaException reason) {
    return new NotShareable(
        what + " could not be read back when it is stored: " + reason.getMessage(), reason);
  }

  // ---- values

  /// Returns the encoding of a value for the store.
  ///
  /// @param what the value's part, for the message of a refusal
  /// @throws NotShareable when the value cannot be encoded, or could not be decoded
  public byte[] stored(Object value, String what) {
    byte[] encoded = value(value);
    if (encoded[0] != GRAPH) return encoded;
    try {
      var _ = value(encoded);
    } catch (StoaException unreadable) {
      throw unreadable(what, unreadable);
    }
    return encoded;
  }

  /// Returns the encoding of a value: a result, or any other. For a value that is an array of
  /// bytes, declare it as `Object`; otherwise the compiler chooses [#value(byte[])].
  public byte[] value(@Nullable Object value) {
    return switch (value) {
      case null -> NULL_VALUE.clone();
      case Boolean b -> b ? TRUE_VALUE.clone() : FALSE_VALUE.clone();
      case Integer i -> simple(INT, int.class, i);
      case Long l -> simple(LONG, long.class, l);
      case Double d -> simple(DOUBLE, double.class, d);
      case String s -> simple(TEXT, String.class, s);
      case java.util.UUID id -> simple(ID, java.util.UUID.class, id);
      default -> {
        @Nullable Object[] roots = {value};
        yield using(codec -> codec.write(GRAPH_PREFIX, 1, roots, 0));
      }
    };
  }

  private byte[] simple(byte format, Class<?> type, Object value) {
    var out = new Simple.Output();
    out.put(format);
    Simple.write(out, type, value);
    return bounded(out.toBytes());
  }

  /// Returns the decoded value.
  public @Nullable Object value(byte[] bytes) {
    return value(bytes, 0, bytes.length);
  }

  /// Returns the value encoded in the bytes from `from` to `to`, exclusive.
  public @Nullable Object value(byte[] bytes, int from, int to) {
    return value(bytes, from, to, loader);
  }

  /// Returns the decoded value like [#value(byte\[\])]. A loader finds the classes of keys in
  /// references.
  public @Nullable Object value(byte[] bytes, ClassLoader keys) {
    return value(bytes, 0, bytes.length, keys);
  }

  /// Returns the value decoded from bytes that another process wrote.
  ///
  /// @param effort the limit
  /// @throws NotBrief when it takes more than a brief effort
  public @Nullable Object value(byte[] bytes, ClassLoader keys, Effort effort) {
    return value(bytes, 0, bytes.length, keys, effort);
  }

  /// Returns the decoded value like [#value(byte\[\], int, int)]. A loader finds the classes of
  /// keys in references.
  public @Nullable Object value(byte[] bytes, int from, int to, ClassLoader keys) {
    return value(bytes, from, to, keys, null);
  }

  private @Nullable Object value(
      byte[] bytes, int from, int to, ClassLoader keys, @Nullable Effort effort) {
    var in = new Simple.Input(bytes, from, to);
    byte format = in.get();
    if (format == GRAPH) return using(keys, effort, codec -> codec.read(bytes, from + 1, to, 1))[0];
    Object value = simple(format, in);
    in.end();
    return value;
  }

  /// Returns the root of a graph that fills the bytes.
  @Nullable Object graph(byte[] bytes, int from, int to) {
    return using(codec -> codec.read(bytes, from, to, 1))[0];
  }

  /// Returns a value that is no graph, read after its first byte.
  @Nullable Object simple(byte format, Simple.Input in) {
    return switch (format) {
      case NULL -> null;
      case FALSE -> false;
      case TRUE -> true;
      case INT -> Simple.read(in, int.class);
      case LONG -> Simple.read(in, long.class);
      case DOUBLE -> Simple.read(in, double.class);
      case TEXT -> Simple.read(in, String.class);
      case ID -> Simple.read(in, java.util.UUID.class);
      default -> throw new Corrupt("an encoded value begins with byte " + format);
    };
  }

  /// Returns whether an object is deeply immutable, so that callers may pass it without a copy.
  /// Quick; false when the answer would take long.
  public boolean isValue(@Nullable Object object) {
    return ImmutableValues.isValue(object);
  }

  /// Returns a copy of a value that shares nothing mutable with it.
  public @Nullable Object copy(@Nullable Object object) {
    return ImmutableValues.isValue(object) ? object : value(value(object));
  }

  // ---- state

  /// Returns the encoding of an instance of a shared type's implementation.
  public byte[] state(SharedType type, Object instance) {
    if (instance.getClass() != type.implementation()) {
      throw new IllegalArgumentException(
          instance.getClass().getName() + " is not the implementation of " + type);
    }
    register(type);
    if (instance instanceof OwnState own) return OwnStates.write(this, own, OWN_STATE, bytesMax);
    return using(codec -> codec.writeState(STATE, type.implementation(), instance));
  }

  /// Returns the decoded state as a new instance.
  public Object state(SharedType type, byte[] bytes) {
    return state(type, bytes, 0, bytes.length);
  }

  /// Returns the state encoded in the bytes from `from` to `to`, exclusive, as a new instance.
  public Object state(SharedType type, byte[] bytes, int from, int to) {
    register(type);
    byte format = new Simple.Input(bytes, from, to).get();
    if (OwnState.class.isAssignableFrom(type.implementation())) {
      expect(OWN_STATE, format, "the state of ", type);
      Struct struct = java.util.Objects.requireNonNull(generation.registry.stateOf(type));
      var instance = (OwnState) struct.allocate();
      OwnStates.read(this, instance, bytes, from + 1, to);
      return instance;
    }
    expect(STATE, format, "the state of ", type);
    return using(codec -> codec.readState(type.implementation(), bytes, from + 1, to));
  }

  // ---- exceptions

  /// Returns the encoding of a thrown exception. An exception that cannot be encoded becomes a
  /// [CallFailed] with its class, message and trace.
  public byte[] thrown(Throwable thrown) {
    try {
      byte[] encoded = using(codec -> codec.writeThrown(THROWN, thrown));
      // An exception of the program has fields, which must be readable.
      if (!isPlain(thrown)) {
        var _ = thrown(encoded);
      }
      return encoded;
    } catch (StoaException e) {
      var out = new Simple.Output();
      out.put(THROWN_TEXT);
      out.text(describe(thrown, e));
      return out.toBytes();
    }
  }

  private static boolean isPlain(Throwable thrown) {
    int depth = 0;
    for (Throwable next = thrown; next != null; next = next.getCause()) {
      boolean known = Platform.has(next.getClass()) || next instanceof StoaException;
      if (!known || next.getSuppressed().length > 0 || ++depth > 16) return false;
    }
    return true;
  }

  private static String describe(Throwable thrown, StoaException reason) {
    var trace = new StringWriter();
    try {
      thrown.printStackTrace(new PrintWriter(trace));
    } catch (OutOfMemoryError full) {
      throw full;
    } catch (RuntimeException | Error own) {
      trace
          .append(thrown.getClass().getName())
          .append(", whose trace cannot be printed: it threw a ")
          .append(own.getClass().getName());
    }
    String text = trace.toString();
    if (text.length() > TRACE_CHARS_MAX) text = text.substring(0, TRACE_CHARS_MAX) + " …";
    return "the method threw a "
        + thrown.getClass().getName()
        + ", which cannot travel: "
        + reason.getMessage()
        + "\n"
        + text;
  }

  /// Returns the decoded exception, of the same class and with the trace of the place that threw
  /// it; a [CallFailed] when it could not be encoded.
  public Throwable thrown(byte[] bytes) {
    return thrown(bytes, 0, bytes.length);
  }

  /// Returns the exception encoded in the bytes from `from` to `to`, exclusive.
  public Throwable thrown(byte[] bytes, int from, int to) {
    return thrown(bytes, from, to, loader);
  }

  /// Returns the exception like [#thrown(byte\[\], int, int)]. A loader finds the classes of keys
  /// in references.
  public Throwable thrown(byte[] bytes, int from, int to, ClassLoader keys) {
    var in = new Simple.Input(bytes, from, to);
    byte format = in.get();
    if (format == THROWN_TEXT) {
      String text = in.text();
      in.end();
      return new CallFailed(String.valueOf(text));
    }
    expect(THROWN, format, "the bytes of ", "an exception");
    return using(keys, codec -> codec.readThrown(bytes, from + 1, to));
  }

  // ----

  private <R> R using(Function<ForyCodec, R> action) {
    return using(loader, action);
  }

  private <R> R using(ClassLoader keys, Function<ForyCodec, R> action) {
    return using(keys, null, action);
  }

  private <R> R using(ClassLoader keys, @Nullable Effort effort, Function<ForyCodec, R> action) {
    boolean learned = false;
    while (true) {
      ClassRegistry before = generation.registry;
      try {
        return once(keys, effort, action);
      } catch (NotShareable unknown) {
        if (registers(unknown, before, effort)) continue;
        if (learned || !references.learn()) throw unknown;
        learned = true;
      }
    }
  }

  /// Registers the class for whose lack a value was refused, if the store has had it and this
  /// process has it; returns whether there is more now than before the refusal. So it depends on
  /// the store, and not on what this process did before, which values it reads and writes.
  private boolean registers(NotShareable refusal, ClassRegistry before, @Nullable Effort effort) {
    String name = ForyCodec.absentIn(refusal);
    if (name == null) return false;
    if (effort != null) effort.beginRegistering();
    try {
      Class<?> type = references.classOf(name);
      if (type != null && !isKnown(type)) register(type);
      return !before.equals(generation.registry);
    } catch (NotShareable unfit) {
      // Another process may have a class that fits.
      throw new NotShareable(
          refusal.getMessage() + "; it does not fit: " + unfit.getMessage(),
          ForyCodec.absent(name));
    }
  }

  private boolean isKnown(Class<?> type) {
    ClassRegistry registry = generation.registry;
    return type.isAnnotationPresent(Shared.class)
        ? registry.has(SharedType.of(type))
        : registry.has(type);
  }

  /// Returns whether a value was refused for the lack of a class in this process. Another process,
  /// which has the class, takes the value.
  public static boolean lacksClass(NotShareable refusal) {
    Throwable cause = refusal.getCause();
    return cause instanceof ClassNotFoundException || cause instanceof LinkageError;
  }

  private <R> R once(ClassLoader keys, @Nullable Effort effort, Function<ForyCodec, R> action) {
    CodecPool codecs = generation.codecs;
    ForyCodec codec = codecs.take();
    codec.keys(keys);
    codec.effort(effort);
    try {
      R result = action.apply(codec);
      give(codecs, codec);
      return result;
    } catch (NotBrief later) {
      give(codecs, codec);
      throw later;
    } catch (StoaException e) {
      // Reset as after a success, unless the JVM failed in the middle of an operation.
      if (!(e.getCause() instanceof Error)) give(codecs, codec);
      throw e;
    }
  }

  private static void give(CodecPool codecs, ForyCodec codec) {
    codec.effort(null);
    codecs.give(codec);
  }

  private byte[] bounded(byte[] bytes) {
    if (bytes.length > bytesMax) {
      throw new LimitExceeded(
          "an encoding takes " + bytes.length + " bytes; bytesMax is " + bytesMax);
    }
    return bytes;
  }

  private static void expect(byte format, byte found, String what, Object of) {
    if (format == found) return;
    throw new Corrupt(what + of + " begin with byte " + found + ", not " + format);
  }
}
