package stoa.bench.ycsb;

/// A part of the benchmark of YCSB.
public enum YcsbPart {
  /// All workloads and all contenders.
  FIGURE,
  /// Transactions that read records as of past log addresses.
  SNAPSHOTS,
  /// Records of 10 GB on one server, beside one node of another product. It runs only when it is
  /// named.
  LARGE
}
