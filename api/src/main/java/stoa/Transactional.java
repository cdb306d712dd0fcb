package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// On a method of a shared class: the method runs in the caller's process, as a transaction over
/// the objects that it calls (vCorfu, section 5). So an object that consists of others offers
/// operations on all of them at once.
///
/// The method sees its own object as it was when the transaction began and must not change it. It
/// changes other objects, through their proxies. Inside a transaction it takes part in that one. It
/// may run more than once, as the body of [Stoa#transact] may.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Transactional {
  /// Whether the method only reads. Such a transaction never conflicts with others.
  boolean readOnly() default false;
}
