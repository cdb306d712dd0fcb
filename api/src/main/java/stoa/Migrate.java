package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks the method that completes an object which an earlier version of its class stored.
///
/// In a class it is an instance method `void m(Map<String, Object> stored)`. The store calls it
/// after it has read the fields that both versions have, and everything stored with the object. It
/// assigns what the earlier version lacked. In a record it is a static method `R m(Map<String,
/// Object> stored)` that returns the record. The map has every stored field by name, including
/// removed ones and ones whose type has changed. The name is the one under which the value was
/// stored, also when a field of today names it in [Was].
///
/// The store calls it only when the stored fields differ from the class's. It must be
/// deterministic. A class needs none when every added field has an initializer, or a constructor
/// without parameters sets it, and [Was], [Removed] or a wider type say what became of the others.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Migrate {}
