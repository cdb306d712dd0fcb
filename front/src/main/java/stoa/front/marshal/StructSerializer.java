package stoa.front.marshal;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.memory.MemoryBuffer;
import org.apache.fory.reflect.FieldAccessor;
import org.apache.fory.resolver.TypeInfoHolder;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.NotShareable;

/// Writes and reads instances of one class of the program. Used by one [ForyCodec], and so by one
/// thread at a time.
final class StructSerializer extends Serializer<Object> {
  // Stands for a record while the codec reads its components. A constructor cannot create a record
  // that contains itself.
  private static final Object UNFINISHED = new Unfinished();

  private static final class Unfinished {}

  private final ForyCodec codec;
  private final Struct struct;
  private final Struct.Slot[] slots;
  private final TypeInfoHolder[] holders;
  private final TypeInfoHolder otherHolder;

  private final boolean isRecord;

  // Whether an instance could contain itself, through a collection.
  private final boolean open;

  @SuppressWarnings("unchecked") // Justification: Fory asks for the class as that of its objects
  StructSerializer(ForyCodec codec, TypeResolver resolver, Struct struct) {
    super(resolver.getConfig(), (Class<Object>) struct.type());
    this.codec = codec;
    this.struct = struct;
    this.slots = struct.slots().toArray(Struct.Slot[]::new);
    this.holders = new TypeInfoHolder[slots.length];
    for (int i = 0; i < slots.length; i++) holders[i] = resolver.nilTypeInfoHolder();
    this.otherHolder = resolver.nilTypeInfoHolder();
    this.isRecord = struct.type().isRecord();
    this.open = isRecord && !ImmutableValues.isImmutable(struct.type());
  }

  @Override
  public void write(WriteContext context, Object value) {
    if (context.getDepth() > ForyCodec.DEPTH_MAX) {
      throw new NotShareable(
          "objects nest deeper than "
              + ForyCodec.DEPTH_MAX
              + " at a "
              + struct.type().getName()
              + "; keep them in a collection instead of a chain");
    }
    MemoryBuffer buffer = context.getBuffer();
    buffer.writeVarUInt32(struct.schemaId());
    if (open) codec.refs().open(value);
    for (int i = 0; i < slots.length; i++) {
      FieldAccessor accessor = slots[i].accessor;
      switch (slots[i].kind) {
        case BOOLEAN -> buffer.writeBoolean(accessor.getBoolean(value));
        case BYTE -> buffer.writeByte(accessor.getByte(value));
        case SHORT -> buffer.writeInt16(accessor.getShort(value));
        case CHAR -> buffer.writeChar(accessor.getChar(value));
        case INT -> buffer.writeVarInt32(accessor.getInt(value));
        case LONG -> buffer.writeVarInt64(accessor.getLong(value));
        case FLOAT -> buffer.writeFloat32(accessor.getFloat(value));
        case DOUBLE -> buffer.writeFloat64(accessor.getDouble(value));
        case STRING -> context.writeStringRef((String) accessor.getObject(value));
        case OBJECT -> context.writeRef(accessor.getObject(value), holders[i]);
      }
    }
    if (open) codec.refs().close();
    if (buffer.writerIndex() > codec.bytesMax()) throw codec.tooLong(buffer.writerIndex());
  }

  private NotShareable circle(Struct.Slot slot) {
    return new NotShareable(
        struct.type().getName()
            + "."
            + slot.name
            + " holds a record that holds it again; break the circle, or use a class");
  }

  @Override
  public Object read(ReadContext context) {
    context.increaseDepth();
    Effort effort = codec.effort();
    if (effort != null) effort.beginOfProgram();
    int schema = context.getBuffer().readVarUInt32();
    Struct.Plan plan = struct.plan(schema);
    Object value;
    if (isRecord) {
      context.reference(UNFINISHED);
      value = plan == null ? readRecord(context) : readOldRecord(context, plan);
    } else {
      value = struct.allocate();
      context.reference(value);
      struct.restoreTransients(value);
      codec.filling().open(value);
      if (plan == null) readFields(context, value);
      else readOld(context, value, plan);
      codec.filling().close();
    }
    context.decreaseDepth();
    return value;
  }

  private void readFields(ReadContext context, Object value) {
    for (int i = 0; i < slots.length; i++) readInto(context, value, slots[i], holders[i]);
  }

