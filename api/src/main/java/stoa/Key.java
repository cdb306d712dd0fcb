package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks the parameter that names the part of the object on which a method works: a *conflict key*.
///
/// Two calls on the same object whose keys differ do not conflict in transactions. Without this
/// annotation, a call works on the whole object, and conflicts with every call that changes it. The
/// store may forget the key of a call when the object leaves memory: a transaction that began
/// before that call, and uses the object only later, may be aborted once.
///
/// The annotation is a promise: with equal states of the part that belongs to the key, the method
/// changes the same, returns or throws the same, and makes the same calls on other objects,
/// whatever the rest of the object is. It may change the rest only in ways that do not depend on
/// the order of such calls, as a map counts its entries. A transaction that breaks the promise may
/// commit after another call has changed what it read.
///
/// ```
/// @Accessor public int stock(@Key String article) { return stock.getOrDefault(article, 0); }
/// public void take(@Key String article, int count) { stock.merge(article, -count, Integer::sum); }
/// ```
///
/// Keys are compared as `equals` does where the key is a `String`, a boxed primitive, a
/// [java.math.BigInteger], a [java.math.BigDecimal], a [java.util.UUID], an enum constant, a class
/// of `java.time`, or a record of these that declares no `hashCode`. A call with another key works
/// on the whole object. So does the call that creates the object.
///
/// One parameter of a method has it at most; to name a part by two, pass a record.
///
/// @see Commutes
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.PARAMETER)
public @interface Key {}
