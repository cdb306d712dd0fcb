package stoa.front.marshal;

import org.jspecify.annotations.Nullable;

/// Turns shared objects inside values into references, and references into proxies. Thread-safe.
public interface References {
  /// Returns the reference of a proxy, or of the instance that the current call executes on; null
  /// when the object is neither.
  @Nullable Reference referenceOf(Object object);

  /// Returns a proxy, of the face of the reference's type.
  Object resolve(Reference reference);

  /// Returns a proxy, of a certain face of the reference's type.
  default Object resolve(Reference reference, Class<?> face) {
    return resolve(reference);
  }

  /// Returns a facade over the object of a reference. A call through the facade creates an absent
  /// object with the classes and the order that the form names.
  ///
  /// @param form the result of [Facade#form()]
  Object facade(Reference reference, String form);

  /// Returns the class of a name in the dictionary; null when the dictionary has no such name, or
  /// this process no such class.
  ///
  /// @param name `class` and the name of a class, or `proxy` or `instance` and the stored name of a
  ///   shared type
  default @Nullable Class<?> classOf(String name) {
    return null;
  }

  /// Registers classes that are known elsewhere, when a value names one that is unknown here;
  /// returns whether there were any, so that the caller must try the value again.
  default boolean learn() {
    return false;
  }
}
