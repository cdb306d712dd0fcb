package stoa.spi;

/// A shared class whose state can be copied in O(1), because its parts are never changed once they
/// are shared: persistent collections, mostly.
///
/// The store copies the state of other classes by marshalling it. It copies before a transaction
/// changes an object, and to keep a version for readers of the past.
///
/// @param <T> the class itself
public interface Forkable<T> {
  /// A copy that shares nothing that can change. Called where methods of the object are called: one
  /// thread at a time.
  T fork();
}
