package stoa.front.marshal;

import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;

/// Exceptions as values: in fields, collections and results.
final class ThrowableSerializer extends Serializer<Throwable> {
  private final Throwables throwables;
  private final Class<?> exception;

  @SuppressWarnings("unchecked") // Justification: Fory asks for the class as that of its objects
  ThrowableSerializer(Throwables throwables, TypeResolver resolver, Class<?> exception) {
    super(resolver.getConfig(), (Class<Throwable>) exception);
    this.throwables = throwables;
    this.exception = exception;
  }

  @Override
  public void write(WriteContext context, Throwable value) {
    throwables.writeBody(context, value);
  }

  @Override
  public Throwable read(ReadContext context) {
    context.increaseDepth();
    Throwable read = throwables.readBody(context, exception);
    context.decreaseDepth();
    return read;
  }
}
