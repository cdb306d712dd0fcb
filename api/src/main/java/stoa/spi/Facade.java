package stoa.spi;

import java.util.function.UnaryOperator;

/// What stands before a shared object and is no proxy of it: an object of the caller's process that
/// turns its own methods into calls on the proxy, as the collections do.
///
/// The engine takes a facade wherever it takes a proxy: passed as an argument, answered or kept in
/// a field it travels as the reference of [#shared()] with its [#form()], and is made again at the
/// other end by the [Collections] that made it. Implementations are immutable and thread-safe.
public interface Facade {
  /// The proxy of the object behind it.
  Object shared();

  /// What is needed besides the object to make the facade again: which one it is, and of what
  /// types.
  String form();

  /// The same facade before other proxies, for example of the past.
  ///
  /// @param lens answers the proxy to use in place of the one that it is given
  Facade through(UnaryOperator<Object> lens);

  /// What it is called in messages: the interface by which programs know it.
  default String title() {
    for (Class<?> face : getClass().getInterfaces()) {
      if (face != Facade.class) return face.getSimpleName();
    }
    return "collection";
  }

  /// Whether all of it is in the one object behind it. A facade before several objects has no
  /// single history.
  boolean isSingle();
}
