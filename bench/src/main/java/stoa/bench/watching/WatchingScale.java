package stoa.bench.watching;

/// The load of the benchmark of metrics and traces.
///
/// @param windows how many windows of each way of watching a round has
public record WatchingScale(int windows) {
  static WatchingScale full() {
    return new WatchingScale(12);
  }

  static WatchingScale smoke() {
    return new WatchingScale(1);
  }
}
