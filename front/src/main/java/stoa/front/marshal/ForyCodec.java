package stoa.front.marshal;

import java.io.IOException;
import java.math.RoundingMode;
import java.time.DayOfWeek;
import java.time.Month;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.fory.Fory;
import org.apache.fory.context.MetaStringReader;
import org.apache.fory.context.MetaStringWriter;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.logging.LoggerFactory;
import org.apache.fory.memory.MemoryBuffer;
import org.apache.fory.resolver.ClassResolver;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.ArraySerializers;
import org.apache.fory.serializer.Serializer;
import org.apache.fory.type.Generics;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.NotShareable;
import stoa.Ref;
import stoa.StoaException;
import stoa.base.ThrowableText;
import stoa.base.Unwinding;
import stoa.front.types.NotBrief;
import stoa.front.types.Platform;
import stoa.spi.Cancellation;

/// One Apache Fory instance with its buffer, configured for one [ClassRegistry].
///
/// Used by one thread at a time. Unusable after a failure with an `Error`.
final class ForyCodec {
  /*
   * Fory writes the types that it knows (the JDK's) and keeps the table of references; each class
   * of the program has a serializer of Stoa. Three measures keep Fory from writing objects itself:
   * - a class must be registered (requireClassRegistration),
   * - a registered class has a serializer of Stoa,
   * - for a class that Fory would admit without registration (function interfaces, arrays, lambdas,
   *   JDK proxies), gate() decides.
   *
   * Fory's code generation is off: at run time it would compile a class for each of the program's,
   * which would take most of the start-up time, and Stoa's serializers would not use it.
   */
  static final int DEPTH_MAX = 800;
  private static final int FORY_DEPTH_MAX = 4 * DEPTH_MAX;
  private static final int BUFFER_KEPT_BYTES_MAX = 1 << 20;

  // The memory that decoding may use beyond a multiple of its bytes.
  private static final long MEMORY_FLOOR_BYTES = 1 << 20;

  private static final long MEMORY_PER_BYTE = 64;

  // The most elements without bytes of their own, such as the nulls of a list.
  private static final int BARE_ELEMENTS_MAX = 1 << 20;

  // Classes of the JDK that Fory does not register by itself. Their numbers count from 1, so that
  // the order is part of the format.
  private static final List<Class<?>> PLATFORM =
      List.of(
          ZoneId.of("Europe/Berlin").getClass(),
          String.CASE_INSENSITIVE_ORDER.getClass(),
          DayOfWeek.class,
          Month.class,
          ChronoUnit.class,
          TimeUnit.class,
          RoundingMode.class);

  // Exceptions of the JDK that Fory registers by itself, and would write with their traces.
  private static final List<Class<? extends Throwable>> EXCEPTIONS =
      List.of(
          Exception.class,
          RuntimeException.class,
          IllegalArgumentException.class,
          IllegalStateException.class,
          IndexOutOfBoundsException.class,
          ArrayIndexOutOfBoundsException.class,
          NullPointerException.class,
          IOException.class);

  private static final int REF_ID = 0;
  static final int ENTRY_ID = 32;
  private static final int FIRST_ID = 64;

  private static final Pattern UNREGISTERED =
      Pattern.compile(
          "^(?:Class )?(?:class |interface )?(\\S+) (?:is not reg|doesn't support ser)");

  static {
    PrivateFields.open();
    LoggerFactory.disableLogging();
  }

  private final ClassRegistry registry;
  private final References references;
  private final ClassLoader known;
  private final int bytesMax;
  private final Fory fory;
  private final MemoryBuffer buffer = MemoryBuffer.newHeapBuffer(512);
  private final OpenRefs refs;
  private final Filling filling = new Filling();
  private final WriteContext out;
  private final ReadContext in;
  private final Map<Class<?>, StructSerializer> states = new HashMap<>();
  private final Throwables throwables;
  private final List<Runnable> afterwards = new ArrayList<>();

