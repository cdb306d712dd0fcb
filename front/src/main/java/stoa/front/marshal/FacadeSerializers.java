package stoa.front.marshal;

import java.util.Collection;
import java.util.Map;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;
import org.apache.fory.serializer.collection.CollectionSerializer;
import org.apache.fory.serializer.collection.MapSerializer;
import stoa.NotShareable;
import stoa.Ref;
import stoa.spi.Facade;

/// Facades inside values: encoded as the reference of the object behind the facade, with the
/// facade's form.
///
/// ```
/// facade  type name, key, generation, form
/// ```
///
/// Fory requires the serializer of a map or a collection to extend its own, though these
/// serializers use nothing of it.
@SuppressWarnings({"unchecked", "rawtypes"}) // Justification: Fory's container serializers are raw
final class FacadeSerializers {
  private FacadeSerializers() {}

  static Serializer<?> of(ForyCodec codec, TypeResolver resolver, Class<?> type) {
    if (Map.class.isAssignableFrom(type)) return new OfMap(codec, resolver, type);
    if (Collection.class.isAssignableFrom(type)) return new OfCollection(codec, resolver, type);
    return new OfOther(codec, resolver, type);
  }

  private static void write(ForyCodec codec, WriteContext context, Object value) {
    var facade = (Facade) value;
    Reference reference = codec.references().referenceOf(facade.shared());
    if (reference == null) {
      throw new NotShareable("a " + facade.title() + " stands before no proxy");
    }
    context.writeString(reference.ref().type());
    ReferenceSerializers.writeKey(context, reference.ref().key());
    context.getBuffer().writeVarUInt64(reference.generation());
    context.writeString(facade.form());
  }

  private static Object read(ForyCodec codec, ReadContext context) {
    String type = context.readString();
    var ref = new Ref<Object>(type, ReferenceSerializers.readKey(codec, context));
    long generation = context.getBuffer().readVarUInt64();
    String form = context.readString();
    return codec.references().facade(new Reference(ref, generation), form);
  }

  private static final class OfMap extends MapSerializer<Map> {
    private final ForyCodec codec;

    OfMap(ForyCodec codec, TypeResolver resolver, Class type) {
      super(resolver, type, false);
      this.codec = codec;
    }

    @Override
    public void write(WriteContext context, Map value) {
      FacadeSerializers.write(codec, context, value);
    }

    @Override
    public Map read(ReadContext context) {
      return (Map) FacadeSerializers.read(codec, context);
    }
  }

  private static final class OfCollection extends CollectionSerializer<Collection> {
    private final ForyCodec codec;

    OfCollection(ForyCodec codec, TypeResolver resolver, Class type) {
      super(resolver, type, false);
      this.codec = codec;
    }

    @Override
    public void write(WriteContext context, Collection value) {
      FacadeSerializers.write(codec, context, value);
    }

    @Override
    public Collection read(ReadContext context) {
      return (Collection) FacadeSerializers.read(codec, context);
    }
  }

  private static final class OfOther extends Serializer<Object> {
    private final ForyCodec codec;

    OfOther(ForyCodec codec, TypeResolver resolver, Class type) {
      super(resolver.getConfig(), type);
      this.codec = codec;
    }

    @Override
    public void write(WriteContext context, Object value) {
      FacadeSerializers.write(codec, context, value);
    }

    @Override
    public Object read(ReadContext context) {
      return FacadeSerializers.read(codec, context);
    }
  }
}
