package stoa.front.marshal;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.memory.MemoryBuffer;
import org.apache.fory.reflect.FieldAccessor;
import org.apache.fory.resolver.TypeResolver;
import org.jspecify.annotations.Nullable;
import org.objenesis.ObjenesisStd;
import org.objenesis.instantiator.ObjectInstantiator;
import stoa.Corrupt;
import stoa.NotShareable;
import stoa.StoaException;
import stoa.front.types.Platform;

/// Writes and reads exceptions: class name, message, cause, suppressed ones, trace and the fields
/// of the class, by name.
///
/// Only a thrown exception keeps its trace. The trace shows the engine's path to the code, and a
/// replay takes another path. So an exception inside a state has none.
///
/// The exception must be of the JDK, of Stoa or of the registry. Used by one [ForyCodec].
final class Throwables {
  /*
   * An exception is not state: it is written with names rather than with a schema, and a reader
   * skips a field that it does not know. Instances are created without running a constructor, so
   * that no class needs one of a certain form; the four fields of Throwable itself get the values
   * that its constructor and initCause would leave.
   */
  static final int FRAMES_MAX = 256;
  private static final int SUPPRESSED_MAX = 64;
  private static final int FIELDS_MAX = 256;

  private static final ObjenesisStd OBJENESIS = new ObjenesisStd(true);
  private static final FieldAccessor MESSAGE = ofThrowable("detailMessage");
  private static final FieldAccessor CAUSE = ofThrowable("cause");
  private static final FieldAccessor TRACE = ofThrowable("stackTrace");
  private static final FieldAccessor SUPPRESSED = ofThrowable("suppressedExceptions");
  // With its class a shape goes, when the class belongs to a version in the log.
  private static final ClassValue<Shape> SHAPES =
      new ClassValue<>() {
        @Override
        protected Shape computeValue(Class<?> type) {
          return Shape.of(type);
        }
      };

  private static final StackTraceElement[] NO_TRACE = {};

  private static final byte NO_CAUSE = 0;
  private static final byte UNSET_CAUSE = 1;
  private static final byte CAUSED = 2;

  private final ForyCodec codec;

  Throwables(ForyCodec codec, TypeResolver resolver) {
    this.codec = codec;
    if (resolver.isRegistrationFinished()) throw new IllegalStateException("too late to register");
  }

  private record Shape(ObjectInstantiator<?> instantiator, List<FieldAccessor> fields) {
    static Shape of(Class<?> type) {
      var fields = new ArrayList<FieldAccessor>();
      for (Class<?> c = type; c != null && c != Throwable.class; c = c.getSuperclass()) {
        for (Field field : c.getDeclaredFields()) {
          int skipped = Modifier.STATIC | Modifier.TRANSIENT;
          if ((field.getModifiers() & skipped) == 0) fields.add(PrivateFields.of(field));
        }
      }
      fields.sort(Comparator.comparing(Shape::name));
      return new Shape(OBJENESIS.getInstantiatorOf(type), List.copyOf(fields));
    }

    static String name(FieldAccessor accessor) {
      Field field = accessor.getField();
      return field.getDeclaringClass().getName() + "." + field.getName();
    }
  }

  /// Writes an exception, or null, with its class.
  void write(WriteContext context, @Nullable Throwable thrown) {
    if (context.writeRefOrNull(thrown)) return;
    if (thrown == null) throw new IllegalStateException("null was written before");
    check(thrown.getClass());
    context.writeString(thrown.getClass().getName());
    context.increaseDepth();
    writeBody(context, thrown);
    context.decreaseDepth();
  }

  /// Reads an exception that [#write] wrote.
  @Nullable Throwable read(ReadContext context) {
    int id = context.tryPreserveRefId();
    if (id < org.apache.fory.Fory.NOT_NULL_VALUE_FLAG) {
      Object known = context.getReadRef();
      if (known == null || known instanceof Throwable) return (Throwable) known;
      throw new Corrupt("an exception refers to a " + known.getClass().getName());
    }
    String name = context.readString();
    context.increaseDepth();
    Throwable thrown = readBody(context, load(name));
    context.decreaseDepth();
    context.setReadRef(id, thrown);
    return thrown;
  }

  @SuppressWarnings("ReferenceEquality") // Justification: a cause that was never set is `this`
  void writeBody(WriteContext context, Throwable thrown) {
    if (context.getDepth() > ForyCodec.DEPTH_MAX) {
      throw new NotShareable("an exception has more than " + ForyCodec.DEPTH_MAX + " causes");
    }
    MemoryBuffer buffer = context.getBuffer();
    context.writeStringRef((String) MESSAGE.getObject(thrown));
    Throwable cause = (Throwable) CAUSE.getObject(thrown);
    if (cause == thrown) {
      buffer.writeByte(UNSET_CAUSE);
    } else if (cause == null) {
      buffer.writeByte(NO_CAUSE);
    } else {
      buffer.writeByte(CAUSED);
      write(context, cause);
    }
    writeTrace(context, codec.isTraced() ? thrown.getStackTrace() : NO_TRACE);
    Throwable[] suppressed = thrown.getSuppressed();
    int count = Math.min(suppressed.length, SUPPRESSED_MAX);
    buffer.writeVarUInt32(count);
    for (int i = 0; i < count; i++) write(context, suppressed[i]);
    List<FieldAccessor> fields = shape(thrown.getClass()).fields;
    buffer.writeVarUInt32(fields.size());
    for (FieldAccessor field : fields) {
      context.writeString(Shape.name(field));
      context.writeRef(field.get(thrown));
    }
  }

