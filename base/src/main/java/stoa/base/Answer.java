package stoa.base;

/// The answer of a handler. It must not share anything mutable with the handler's state.
public interface Answer {
  /// Returns the encoded answer, as the log has it with the call of the asker.
  byte[] encoded();

  /// Returns whether the put has changed nothing, and waits for a change of its key.
  default boolean isWaiting() {
    return false;
  }

  /// Returns whether a put that waits may go on by the passing of time, too.
  default boolean isTimed() {
    return false;
  }

  /// Returns whether the answer tells only that the call was made: the handler returned nothing,
  /// and did not fail.
  default boolean isSilent() {
    return false;
  }
}
