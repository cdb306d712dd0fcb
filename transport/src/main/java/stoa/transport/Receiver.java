package stoa.transport;

/// Hears one side of a stream. The connection's thread calls it, one call at a time; it must not
/// wait.
public interface Receiver {
  /// Receives a message, one for each that [Stream#request] asked for.
  void message(byte[] message);

  /// Notes that the stream takes messages again.
  default void ready() {}

  /// Notes that the other side will send no more messages.
  default void finished() {}

  /// Notes the end of the stream, unless this side has ended it: called at most once, and last.
  void over(Status status);
}
