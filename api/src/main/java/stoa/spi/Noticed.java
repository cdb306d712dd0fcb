package stoa.spi;

/// A shared object of whose changes the engine takes notice: it keeps a listener of objects.
public interface Noticed {
  /// Returns the log counter behind which the listener must hear everything; [Long#MAX_VALUE] when
  /// there is no listener.
  long position();
}
