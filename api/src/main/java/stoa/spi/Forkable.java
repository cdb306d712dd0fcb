package stoa.spi;

/// A shared class that can copy an instance at once, because what it holds is immutable and shared
/// between versions (vCorfu, section 4.3: a version is a pointer).
///
/// The engine takes a fork where it would otherwise marshal the whole state: for reading at a past
/// version, for the private copy of a transaction, for a checkpoint. [#fork()] is not one of the
/// methods that callers may call.
///
/// @param <T> the class itself
public interface Forkable<T> {
  /// A copy that shares nothing that can change with this instance. Takes constant time, changes
  /// nothing and calls no other object.
  T fork();
}
