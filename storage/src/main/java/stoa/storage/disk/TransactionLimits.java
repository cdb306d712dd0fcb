package stoa.storage.disk;

/// The limits of open write transactions, so that forgotten ones can neither fill the heap nor keep
/// the disk full.
///
/// @param openMax the most open transactions of a device; beginning another is refused
/// @param keptBytesMax the most bytes of the log that a transaction may keep from being reclaimed:
///   those that others wrote since its first part. The device aborts a transaction that keeps more.
///   On a disk with a known size, it is at most a quarter of that, but not less than 64 MiB
public record TransactionLimits(int openMax, long keptBytesMax) {
  private static final long KEPT_LEAST = 64L << 20;

  /// Checks the values.
  public TransactionLimits {
    if (openMax < 1) throw new IllegalArgumentException("openMax is " + openMax + "; at least 1");
    if (keptBytesMax < 0) {
      throw new IllegalArgumentException("keptBytesMax is " + keptBytesMax + "; at least 0");
    }
  }

  /// Returns 65,536 transactions, and a quarter of the disk.
  public static TransactionLimits standard() {
    return new TransactionLimits(1 << 16, Long.MAX_VALUE);
  }

  /// Returns these limits for a disk.
  ///
  /// @param diskBytes the most bytes that the disk may ever have
  TransactionLimits fitting(long diskBytes) {
    long share = diskBytes == Long.MAX_VALUE ? diskBytes : Math.max(KEPT_LEAST, diskBytes / 4);
    return new TransactionLimits(openMax, Math.min(keptBytesMax, share));
  }
}
