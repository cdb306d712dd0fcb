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
/// fields, a superclass, type parameters and ordinary collections. It must not be final. The store
/// checks its bytecode at its first use: see [NotShareable]. A proxy has no state, and its fields
/// mean nothing: keep fields private, and call private methods on `this` only.
///
/// A method that throws keeps its earlier changes, as in Java. A call that the store takes back,
/// because it ran for too long, keeps none. A method that calls its own object through a proxy
/// would wait for itself, and gets [Deadlock]; call `this` instead.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface Shared {
  /// The name under which instances are stored; empty means the class's binary name, or the earlier
  /// one in its [Was]. Give a name so that the class can be renamed later: the name is the identity,
  /// the class is not.
  String name() default "";

  /// The field that has the object's key; empty when the object does not need its own key. When
  /// set, the constructor gets the key as its first argument.
  String key() default "";

  /// How calls on its instances are ordered relative to calls on other objects.
  LogOrder order() default LogOrder.GLOBAL;

  /// Where calls on its instances execute. Objects that are placed at clients are of
  /// [LogOrder#GLOBAL].
  Placement placement() default Placement.SERVER;

  /// The domain of its instances when they are placed at clients: letters, digits, dots, dashes and
  /// underscores. Each domain has its own tree of clients, in which its objects migrate.
  /// [Stoa#together] takes objects of one domain. All classes of one stored name must have the same
  /// domain.
  String domain() default "default";

  /// On an interface: the class whose instances implement it. Unused on a class.
  Class<?> implementation() default void.class;
}
