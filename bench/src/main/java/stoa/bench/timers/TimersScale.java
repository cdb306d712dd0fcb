package stoa.bench.timers;

/// The load of the benchmark of timers.
///
/// @param timers how many there are
/// @param targets how many objects they call
public record TimersScale(int timers, int targets) {
  static TimersScale full() {
    return new TimersScale(1_000_000, 10_000);
  }

  static TimersScale smoke() {
    return new TimersScale(20_000, 1_000);
  }
}
