package stoa.base;

/// What a handler answers. It must not share anything that can change with the handler's state.
public interface Answer {
  /// The answer as it is logged with the call that asked for it.
  byte[] encoded();
}
