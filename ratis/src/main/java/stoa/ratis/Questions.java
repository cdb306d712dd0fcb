package stoa.ratis;

/// Answers what other nodes ask. Called by many threads, on which it may wait.
public interface Questions {
  /// The answer to a question. What it throws ends the [Line].
  ///
  /// @param from the name of the node that asks, which it has proved; empty when the nodes have no
  ///   secret
  byte[] answer(String from, byte[] question);

  /// Whether a node may have all that a group has.
  ///
  /// @param from as above
  default boolean maySupply(String from, GroupId group) {
    return true;
  }
}
