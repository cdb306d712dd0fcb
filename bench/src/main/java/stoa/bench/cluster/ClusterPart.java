package stoa.bench.cluster;

/// A part of the cluster benchmark. Each can run without the others.
public enum ClusterPart {
  /// Counters and YCSB, beside other products.
  CALLS,
  /// The time without answers when a server fails.
  FAILURES,
  /// One server becomes three; servers join and drain.
  MOVES,
  /// Calls while the only server that executes them is away.
  DEGRADED,
  /// The cost of a call at each server.
  SHARES,
  /// The cost of a call as the number of groups grows.
  GROUPS,
  /// Transactions over groups.
  TRANSACTIONS
}
