package stoa.raft;

/// Answers the questions that other nodes ask this node. Many threads call it, and may wait in it.
public interface QuestionHandler {
  /// Returns the answer to a question. An exception leaves the question without one.
  ///
  /// @param from the proved name of the asking node; empty when the nodes have no secret
  byte[] answer(String from, byte[] question);

  /// Returns whether a node may get all data of a group.
  ///
  /// @param from the proved name of the asking node; empty when the nodes have no secret
  default boolean maySupply(String from, GroupId group) {
    return true;
  }
}
