package stoa.front.marshal;

import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.resolver.ClassResolver;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;

/// A `Class` as a value, by its name. The [ForyCodec] proves that a reader finds the same class.
@SuppressWarnings("rawtypes") // Justification: Fory asks for the class of its objects
final class ClassSerializer extends Serializer<Class> {
  private final ForyCodec codec;
  private final ClassResolver resolver;

  ClassSerializer(ForyCodec codec, TypeResolver resolver) {
    super(resolver.getConfig(), Class.class);
    this.codec = codec;
    this.resolver = (ClassResolver) resolver;
  }

  @Override
  public void write(WriteContext context, Class value) {
    codec.names(value);
    resolver.writeClassInternal(context, value);
  }

  @Override
  public Class read(ReadContext context) {
    return resolver.readClassInternal(context);
  }
}
