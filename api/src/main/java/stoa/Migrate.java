package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks the method that completes an object which was stored by an earlier version of its class.
///
/// In a class it is an instance method `void m(Map<String, Object> stored)`, called after the
/// fields that both versions have were read, and after the rest of what was stored with them. It
/// assigns what the earlier version lacked. In a record it is a static method `R m(Map<String,
/// Object> stored)` that answers the record. The map holds every stored field by name, removed ones
/// and ones whose type has changed included.
///
/// It is called only when the stored fields differ from the class's, and must be deterministic. A
/// class needs none when every added field has an initializer, or a constructor without parameters
/// sets it.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Migrate {}
