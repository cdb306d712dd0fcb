package stoa.front.marshal;

import java.util.Collections;
import java.util.List;
import org.apache.fory.context.ReadContext;
import org.apache.fory.context.WriteContext;
import org.apache.fory.resolver.TypeResolver;
import org.apache.fory.serializer.Serializer;

/// Objects of the JDK of which there is one: comparators, mostly. The class says it all.
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
