package stoa.spi;

import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/// An object of the caller's process that stands before a shared object and is not a proxy: it
/// turns its own methods into calls on the proxy, as the collections do.
///
/// The engine takes a facade wherever it takes a proxy. As an argument, an answer or a field it
/// travels as the reference of [#shared()] with its [#form()], and the [Collections] that made it
/// make it again at the other end. Implementations are immutable and thread-safe.
public interface Facade {
  /// Returns the proxy of the object behind it.
  Object shared();

  /// Returns what making the facade again needs besides the object: its kind, and its types.
  String form();

  /// Returns the same facade before other proxies, for example of the past.
  ///
  /// @param lens maps each proxy to the one to use in its place
  Facade through(UnaryOperator<Object> lens);

  /// Returns its name in messages: the interface by which programs know it.
  default String title() {
    for (Class<?> face : getClass().getInterfaces()) {
      if (face != Facade.class) return face.getSimpleName();
    }
    return "collection";
  }

  /// Returns whether what it holds is in indexes.
  default boolean hasIndexes() {
    return false;
  }

  /// Removes what it holds from indexes, in the transaction that deletes the object behind it.
  default void leaveIndexes() {}

  /// Returns whether the one object behind it has all of its state. A facade before several objects
  /// has no single history.
  boolean isSingle();

  /// The objects among which a facade divides what it holds.
  ///
  /// @param type their stored type
  /// @param hasKey returns whether an encoded key of that type is the key of one of them
  /// @param part the same facade as it is before one of them, for [#through]
  record Parts(String type, Predicate<byte[]> hasKey, Facade part) {}

  /// Returns the objects among which it divides what it holds; null when it does not, or when one
  /// of them alone means nothing to programs.
  default @Nullable Parts parts() {
    return null;
  }
}