  Throwable readBody(ReadContext context, Class<?> type) {
    MemoryBuffer buffer = context.getBuffer();
    Shape shape = shape(type);
    Throwable thrown = (Throwable) shape.instantiator.newInstance();
    context.reference(thrown);
    MESSAGE.putObject(thrown, context.readStringRef());
    byte cause = buffer.readByte();
    switch (cause) {
      case UNSET_CAUSE -> CAUSE.putObject(thrown, thrown);
      case NO_CAUSE -> CAUSE.putObject(thrown, null);
      case CAUSED -> CAUSE.putObject(thrown, read(context));
      default -> throw new Corrupt("an exception's cause begins with byte " + cause);
    }
    TRACE.putObject(thrown, readTrace(context));
    var suppressed = new ArrayList<Throwable>();
    int count = count(buffer, SUPPRESSED_MAX);
    for (int i = 0; i < count; i++) {
      Throwable one = read(context);
      if (one != null) suppressed.add(one);
    }
    SUPPRESSED.putObject(thrown, suppressed);
    int fields = count(buffer, FIELDS_MAX);
    for (int i = 0; i < fields; i++) {
      readField(thrown, shape, context.readString(), context.readRef());
    }
    return thrown;
  }

  private static void readField(
      Throwable thrown, Shape shape, String name, @Nullable Object value) {
    for (FieldAccessor field : shape.fields) {
      if (!Shape.name(field).equals(name) && !wasNamed(field.getField(), name)) continue;
      Class<?> type = field.getField().getType();
      Class<?> boxed = Widening.boxed(type);
      Object widened = Widening.widened(value, type);
      boolean fits = widened == null ? !type.isPrimitive() : boxed.isInstance(widened);
      if (fits) field.set(thrown, widened);
      return;
    }
  }

  /// Returns whether a field, or its class, once had another name, and so this one before a point.
  private static boolean wasNamed(Field field, String name) {
    int point = name.lastIndexOf('.');
    if (point < 0) return false;
    if (!Lineage.names(field.getDeclaringClass()).contains(name.substring(0, point))) return false;
    String own = name.substring(point + 1);
    return field.getName().equals(own) || Lineage.was(field).contains(own);
  }

  // ---- traces

  private static void writeTrace(WriteContext context, StackTraceElement[] trace) {
    int count = Math.min(trace.length, FRAMES_MAX);
    context.getBuffer().writeVarUInt32(count);
    for (int i = 0; i < count; i++) {
      context.writeString(trace[i].getClassName());
      context.writeString(trace[i].getMethodName());
      context.writeStringRef(trace[i].getFileName());
      context.getBuffer().writeVarInt32(trace[i].getLineNumber());
    }
  }

  private static StackTraceElement[] readTrace(ReadContext context) {
    var trace = new StackTraceElement[count(context.getBuffer(), FRAMES_MAX)];
    for (int i = 0; i < trace.length; i++) {
      trace[i] =
          new StackTraceElement(
              context.readString(),
              context.readString(),
              context.readStringRef(),
              context.getBuffer().readVarInt32());
    }
    return trace;
  }

  private static int count(MemoryBuffer buffer, int max) {
    int count = buffer.readVarUInt32();
    if (count < 0 || count > max) throw new Corrupt("an exception holds a count of " + count);
    return count;
  }

  // ---- classes

  private Class<?> load(String name) {
    Class<?> type;
    try {
      type = Class.forName(name, false, codec.known());
    } catch (ClassNotFoundException | LinkageError e) {
      throw new NotShareable(
          "an exception of the class "
              + name
              + " is stored, which is not on the class path, or no method declares",
          e instanceof ClassNotFoundException ? ForyCodec.absent(ClassRegistry.CLASS + name) : e);
    }
    check(type);
    return type;
  }

  private void check(Class<?> type) {
    boolean known =
        Platform.has(type)
            || StoaException.class.isAssignableFrom(type)
            || codec.registry().has(type);
    if (!known || !Throwable.class.isAssignableFrom(type)) throw ForyCodec.refused(type.getName());
  }

  private static Shape shape(Class<?> type) {
    return SHAPES.get(type);
  }

  private static FieldAccessor ofThrowable(String name) {
    try {
      return PrivateFields.of(Throwable.class.getDeclaredField(name));
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException("this JDK's Throwable has no field " + name, e);
    }
  }
}