  // The classes that readers of this registry are proved to find by their names.
  private final Set<Class<?>> found = new HashSet<>();

  // The unproved classes that the graph in progress names.
  private final Set<Class<?>> unproved = new LinkedHashSet<>();

  // Whether the graph in progress is a thrown exception, with its trace.
  private boolean traced;

  private final long memoryMax;

  // Finds the classes of the keys in the graph being read.
  private ClassLoader keys;

  // The limit of reading; null for none.
  private @Nullable Effort effort;

  /// @param known finds the classes of the registry
  ForyCodec(ClassRegistry registry, References references, ClassLoader known, int bytesMax) {
    this.registry = registry;
    this.references = references;
    this.known = known;
    this.keys = known;
    this.bytesMax = bytesMax;
    this.memoryMax = MEMORY_FLOOR_BYTES + MEMORY_PER_BYTE * bytesMax;
    this.fory =
        Fory.builder()
            .withXlang(false)
            .withCompatible(false)
            .withRefTracking(true)
            .ignoreStringRef(true)
            .ignoreTimeRef(true)
            .requireClassRegistration(true)
            .suppressClassRegistrationWarnings(true)
            .serializeEnumByName(true)
            .registerGuavaTypes(false)
            .withCodegen(false)
            .withDeserializeUnknownClass(false)
            .withMaxDepth(FORY_DEPTH_MAX)
            .withMaxGraphMemoryBytes(memoryMax)
            .withMaxUnbackedContainerItems(BARE_ELEMENTS_MAX)
            .withClassLoader(known)
            .build();
    fory.registerSerializerFactory(ForyCodec::gate);
    TypeResolver resolver = fory.getTypeResolver();
    this.refs = new OpenRefs(resolver.getConfig().mapRefLoadFactor());
    this.throwables = new Throwables(this, resolver);
    fory.register(Ref.class, REF_ID);
    fory.registerSerializer(Ref.class, new ReferenceSerializers.OfRef(this, resolver));
    fory.registerSerializer(Class.class, new ClassSerializer(this, resolver));
    StableOrderSerializers.register(fory, resolver, filling);
    LosslessSerializers.register(fory, resolver);
    for (int i = 0; i < PLATFORM.size(); i++) fory.register(PLATFORM.get(i), 1 + i);
    for (Object constant : Constants.ALL) {
      fory.registerSerializer(constant.getClass(), new Constants(resolver, constant));
    }
    for (Class<? extends Throwable> type : EXCEPTIONS) {
      fory.registerSerializer(type, new ThrowableSerializer(throwables, resolver, type));
    }
    CountedContainerSerializers.register(this, fory, resolver);
    ContentsFirstSerializers.register(fory, resolver, refs, StableOrderSerializers.late());
    registry.entries().forEach((type, entry) -> register(resolver, type, entry));
    registerEarlier(resolver);
    registry
        .states()
        .forEach((type, struct) -> states.put(type, new StructSerializer(this, resolver, struct)));
    fory.deserialize(fory.serialize("")); // ends Fory's registration phase
    this.out =
        new WriteContext(
            resolver.getConfig(), new Generics(), resolver, refs, new MetaStringWriter());
    this.in =
        new ReadContext(
            resolver.getConfig(),
            new Generics(),
            resolver,
            filling,
            new MetaStringReader(resolver.getSharedRegistry()));
  }

  private void register(TypeResolver resolver, Class<?> type, ClassRegistry.Entry entry) {
    var classes = (ClassResolver) resolver;
    if (classes.isRegistered(type)) return;
    if (entry instanceof ClassRegistry.Entry.Constants constants) {
      EnumForm form = constants.form();
      classes.registerEnum(type, FIRST_ID + entry.id(), form.serializer(resolver, type));
      return;
    }
    fory.register(type, FIRST_ID + entry.id());
    switch (entry) {
      case ClassRegistry.Entry.Fields fields ->
          fory.registerSerializer(type, new StructSerializer(this, resolver, fields.struct()));
      case ClassRegistry.Entry.Constants _ -> throw new IllegalStateException("registered above");
      case ClassRegistry.Entry.PlatformConstants _, ClassRegistry.Entry.Arrays _ -> {} // Fory's own
      case ClassRegistry.Entry.Exceptions _ ->
          fory.registerSerializer(type, new ThrowableSerializer(throwables, resolver, type));
      case ClassRegistry.Entry.ByReference shared ->
          fory.registerSerializer(
              type, new ReferenceSerializers.OfShared(this, resolver, type, shared));
      case ClassRegistry.Entry.ByFacade _ ->
          fory.registerSerializer(type, FacadeSerializers.of(this, resolver, type));
    }
  }

