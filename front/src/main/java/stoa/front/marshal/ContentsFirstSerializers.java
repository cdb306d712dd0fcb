package stoa.front.marshal;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import org.apache.fory.Fory;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;
import org.apache.fory.serializer.collection.CollectionSerializer;
import org.apache.fory.serializer.collection.MapLikeSerializer;
import org.apache.fory.serializer.collection.MapSerializer;

/// Serializers of JDK classes whose instances are created after their contents. Each writes and
/// reads as another serializer does, and tells [OpenRefs] which value it is writing.
@SuppressWarnings({"unchecked", "rawtypes"}) // Justification: Fory's container serializers are raw
final class ContentsFirstSerializers {
  private ContentsFirstSerializers() {}

  /// Replaces the serializers of registered classes.
  static void register(Fory fory, TypeResolver resolver, OpenRefs refs, Set<Class<?>> types) {
    for (Class type : types) {
      Serializer as = resolver.getSerializer(type);
      Serializer late;
      if (Map.class.isAssignableFrom(type)) {
        late = new OfMap(resolver, refs, type, (MapLikeSerializer) as);
      } else if (Collection.class.isAssignableFrom(type)) {
        late = new OfCollection(resolver, refs, type, as);
      } else {
        late = new OfValue(resolver, refs, type, as);
      }
      fory.registerSerializer(type, late);
    }
  }

  private static void write(OpenRefs refs, Serializer as, WriteContext context, Object value) {
    refs.open(value);
    as.write(context, value);
    refs.close();
  }

  private static final class OfValue extends Serializer<Object> {
    private final OpenRefs refs;
    private final Serializer as;

    OfValue(TypeResolver resolver, OpenRefs refs, Class type, Serializer as) {
      super(resolver.getConfig(), type);
      this.refs = refs;
      this.as = as;
    }

    @Override
    public void write(WriteContext context, Object value) {
      ContentsFirstSerializers.write(refs, as, context, value);
    }

    @Override
    public Object read(ReadContext context) {
      return as.read(context);
    }
  }

  private static final class OfCollection extends CollectionSerializer<Collection> {
    private final OpenRefs refs;
    private final Serializer as;

    OfCollection(TypeResolver resolver, OpenRefs refs, Class type, Serializer as) {
      super(resolver, type, false);
      this.refs = refs;
      this.as = as;
    }

    @Override
    public void write(WriteContext context, Collection value) {
      ContentsFirstSerializers.write(refs, as, context, value);
    }

    @Override
    public Collection read(ReadContext context) {
      return (Collection) as.read(context);
    }
  }

  private static final class OfMap extends MapSerializer<Map> {
    private final OpenRefs refs;
    private final MapLikeSerializer as;

    OfMap(TypeResolver resolver, OpenRefs refs, Class type, MapLikeSerializer as) {
      super(resolver, type, false);
      this.refs = refs;
      this.as = as;
    }

    @Override
    public void write(WriteContext context, Map value) {
      ContentsFirstSerializers.write(refs, as, context, value);
    }

    @Override
    public Map read(ReadContext context) {
      return (Map) as.read(context);
    }
  }
}
