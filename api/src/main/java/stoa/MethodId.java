package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// The stored identity of a method, unique within its class. Without it the identity is the
/// method's name and parameter types, so that renaming the method loses the calls that history
/// holds. Give it to a method before renaming it, with the old identity as value.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface MethodId {
  /// The identity, for example `reset` or `deposit(long)`.
  String value();
}