  /// Registers the numbers of the earlier names of classes, which the codec reads and never writes.
  private void registerEarlier(TypeResolver resolver) {
    var enums = new HashMap<Class<?>, Class<?>>();
    int position = 0;
    for (var earlier : registry.earlier().entrySet()) {
      int id = FIRST_ID + earlier.getKey();
      Class<?> type = earlier.getValue();
      Class<?> standIn = StandIns.get(position++);
      switch (Objects.requireNonNull(registry.entries().get(type))) {
        case ClassRegistry.Entry.Constants constants -> {
          ((ClassResolver) resolver)
              .registerEnum(standIn, id, constants.form().serializer(resolver, standIn));
          enums.put(standIn, type);
        }
        case ClassRegistry.Entry.Fields fields -> {
          fory.register(standIn, id);
          fory.registerSerializer(standIn, new StructSerializer(this, resolver, fields.struct()));
        }
        case ClassRegistry.Entry.Arrays _ -> {
          fory.register(standIn, id);
          fory.registerSerializer(
              standIn, new ArraySerializers.ObjectArraySerializer(resolver, type));
        }
        case ClassRegistry.Entry.Exceptions _ -> {
          fory.register(standIn, id);
          fory.registerSerializer(standIn, new ThrowableSerializer(throwables, resolver, type));
        }
        default -> throw new IllegalStateException(type + " has no earlier names");
      }
    }
    if (!enums.isEmpty()) EnumContainers.register(fory, resolver, enums);
  }

  /// Admits the types that Fory may serialize by itself without registration: arrays of registered
  /// types, and the JDK's own subclasses of types that it handles.
  private static @Nullable Serializer<?> gate(TypeResolver resolver, Class<?> type) {
    var registered = (ClassResolver) resolver;
    if (registered.isRegistered(type)) return null;
    if (type.isArray()) {
      Class<?> element = type;
      while (element.isArray()) element = element.getComponentType();
      // Fory writes such an array by name, and reads only arrays whose elements are registered.
      if (element.isPrimitive() || registered.isRegistered(element)) return null;
      throw refused(type.getTypeName());
    }
    if (type.isEnum()) return null;
    boolean constant = type.getSuperclass() != null && type.getSuperclass().isEnum();
    boolean platform = Platform.has(type) && !type.isInterface() && !type.isHidden();
    if (constant || (platform && !java.lang.reflect.Proxy.isProxyClass(type))) return null;
    throw refused(type.getTypeName());
  }

  // ---- for serializers

  int bytesMax() {
    return bytesMax;
  }

  References references() {
    return references;
  }

  /// Returns the loader of the registry's classes.
  ClassLoader known() {
    return known;
  }

  /// Returns the loader of the classes of keys in the graph being read.
  ClassLoader keys() {
    return keys;
  }

  /// Sets the loader of the classes of keys.
  void keys(ClassLoader loader) {
    keys = loader;
  }

  /// Returns the limit of reading; null for none.
  @Nullable Effort effort() {
    return effort;
  }

  /// Sets the limit of reading; null for none.
  void effort(@Nullable Effort most) {
    effort = most;
    filling.effort(most);
  }

  /// Returns whether it writes exceptions with their traces.
  boolean isTraced() {
    return traced;
  }

  ClassRegistry registry() {
    return registry;
  }

