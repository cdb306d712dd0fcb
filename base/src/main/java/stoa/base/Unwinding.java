package stoa.base;

/// Marks an [Error] that stops the code through which it passes, and is not a result of that code:
/// code that catches it rethrows it.
public interface Unwinding {
  /// Rethrows such an error.
  static void throwOn(Throwable thrown) {
    if (thrown instanceof Unwinding && thrown instanceof Error error) throw error;
  }
}
