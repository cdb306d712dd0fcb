package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks an [Index] in which each value belongs to one object at most. Null may belong to any
/// number.
///
/// A call that gives an object a value of another object fails with [NotUnique] and changes
/// nothing, neither in the object nor in an index. The calls that the method has made before on
/// other objects stand, unless the call is part of a transaction.
///
/// An object that is created with such a value, by its constructor, is refused in the same way.
///
/// In the class of the values of a map, a value belongs to one key of the map at most, and a put of
/// another one changes nothing.
///
/// ```
/// @Unique private String email;
/// ```
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.FIELD, ElementType.METHOD})
public @interface Unique {
  /// The version of the meaning of the values, see [Index#version].
  int version() default 0;
}
