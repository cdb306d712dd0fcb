package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks a class, or an interface, whose instances are shared objects (CRESON, section IV).
///
/// An instance is a deterministic state machine that lives in the store. Callers hold proxies of
/// the same type; a call on a proxy executes on the instance. The class may have private and final
/// fields, a superclass, type parameters and ordinary collections. It may not be final, and its
/// bytecode is checked when it is first used: see [NotShareable]. A proxy has no state: its fields
/// mean nothing, so keep them private, and call private methods on `this` only.
///
/// A method that throws keeps what it changed before, as in Java. A call that is taken back,
/// because it ran for too long, keeps nothing. A method that calls its own object through a proxy
/// would wait for itself, and gets [Deadlock]; it calls `this` instead.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Shared {
  /// The name under which instances are stored; empty means the class's binary name. Give a name so
  /// that the class can be renamed later: the name is the identity, the class is not.
  String name() default "";

  /// The field that holds the object's key; empty when the object does not need its own key. When
  /// set, the key is passed to the constructor as its first argument.
  String key() default "";

  /// How calls on its instances are ordered beside those on other objects.
  Order order() default Order.GLOBAL;

  /// Where calls on its instances execute. Objects that are placed at clients are of
  /// [Order#GLOBAL].
  Placement placement() default Placement.SERVER;

  /// The domain of its instances when they are placed at clients: letters, digits, dots, dashes and
  /// underscores. Each domain has a tree of clients of its own, in which its objects migrate, apart
  /// from those of others. [Stoa#together] is for objects of one domain. Of the classes of one
  /// stored name all say the same.
  String domain() default "default";

  /// On an interface: the class whose instances implement it. Unused on a class.
  Class<?> implementation() default void.class;
}
