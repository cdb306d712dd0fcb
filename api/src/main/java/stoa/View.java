package stoa;

/// How a client sees an object.
public sealed interface View {
  /// The live object: calls execute where it lives. The default.
  record Remote() implements View {}

  /// The object as it was at a version; only its accessors may be called.
  ///
  /// @param version the stream address of the last call that is seen
  record AtVersion(long version) implements View {}
}
