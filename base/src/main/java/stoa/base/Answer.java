package stoa.base;

/// The answer of a handler. It must not share anything mutable with the handler's state.
public interface Answer {
  /// Returns the encoded answer, as the log has it with the call of the asker.
  byte[] encoded();

  /// Returns whether the answer tells only that the call was made: the handler returned nothing,
  /// and did not fail.
  default boolean isSilent() {
    return false;
  }
}
