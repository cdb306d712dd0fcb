package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks a method that changes the object without telling its caller anything about it, such as an
/// addition, a maximum, or the insertion into a set. It must return `void`.
///
/// In transactions, calls of methods with this annotation do not conflict with each other. They
/// conflict with all other calls on the object, except with calls of another [Key] when both name
/// one. The store may forget the annotation of a call when the object leaves memory: a transaction
/// that began before that call, and uses the object only later, may be aborted once. When a
/// transaction commits, its calls of these methods change the state that the object then has.
///
/// The annotation is a promise: the method does not throw because of the object's state, and makes
/// no calls on other objects because of it. If it throws in the body of a transaction, that call
/// conflicts like others. If it throws only when the transaction commits, no caller sees the
/// exception; the store logs an error.
///
/// ```
/// @Commutes public void add(long amount) { total += amount; }
/// @Commutes public void add(@Key String article, long count) { ... }
/// ```
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Commutes {}