  /// Returns the table of references of the graph being read.
  Filling filling() {
    return filling;
  }

  /// Returns the table of references of the graph being written.
  OpenRefs refs() {
    return refs;
  }

  /// Notes that the graph being written names a class.
  void names(Class<?> type) {
    if (!found.contains(type)) unproved.add(type);
  }

  /// Schedules an action for the moment when the codec has read the whole graph.
  void afterwards(Runnable action) {
    afterwards.add(action);
  }

  LimitExceeded tooLong(long bytes) {
    return new LimitExceeded(
        "an encoding takes more than " + bytes + " bytes; bytesMax is " + bytesMax);
  }

  // ---- graphs

  /// Appends a graph of several roots to `prefix`.
  byte[] write(byte[] prefix, int length, @Nullable Object[] roots, int from) {
    return proved(written(prefix, length, roots, from));
  }

  private byte[] written(byte[] prefix, int length, @Nullable Object[] roots, int from) {
    buffer.writerIndex(0);
    buffer.writeBytes(prefix, 0, length);
    unproved.clear();
    out.prepare(buffer, null);
    try {
      for (int i = from; i < roots.length; i++) out.writeRef(roots[i]);
      return finish();
    } catch (Throwable e) {
      throw notEncodable(e);
    } finally {
      endWriting();
    }
  }

  byte[] writeState(byte format, Class<?> implementation, Object instance) {
    return proved(writtenState(format, implementation, instance));
  }

  private byte[] writtenState(byte format, Class<?> implementation, Object instance) {
    buffer.writerIndex(0);
    buffer.writeByte(format);
    unproved.clear();
    out.prepare(buffer, null);
    try {
      out.writeRef(instance, state(implementation));
      return finish();
    } catch (Throwable e) {
      throw notEncodable(e);
    } finally {
      endWriting();
    }
  }

  byte[] writeThrown(byte format, Throwable thrown) {
    return proved(writtenThrown(format, thrown));
  }

  private byte[] writtenThrown(byte format, Throwable thrown) {
    buffer.writerIndex(0);
    buffer.writeByte(format);
    unproved.clear();
    out.prepare(buffer, null);
    traced = true;
    try {
      throwables.write(out, thrown);
      return finish();
    } catch (Throwable e) {
      throw notEncodable(e);
    } finally {
      endWriting();
    }
  }

  /// Refuses a graph that names a class which a reader would not find, or would take for another
  /// one.
  private byte[] proved(byte[] graph) {
    if (unproved.isEmpty()) return graph;
    var named = List.copyOf(unproved);
    unproved.clear();
    for (Class<?> type : named) {
      if (!isFound(type)) throw unfound(type);
      found.add(type);
    }
    return graph;
  }

  private boolean isFound(Class<?> type) {
    try {
      byte[] trial = written(new byte[0], 0, new Object[] {type}, 0);
      return type.equals(read(trial, 0, trial.length, 1)[0]);
    } catch (StoaException unreadable) {
      return false;
    } finally {
      unproved.clear();
    }
  }

  private void endWriting() {
    traced = false;
    out.reset();
  }

  private byte[] finish() {
    int length = buffer.writerIndex();
    if (length > bytesMax) throw tooLong(length - 1L);
    return buffer.getBytes(0, length);
  }

  /// Reads `count` roots that fill the bytes exactly.
  @Nullable Object[] read(byte[] bytes, int from, int to, int count) {
    @Nullable Object[] roots = new Object[count];
    begin(bytes, from, to);
    if (effort != null) effort.begin(to - from);
    try {
      for (int i = 0; i < count; i++) roots[i] = in.readRef();
      end(to - from);
      if (effort != null && filling.isShared()) effort.checkExpanded(roots, this::parts);
      return roots;
    } catch (Throwable e) {
      throw notDecodable(e);
    } finally {
      in.reset();
    }
  }

