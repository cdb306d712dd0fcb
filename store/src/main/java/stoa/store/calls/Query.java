package stoa.store.calls;

/// A question to a handler that the store can distinguish from others.
public interface Query {
  /// Returns a number for the question, the same in every process. Two questions may have the same
  /// number.
  int number();
}
