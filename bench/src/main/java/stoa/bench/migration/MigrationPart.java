package stoa.bench.migration;

/// A part of the benchmark of migrating objects, which can run without the others.
public enum MigrationPart {
  /// Figures 9 and 10.
  TREE,
  /// Figure 11.
  LEAVES,
  /// Figures 9 to 11 with a process for each node.
  PROCESSES,
  /// Figures 12 to 14.
  TRAFFIC,
  /// Figure 13 with real training, and a process for each node.
  TRAINING,
  /// Objects at the server, at clients, and where they cost less.
  PLACEMENT
}
