package stoa.bench.code;

/// How large the parts of the benchmark of code are.
///
/// @param versions how many versions of its class the busier store has
/// @param objects how many objects a deployment tries and converts
public record CodeScale(int versions, int objects) {
  static CodeScale full() {
    return new CodeScale(10, 100_000);
  }

  static CodeScale smoke() {
    return new CodeScale(3, 1_000);
  }
}
