package stoa.front.marshal;

import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.memory.MemoryBuffer;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;
import stoa.Corrupt;
import stoa.NotShareable;
import stoa.Ref;
import stoa.front.types.Keys;

/// Shared objects inside values, and references that the program keeps itself.
///
/// ```
/// shared object  0, key, generation             of the type that the class id says
///                1, type name, key, generation  of another
/// Ref            type name, key
/// key            length, bytes of Keys
/// ```
final class ReferenceSerializers {
  private static final byte OWN_TYPE = 0;
  private static final byte NAMED_TYPE = 1;

  private ReferenceSerializers() {}

  /// Proxies, and instances of running methods: written as references, read as proxies.
  static final class OfShared extends Serializer<Object> {
    private final ForyCodec codec;
    private final ClassRegistry.Entry.ByReference shared;

    @SuppressWarnings("unchecked") // Justification: Fory asks for the class as that of its objects
    OfShared(
        ForyCodec codec,
        TypeResolver resolver,
        Class<?> type,
        ClassRegistry.Entry.ByReference shared) {
      super(resolver.getConfig(), (Class<Object>) type);
      this.codec = codec;
      this.shared = shared;
    }

    @Override
    public void write(WriteContext context, Object value) {
      Reference reference = codec.references().referenceOf(value);
      if (reference == null) {
        throw new NotShareable(
            "a "
                + shared.made()
                + " made with new cannot travel or be stored, as it belongs to no store; get it"
                + " with Call.get or Stoa.get");
      }
      Ref<?> ref = reference.ref();
      if (ref.type().equals(shared.type())) {
        context.getBuffer().writeByte(OWN_TYPE);
      } else {
        context.getBuffer().writeByte(NAMED_TYPE);
        context.writeString(ref.type());
      }
      writeKey(context, ref.key());
      context.getBuffer().writeVarUInt64(reference.generation());
    }

    @Override
    public Object read(ReadContext context) {
      byte form = context.getBuffer().readByte();
      String type =
          switch (form) {
            case OWN_TYPE -> shared.type();
            case NAMED_TYPE -> context.readString();
            default -> throw new Corrupt("a reference begins with byte " + form);
          };
      var ref = new Ref<Object>(type, readKey(codec, context));
      long generation = context.getBuffer().readVarUInt64();
      var reference = new Reference(ref, generation);
      Class<?> face = form == OWN_TYPE ? shared.face() : null;
      References references = codec.references();
      return face == null ? references.resolve(reference) : references.resolve(reference, face);
    }
  }

  /// [Ref] as a value.
  static final class OfRef extends Serializer<Ref<?>> {
    private final ForyCodec codec;

    @SuppressWarnings({"unchecked", "rawtypes"}) // Justification: there is no Class<Ref<?>>
    OfRef(ForyCodec codec, TypeResolver resolver) {
      super(resolver.getConfig(), (Class<Ref<?>>) (Class) Ref.class);
      this.codec = codec;
    }

    @Override
    public void write(WriteContext context, Ref<?> ref) {
      context.writeString(ref.type());
      writeKey(context, ref.key());
    }

    @Override
    public Ref<?> read(ReadContext context) {
      String type = context.readString();
      return new Ref<Object>(type, readKey(codec, context));
    }
  }

  static void writeKey(WriteContext context, Object key) {
    byte[] bytes = Keys.encode(key);
    MemoryBuffer buffer = context.getBuffer();
    buffer.writeVarUInt32(bytes.length);
    buffer.writeBytes(bytes);
  }

  static Object readKey(ForyCodec codec, ReadContext context) {
    MemoryBuffer buffer = context.getBuffer();
    int length = buffer.readVarUInt32();
    if (length < 0 || length > Keys.KEY_BYTES_MAX) {
      throw new Corrupt("a key of " + length + " bytes; KEY_BYTES_MAX is " + Keys.KEY_BYTES_MAX);
    }
    byte[] bytes = buffer.readBytes(length);
    Effort effort = codec.effort();
    if (effort != null && !Keys.isPlain(bytes)) effort.beginOfProgram();
    return Keys.decode(bytes, codec.keys());
  }
}
