package stoa.store.calls;

/// A question to a handler that can be told from others.
public interface Query {
  /// A number for what is asked, the same in every process; two may have the same.
  int number();
}
