package stoa.spi;

/// A shared class whose state can be copied in O(1), because its shared parts never change: mostly
/// persistent collections.
///
/// The store copies the state of other classes by marshalling it. It copies before a transaction
/// changes an object, and to keep a version for readers of the past.
///
/// @param <T> the class itself
public interface Forkable<T> {
  /// Returns a copy that shares nothing that can change. Called like methods of the object: by one
  /// thread at a time.
  T fork();
}