  /// Returns the values of an object's fields; none when its class is not of the program.
  private List<@Nullable Object> parts(Object object) {
    return registry.entries().get(object.getClass()) instanceof ClassRegistry.Entry.Fields fields
        ? fields.struct().objects(object)
        : List.of();
  }

  Object readState(Class<?> implementation, byte[] bytes, int from, int to) {
    begin(bytes, from, to);
    try {
      Object state = in.readRef(state(implementation));
      end(to - from);
      if (state == null || state.getClass() != implementation) {
        throw new Corrupt("the state of a " + implementation.getName() + " holds no such object");
      }
      return state;
    } catch (Throwable e) {
      throw notDecodable(e);
    } finally {
      in.reset();
    }
  }

  Throwable readThrown(byte[] bytes, int from, int to) {
    begin(bytes, from, to);
    try {
      Throwable thrown = throwables.read(in);
      end(to - from);
      if (thrown == null) throw new Corrupt("an exception is stored as null");
      return thrown;
    } catch (Throwable e) {
      throw notDecodable(e);
    } finally {
      in.reset();
    }
  }

  private void begin(byte[] bytes, int from, int to) {
    afterwards.clear();
    in.prepare(MemoryBuffer.fromByteArray(bytes, from, to - from), null, false);
    long allowed = MEMORY_FLOOR_BYTES + MEMORY_PER_BYTE * (to - from);
    if (allowed < memoryMax) in.reserveGraphMemory(memoryMax - allowed);
  }

  private void end(int length) {
    int read = in.getBuffer().readerIndex();
    if (read != length) throw new Corrupt("an encoding has " + (length - read) + " bytes too many");
    filling.finish();
    for (Runnable action : afterwards) action.run();
    afterwards.clear();
  }

  private StructSerializer state(Class<?> implementation) {
    StructSerializer serializer = states.get(implementation);
    if (serializer == null) {
      throw new IllegalStateException(implementation.getName() + " is not registered");
    }
    return serializer;
  }

  /// Returns whether the codec may serve another call: its buffer is not too large to keep.
  boolean reusable() {
    return buffer.size() <= BUFFER_KEPT_BYTES_MAX;
  }

  // ---- errors

  private static RuntimeException notEncodable(Throwable e) {
    throwOn(e);
    StoaException known = known(e);
    if (known != null) return known;
    if (e instanceof StackOverflowError) {
      return new NotShareable(
          "the value nests too deep; keep its elements in a collection instead of a chain", e);
    }
    if (e instanceof VirtualMachineError error) throw error;
    String unregistered = unregistered(e);
    if (unregistered != null) return refused(unregistered);
    return new NotShareable("the value cannot be marshalled: " + ThrowableText.of(e), e);
  }

  private RuntimeException notDecodable(Throwable e) {
    throwOn(e);
    StoaException known = known(e);
    if (known != null) return known;
    if (e instanceof NotBrief later) return later;
    if (e instanceof Cancellation.Stopped stopped) throw stopped;
    if (e instanceof StackOverflowError) {
      return new LimitExceeded(
          "the value nests too deep to be read; keep its elements in one collection instead of a"
              + " chain",
          e);
    }
    if (e instanceof OutOfMemoryError error) throw error;
    String unregistered = unregistered(e);
    boolean unknown = e instanceof NullPointerException || e instanceof AssertionError;
    String stored = unregistered == null && unknown ? unknownName() : null;
    if (stored != null) return unknown(stored);
    if (unregistered != null) return refused(unregistered);
    return new Corrupt("an encoded value cannot be read: " + ThrowableText.of(e), e);
  }

  /// Returns the name in the dictionary of the class whose number Fory read last, when a null
  /// pointer or a failed assertion of Fory shows that it is not registered here; null when the
  /// dictionary does not know the number either.
  private @Nullable String unknownName() {
    MemoryBuffer read = in.getBuffer();
    int end = read.readerIndex();
    int start = end - 1;
    while (start > 0 && read.getByte(start - 1) < 0) start--;
    int number = 0;
    for (int i = start, shift = 0; i >= 0 && i < end && shift < 28; i++, shift += 7) {
      number |= (read.getByte(i) & 0x7F) << shift;
    }
    String name = number < FIRST_ID ? null : registry.ids().nameOf(number - FIRST_ID);
    return name != null && !named(name).isEmpty() ? name : null;
  }

