package stoa.test;

/// Calls on a shared object whose answers the caller does not use: the methods may return nothing.
///
/// @param <T> the shared class
@FunctionalInterface
public interface Step<T> {
  /// Makes the calls on the given object.
  ///
  /// @throws Exception what a method throws
  void on(T shared) throws Exception;
}
