package stoa.bench.indexes;

/// The load of the benchmark of indexes.
///
/// @param objects how many a find chooses from, in this process
/// @param compared how many a predicate runs on, at a server
/// @param written how many the writers change
public record IndexesScale(int objects, int compared, int written) {
  static IndexesScale full() {
    return new IndexesScale(1_000_000, 100_000, 1_000);
  }

  static IndexesScale smoke() {
    return new IndexesScale(20_000, 5_000, 200);
  }
}