  /// Returns what a name in the dictionary names: a class, for a shared class its stored name;
  /// empty when it names neither.
  private static String named(String name) {
    for (String prefix :
        List.of(ClassRegistry.CLASS, ClassRegistry.PROXY, ClassRegistry.INSTANCE)) {
      if (name.startsWith(prefix)) return name.substring(prefix.length());
    }
    return "";
  }

  /// Returns the cause of the refusal of a value whose class is not registered here.
  ///
  /// @param name the class's name in the dictionary
  static ClassNotFoundException absent(String name) {
    return new ClassNotFoundException(name);
  }

  /// Returns the name in the dictionary of the class for whose lack a value was refused; null when
  /// it was refused for another reason.
  static @Nullable String absentIn(NotShareable refusal) {
    return refusal.getCause() instanceof ClassNotFoundException absent ? absent.getMessage() : null;
  }

  private static @Nullable StoaException known(Throwable e) {
    Throwable cause = e;
    for (int i = 0; cause != null && i < 16; i++) {
      if (cause instanceof StoaException known) return known;
      cause = ThrowableText.cause(cause);
    }
    return null;
  }

  /// Rethrows an exception that stops the method for which this marshals, and that must not become
  /// an answer.
  private static void throwOn(Throwable e) {
    Throwable cause = e;
    for (int i = 0; cause != null && i < 16; i++) {
      Unwinding.throwOn(cause);
      if (cause instanceof Cancellation.Stopped stopped) throw stopped;
      cause = ThrowableText.cause(cause);
    }
  }

  private static @Nullable String unregistered(Throwable e) {
    Throwable cause = e;
    for (int i = 0; cause != null && i < 16; i++) {
      Matcher matcher = UNREGISTERED.matcher(String.valueOf(ThrowableText.message(cause)));
      if (matcher.find()) return matcher.group(1);
      cause = ThrowableText.cause(cause);
    }
    return null;
  }

  private static boolean isContainer(String type) {
    if (!type.startsWith("java.util.")) return false;
    try {
      Class<?> c = Class.forName(type, false, null);
      return Collection.class.isAssignableFrom(c)
          || Map.class.isAssignableFrom(c)
          || Map.Entry.class.isAssignableFrom(c);
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private static NotShareable unfound(Class<?> type) {
    String name = type.getTypeName();
    return new NotShareable(
        "the Class of "
            + name
            + " cannot travel or be stored: no declared field, parameter or result names "
            + name
            + "; list it in StoaConfig.types, or pass its name as text",
        absent(ClassRegistry.CLASS + type.getName()));
  }

  /// Returns the refusal of a value whose class is not registered here.
  ///
  /// @param name the class's name in the dictionary
  private static NotShareable unknown(String name) {
    String type = named(name);
    return new NotShareable(
        "a "
            + type
            + " is stored, and no declared field, parameter or result names that class; list it in"
            + " StoaConfig.types, or mark the class that it was renamed to @Was(\""
            + type
            + "\")",
        absent(name));
  }

  static NotShareable refused(String type) {
    if (type.contains("$$Lambda")) {
      return new NotShareable(
          "a lambda ("
              + type
              + ") cannot travel or be stored; write a class or a record with a name");
    }
    if (isContainer(type)) {
      return new NotShareable(
          "a "
              + type
              + " cannot travel or be stored; copy it into an ArrayList, ArrayDeque, LinkedHashSet"
              + " or LinkedHashMap");
    }
    return new NotShareable(
        "a "
            + type
            + " cannot travel or be stored: no declared field, parameter or result names it; list"
            + " its class in StoaConfig.types, or use a type that Stoa knows",
        absent(ClassRegistry.CLASS + type.replace("[]", "")));
  }
}
