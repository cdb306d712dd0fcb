package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// The stored identity of a method, unique within its class. Without it the identity is the
/// method's name and parameter types, so renaming the method loses its calls in history. Before you
/// rename a method, give it this annotation with the old identity as value.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface MethodId {
  /// The identity, for example `reset` or `deposit(long)`.
  String value();
}
