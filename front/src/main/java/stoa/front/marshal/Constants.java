package stoa.front.marshal;

import java.util.Collections;
import java.util.List;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;

/// Serializes objects of the JDK that exist once: comparators, mostly. The class is their whole
/// encoding.
final class Constants extends Serializer<Object> {
  static final List<Object> ALL =
      List.of(String.CASE_INSENSITIVE_ORDER, Collections.reverseOrder());

  private final Object constant;

  @SuppressWarnings("unchecked") // Justification: Fory asks for the class as that of its objects
  Constants(TypeResolver resolver, Object constant) {
    super(resolver.getConfig(), (Class<Object>) constant.getClass());
    this.constant = constant;
  }

  @Override
  public void write(WriteContext context, Object value) {}

  @Override
  public Object read(ReadContext context) {
    return constant;
  }
}
