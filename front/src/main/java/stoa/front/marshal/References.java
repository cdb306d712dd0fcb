package stoa.front.marshal;

import org.jspecify.annotations.Nullable;

/// How shared objects that travel inside values become references and proxies again. Thread-safe.
public interface References {
  /// The reference of a proxy, or of the instance that the current call executes on; null when the
  /// object is neither.
  @Nullable Reference referenceOf(Object object);

  /// A proxy, of the face of the reference's type.
  Object resolve(Reference reference);

  /// A proxy, of a certain face of the reference's type.
  default Object resolve(Reference reference, Class<?> face) {
    return resolve(reference);
  }

  /// A facade before the object of a reference. A call through the facade begins an absent object
  /// with the classes and the order that the form names.
  ///
  /// @param form what [Facade#form()] answered
  Object facade(Reference reference, String form);

  /// Registers classes that are known elsewhere, when a value names one that is not known here;
  /// returns whether there were any, and the value is to be tried again.
  default boolean learn() {
    return false;
  }
}
