package stoa.spi;

/// A class loader that changes class files before they become classes, so that [Cancellation] can
/// stop their methods. What makes classes of other versions of these files has them changed in the
/// same way. Thread-safe.
public interface ClassWeaver {
  /// The class file as it is to be loaded.
  byte[] woven(byte[] classFile);
}
