package stoa.base;

/// The rule by which the state of a key is encoded and continues in its decoded form. It looks only
/// at the puts, so that every process that executes them does so behind the same ones.
public final class CheckpointRule {
  /// The least bytes of puts between two checkpoints.
  public static final int BYTES_MIN = 64 << 10;

  private static final long PUT_BYTES = 32;

  private CheckpointRule() {}

  /// Returns whether a checkpoint follows a put.
  ///
  /// @param bytesSince the weight of the puts since the last checkpoint
  /// @param stateBytes the size of the last checkpoint
  public static boolean isDue(long bytesSince, long stateBytes, int valueBytes) {
    return bytesSince + weightOf(valueBytes) >= Math.max(BYTES_MIN, stateBytes);
  }

  /// Returns the weight of a put, which counts toward the next checkpoint.
  public static long weightOf(int valueBytes) {
    return valueBytes + PUT_BYTES;
  }
}
