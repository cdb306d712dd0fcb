package stoa.front;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.NotShareable;
import stoa.ObjectEvent;
import stoa.Ref;
import stoa.StoaException;
import stoa.Timers;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.front.marshal.Marshaller;
import stoa.front.marshal.Reference;
import stoa.front.marshal.References;
import stoa.front.marshal.TypeIds;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.Keys;
import stoa.front.types.Platform;
import stoa.front.types.SharedType;

/// The arguments of a timer's call, in a form without numbers of any dictionary: the timer may fire
/// after the store has been restored into another one, and in code of another version. Also those
/// of the accessors of a query, which all groups read.
///
/// ```
/// count, then for each argument:
/// 0                                        null
/// 1, sized                                 a value of the JDK, as the marshaller writes it
/// 2, sized                                 an enum constant or a record, as a key
/// 3, type text, face text, sized, varint   a shared object: its key and generation
/// 4                                        an event of a listener: type text, key sized, version, epoch, counter,
///                                          index, size, microseconds, kind varints, method text, and the arguments
///                                          as here
/// 5, class text                            an argument of an event that is omitted
/// 6, type text, sized                      a reference in an event
/// ```
public final class TimerArguments {
  private static final byte NULL = 0;
  private static final byte VALUE = 1;
  private static final byte KEY = 2;
  private static final byte SHARED = 3;
  private static final byte EVENT = 4;
  private static final byte OMITTED = 5;
  private static final byte REFERENCE = 6;

  private static final int VALUE_BYTES_MAX = 1 << 20;
  private static final byte[] NOTHING = {0};

  private TimerArguments() {}

  /// Stands for an argument of an event that is omitted.
  private record Absent(String className) {}

  /// Finds shared objects among arguments.
  public interface Shared {
    /// Returns the object of a reference.
    ///
    /// @param face the name of the class by which the caller knew it
    /// @param generation the generation to bind to, 0 for any
    Object at(String type, String face, byte[] key, long generation);
  }

  /// A marshaller that knows the JDK only.
  private static final class Plain implements TypeIds, References {
    private static final Marshaller ONE =
        new Marshaller(
            new Plain(), new Plain(), List.of(), Plain.class.getClassLoader(), VALUE_BYTES_MAX);

    @Override
    public int idOf(String name) {
      throw new NotShareable(name + " is no class of the JDK");
    }

    @Override
    public @Nullable String nameOf(int id) {
      return null;
    }

    @Override
    public List<String> names() {
      return List.of();
    }

    @Override
    public @Nullable Reference referenceOf(Object object) {
      return null;
    }

    @Override
    public Object resolve(Reference reference) {
      throw new Corrupt("a value of the JDK refers to " + reference.ref());
    }

    @Override
    public Object facade(Reference reference, String form) {
      throw new Corrupt("a value of the JDK refers to " + reference.ref());
    }
  }

  /// Returns the encoding of arguments.
  ///
  /// @param user what passes them, in the message of a refusal
  /// @param method the method in that message
  /// @throws NotShareable when an argument is of another class
  /// @throws LimitExceeded when they take too many bytes
  static byte[] encode(String user, String method, @Nullable Object[] arguments) {
    if (arguments.length == 0) return NOTHING.clone();
    var out = new Encoder(64).varint(arguments.length);
    for (Object argument : arguments) write(out, user, method, argument);
    if (out.size() <= Timers.ARGUMENT_BYTES_MAX) return out.toBytes();
    throw new LimitExceeded(
        "the arguments of "
            + method
            + " take "
            + out.size()
            + " bytes, and those of "
            + user
            + " have at most "
            + Timers.ARGUMENT_BYTES_MAX
            + "; keep them in an object, and pass the object");
  }

  private static void write(Encoder out, String user, String method, @Nullable Object argument) {
    if (argument == null) {
      out.u8(NULL);
      return;
    }
    Proxied proxied = Proxies.of(argument);
    MethodRun running = MethodRun.current();
    if (proxied != null) {
      long generation = SharedStoa.live(argument).generation();
      shared(out, proxied.ref(), proxied.type().face(), generation);
      return;
    }
    Reference own = running == null ? null : running.referenceOf(argument);
    if (own != null) {
      shared(out, own.ref(), argument.getClass(), own.generation());
    } else if (argument instanceof Enum || argument instanceof Record) {
      out.u8(KEY).sized(Keys.encode(argument));
    } else if (Platform.has(argument.getClass())) {
      try {
        out.u8(VALUE).sized(Plain.ONE.value(argument));
      } catch (StoaException unfit) {
        throw refused(user, method, argument, unfit);
      }
    } else {
      throw refused(user, method, argument, null);
    }
  }

  private static NotShareable refused(
      String user, String method, Object argument, @Nullable StoaException unfit) {
    String text =
        user
            + " cannot keep the argument of class "
            + argument.getClass().getName()
            + " for "
            + method
            + "; pass values of the JDK, enum constants, records that could be keys, or shared"
            + " objects";
    return unfit == null
        ? new NotShareable(text)
        : new NotShareable(text + ": " + unfit.getMessage(), unfit);
  }

