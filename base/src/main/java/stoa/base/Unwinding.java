package stoa.base;

/// Marks an [Error] that stops the code through which it is thrown, and tells nothing about what
/// that code did: whatever catches it throws it on.
public interface Unwinding {
  /// Throws what is such an error.
  static void throwOn(Throwable thrown) {
    if (thrown instanceof Unwinding && thrown instanceof Error error) throw error;
  }
}
