package stoa.cluster;

import org.jspecify.annotations.Nullable;
import stoa.base.Secret;

/// What a server says to others by the way of clients. Thread-safe; waits for an answer.
public interface Contact {
  /// Asks the server that [ClusterServer.Options#join] names to keep its store together with
  /// another one, and returns when it does.
  ///
  /// @param member where the other one is, as they write it
  /// @param secret of the servers; null when they have none
  /// @throws stoa.StoaException when it may not
  void join(String server, String member, @Nullable Secret secret);
}
