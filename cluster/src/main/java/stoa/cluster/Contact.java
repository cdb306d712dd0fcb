package stoa.cluster;

/// What a server says to others by the way of clients. Thread-safe; waits for an answer.
public interface Contact {
  /// Asks the server that [ClusterServer.Options#join] names to keep its store together with
  /// another one, and returns when it does.
  ///
  /// @param member where the other one is, as they write it
  /// @throws stoa.StoaException when it may not
  void join(String server, String member);

  /// Tells a server of an object that another one has otherwise. Waits. May be lost.
  ///
  /// @param address where clients find the server
  /// @param group of the object
  /// @param evidence what a standby told
  /// @throws RuntimeException when it cannot be told
  void report(String address, int group, byte[] evidence);
}