  private static void shared(Encoder out, Ref<?> ref, Class<?> face, long generation) {
    out.u8(SHARED).text(ref.type()).text(face.getName());
    out.sized(Keys.encode(ref.key())).varint(generation);
  }

  /// Returns the encoding of an event as the one argument of a call.
  public static byte[] encode(ObjectEvent event) {
    var out = new Encoder(256).varint(1).u8(EVENT);
    out.text(event.object().type()).sized(Keys.encode(event.object().key()));
    out.varint(event.version());
    out.varint(event.address().epoch()).varint(event.address().counter());
    out.varint(event.index()).varint(event.size());
    out.varint(ChronoUnit.MICROS.between(Instant.EPOCH, event.time()));
    out.varint(
        switch (event.kind()) {
          case CALLED -> 0;
          case CALLED_FIRST -> 1;
          case CREATED -> 2;
          case CHANGED -> 3;
          case DELETED -> 4;
        });
    String method = event.method();
    out.text(method == null ? "" : method).varint(event.arguments().size());
    int left = ObjectEvent.ARGUMENT_BYTES_MAX;
    for (Object argument : event.arguments()) {
      byte[] told = told(argument, left);
      if (argument != null && told.length > left) told = omitted(argument);
      left -= told.length;
      out.raw(told);
    }
    return out.toBytes();
  }

  private static byte[] told(@Nullable Object argument, int bytesMax) {
    var out = new Encoder(64);
    if (argument == null) return out.u8(NULL).toBytes();
    Proxied proxied = Proxies.of(argument);
    if (proxied != null) {
      Ref<?> ref = proxied.ref();
      return out.u8(REFERENCE).text(ref.type()).sized(Keys.encode(ref.key())).toBytes();
    }
    // Classes of users may be unknown where the listener's calls are replayed.
    if (bytesMax <= 0 || !Platform.has(argument.getClass())) return omitted(argument);
    try {
      return out.u8(VALUE).sized(Plain.ONE.value(argument)).toBytes();
    } catch (StoaException unfit) {
      return omitted(argument);
    }
  }

  private static byte[] omitted(Object argument) {
    String name = argument.getClass().getName();
    return new Encoder(64).u8(OMITTED).text(name).toBytes();
  }

  private static ObjectEvent event(Decoder in, ClassLoader loader, Shared objects) {
    var object = new Ref<>(in.text(), Keys.decode(in.sized(), loader));
    long version = in.varint();
    var address = new LogAddress(in.varint(), in.varint());
    int index = (int) in.varint();
    int size = (int) in.varint();
    Instant time = Instant.EPOCH.plus(in.varint(), ChronoUnit.MICROS);
    ObjectEvent.Kind kind =
        switch ((int) in.varint()) {
          case 0 -> ObjectEvent.Kind.CALLED;
          case 1 -> ObjectEvent.Kind.CALLED_FIRST;
          case 2 -> ObjectEvent.Kind.CREATED;
          case 3 -> ObjectEvent.Kind.CHANGED;
          default -> ObjectEvent.Kind.DELETED;
        };
    String method = in.text();
    @Nullable Object[] arguments = arguments(in, loader, objects);
    var omitted = new ArrayList<ObjectEvent.Omitted>();
    for (int i = 0; i < arguments.length; i++) {
      if (!(arguments[i] instanceof Absent absent)) continue;
      omitted.add(new ObjectEvent.Omitted(i, absent.className));
      arguments[i] = null;
    }
    return new ObjectEvent(
        object,
        version,
        address,
        index,
        size,
        time,
        kind,
        method.isEmpty() ? null : method,
        new ArrayList<>(Arrays.asList(arguments)),
        omitted);
  }

  /// Returns the decoded arguments.
  ///
  /// @param loader finds the classes of enum constants and records
  /// @throws NotShareable when such a class is missing or has changed
  /// @throws Corrupt when the bytes are no encoding of arguments
  public static @Nullable Object[] decode(byte[] bytes, ClassLoader loader, Shared objects) {
    return arguments(new Decoder(bytes), loader, objects);
  }

  private static @Nullable Object[] arguments(Decoder in, ClassLoader loader, Shared objects) {
    @Nullable Object[] arguments = new Object[in.count()];
    for (int i = 0; i < arguments.length; i++) {
      arguments[i] =
          switch (in.u8()) {
            case NULL -> null;
            case VALUE -> Plain.ONE.value(in.sized());
            case KEY -> Keys.decode(in.sized(), loader);
            case SHARED -> objects.at(in.text(), in.text(), in.sized(), in.varint());
            case REFERENCE -> new Ref<>(in.text(), Keys.decode(in.sized(), loader));
            case EVENT -> event(in, loader, objects);
            case OMITTED -> new Absent(in.text());
            default -> throw new Corrupt("an argument of a timer's call is of no known kind");
          };
    }
    return arguments;
  }

  /// Returns the type of an object that a timer calls, as its caller knows it.
  static SharedType typeOf(Object object) {
    Proxied proxied = Proxies.of(object);
    return proxied != null
        ? proxied.type()
        : SharedType.of(Objects.requireNonNull(object).getClass());
  }
}