  private void readInto(
      ReadContext context, Object value, Struct.Slot slot, TypeInfoHolder holder) {
    MemoryBuffer buffer = context.getBuffer();
    FieldAccessor accessor = slot.accessor;
    switch (slot.kind) {
      case BOOLEAN -> accessor.putBoolean(value, buffer.readBoolean());
      case BYTE -> accessor.putByte(value, buffer.readByte());
      case SHORT -> accessor.putShort(value, buffer.readInt16());
      case CHAR -> accessor.putChar(value, buffer.readChar());
      case INT -> accessor.putInt(value, buffer.readVarInt32());
      case LONG -> accessor.putLong(value, buffer.readVarInt64());
      case FLOAT -> accessor.putFloat(value, buffer.readFloat32());
      case DOUBLE -> accessor.putDouble(value, buffer.readFloat64());
      case STRING -> accessor.putObject(value, string(context));
      case OBJECT -> accessor.putObject(value, checked(slot, context.readRef(holder)));
    }
  }

  private Object readRecord(ReadContext context) {
    @Nullable Object[] components = new Object[slots.length];
    for (int i = 0; i < slots.length; i++) {
      Object component = readValue(context, slots[i].kind, holders[i]);
      if (slots[i].kind == Struct.Kind.OBJECT) checked(slots[i], component);
      components[slots[i].component] = component;
    }
    return struct.construct(components);
  }

  /// Reads an instance of another version of the class, then completes the rest.
  private void readOld(ReadContext context, Object value, Struct.Plan plan) {
    Map<String, @Nullable Object> all = struct.migrates() ? new HashMap<>() : Map.of();
    var initialized = new ArrayList<>(plan.added());
    for (Struct.Stored stored : plan.stored()) {
      Object read = readValue(context, stored.kind(), otherHolder);
      if (struct.migrates()) all.put(stored.name(), read);
      Struct.Slot slot = stored.slot();
      if (slot == null) continue;
      if (fits(slot, read)) slot.set(value, read);
      else initialized.add(slot);
    }
    for (Struct.Slot slot : initialized) {
      Object initial = struct.initial(slot, value);
      if (initial != null) slot.set(value, initial);
    }
    if (struct.migrates()) codec.afterwards(() -> struct.migrate(value, all));
  }

  private Object readOldRecord(ReadContext context, Struct.Plan plan) {
    var all = new HashMap<String, @Nullable Object>();
    @Nullable Object[] components = new Object[slots.length];
    for (Struct.Stored stored : plan.stored()) {
      Object read = readValue(context, stored.kind(), otherHolder);
      all.put(stored.name(), read);
      Struct.Slot slot = stored.slot();
      if (slot != null && fits(slot, read)) {
        components[slot.component] = Widening.widened(read, slot.type);
      }
    }
    return struct.migrates() ? struct.migrate(null, all) : struct.construct(components);
  }

  private @Nullable Object readValue(ReadContext context, Struct.Kind kind, TypeInfoHolder holder) {
    MemoryBuffer buffer = context.getBuffer();
    return switch (kind) {
      case BOOLEAN -> buffer.readBoolean();
      case BYTE -> buffer.readByte();
      case SHORT -> buffer.readInt16();
      case CHAR -> buffer.readChar();
      case INT -> buffer.readVarInt32();
      case LONG -> buffer.readVarInt64();
      case FLOAT -> buffer.readFloat32();
      case DOUBLE -> buffer.readFloat64();
      case STRING -> string(context);
      case OBJECT -> context.readRef(holder);
    };
  }

  /// Reads a text and checks its class: Fory resolves a reference to any object that it has read,
  /// and a field with an object of another class would break the JVM's own assumptions.
  private static @Nullable String string(ReadContext context) {
    return context.readStringRef();
  }

  private @Nullable Object checked(Struct.Slot slot, @Nullable Object value) {
    if (value instanceof Unfinished) throw circle(slot);
    if (value == null || slot.type.isInstance(value)) return value;
    throw new Corrupt(
        struct.type().getName()
            + "."
            + slot.name
            + " is a "
            + slot.type.getTypeName()
            + ", and a "
            + value.getClass().getTypeName()
            + " is stored for it");
  }

  private boolean fits(Struct.Slot slot, @Nullable Object value) {
    if (slot.type.isPrimitive() || value == null) return true;
    if (slot.type.isInstance(Widening.widened(value, slot.type))) return true;
    if (struct.migrates()) return false;
    throw struct.changed(slot, value.getClass().getTypeName());
  }
}
