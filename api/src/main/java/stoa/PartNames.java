package stoa;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.lang.invoke.MethodHandleInfo;
import java.lang.invoke.SerializedLambda;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Finds the names of methods by references to them. Stateless.
final class PartNames {
  private PartNames() {}

  /// Returns the name of the method of a reference.
  ///
  /// @throws IllegalArgumentException when it is no reference to a method of the value
  static String nameOf(Condition.Part<?, ?> reference) {
    Objects.requireNonNull(reference, "the reference is null");
    SerializedLambda lambda = lambda(reference);
    String name = lambda == null ? "" : lambda.getImplMethodName();
    boolean isOfValue =
        lambda != null
            && lambda.getCapturedArgCount() == 0
            && !name.startsWith("lambda$")
            && (lambda.getImplMethodKind() == MethodHandleInfo.REF_invokeVirtual
                || lambda.getImplMethodKind() == MethodHandleInfo.REF_invokeInterface);
    if (isOfValue) return name;
    throw new IllegalArgumentException(
        "a query names a part of a value by a reference to a method of the value, as in"
            + " part(Product::category); for a field without a method, use field(\"category\")");
  }

  private static @Nullable SerializedLambda lambda(Condition.Part<?, ?> reference) {
    var catching =
        new Object() {
          @Nullable SerializedLambda found;
        };
    // An object in this form passes its description to the stream, wherever its class is.
    class Stream extends ObjectOutputStream {
      Stream() throws IOException {
        super(OutputStream.nullOutputStream());
        var _ = enableReplaceObject(true);
      }

      @Override
      protected @Nullable Object replaceObject(Object object) {
        if (!(object instanceof SerializedLambda lambda)) return object;
        catching.found = lambda;
        return null;
      }
    }
    try (var out = new Stream()) {
      out.writeObject(reference);
      return catching.found;
    } catch (IOException | RuntimeException other) {
      return null;
    }
  }
}
