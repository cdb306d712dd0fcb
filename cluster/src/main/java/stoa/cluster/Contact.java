package stoa.cluster;

import org.jspecify.annotations.Nullable;
import stoa.base.Secret;

/// Sends a server's messages to others through the port of clients. Thread-safe; waits for an
/// answer.
public interface Contact {
  /// Asks the server that [ClusterOptions#join] names to accept another one, and returns when it
  /// has.
  ///
  /// @param member the address of the other one, as they write it
  /// @param secret of the servers; null when they have none
  /// @throws stoa.StoaException when it refuses
  void join(String server, String member, @Nullable Secret secret);
}
