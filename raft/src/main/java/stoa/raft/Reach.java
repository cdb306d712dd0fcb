package stoa.raft;

/// Which members a node can talk to at the moment. A test cuts some off. Thread-safe.
@FunctionalInterface
public interface Reach {
  /// Every member that the network reaches.
  Reach ALL = _ -> true;

  /// Returns whether messages to and from a member pass. While they do not, requests of either end
  /// fail as over a connection that has ended.
  boolean reaches(String member);
}
