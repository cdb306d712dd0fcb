package stoa.transport;

/// The side that takes streams. The connections' threads call it.
public interface Service {
  /// Takes a stream, or ends it. It must not wait.
  ///
  /// @return the receiver of its messages
  Receiver begin(Stream stream);
}
