package stoa.bench.changes;

/// The load of the benchmark of change streams.
///
/// @param windows how many windows of each kind a round has
/// @param changes how many changes a subscriber reads that was away
/// @param objects how many objects change
public record ChangesScale(int windows, int changes, int objects) {
  static ChangesScale full() {
    return new ChangesScale(8, 1_000_000, 1_000);
  }

  static ChangesScale smoke() {
    return new ChangesScale(1, 20_000, 100);
  }
}
