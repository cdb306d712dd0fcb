package stoa;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// Marks a class, or an interface, whose instances are shared objects (CRESON, section IV), or a
/// static field that is a shared collection.
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
///
/// *In woven code*, `new` of a class with a [#key()] is the shared object of that key, in the store
/// of [Stoa#bind], or in the store of the method that runs. The constructor runs once at the
/// caller, so that the key can be read from the field, and once more where a call creates the
/// object; so it must only assign fields. A static field with this annotation is one shared
/// collection, in every process: a `Map`, `NavigableMap`, `List`, `Queue` or `Deque`, or one of
/// Stoa's collections, of keys, values or elements whose types are classes. Its initial value is
/// not used. The code is woven by the agent of stoa-weave, by its program, or by the class loader
/// of a server.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.TYPE, ElementType.FIELD})
public @interface Shared {
  /// The name under which instances are stored; empty means the class's binary name, or the earlier
  /// one in its [Was]. Give a name so that the class can be renamed later: the name is the
  /// identity, the class is not.
  String name() default "";

  /// The field that has the object's key; empty when the object does not need its own key. When
  /// set, the constructor gets the key as its first argument; if no constructor takes it, the
  /// constructor gets the other arguments alone, and leaves the key in the field.
  ///
  /// On a field: the name of the collection; empty means the stored name of the class, a dot, and
  /// the name of the field.
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
