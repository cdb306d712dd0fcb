package stoa.programs;

import java.time.Duration;
import java.util.Locale;

/// How the commands print numbers.
public final class Words {
  private Words() {}

  /// A count, with thousands separated: `12,345`.
  public static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /// A count of things: `1 file`, `2 files`.
  public static String count(long number, String thing) {
    return count(number) + " " + thing + (number == 1 ? "" : "s");
  }

  /// A short time in milliseconds: `0.42 ms`, `17 ms`.
  public static String millis(Duration time) {
    double millis = time.toNanos() / 1e6;
    return String.format(Locale.ROOT, millis < 10 ? "%.2f ms" : "%,.0f ms", millis);
  }

  /// A long time in seconds: `4.2 s`.
  public static String seconds(Duration time) {
    return String.format(Locale.ROOT, "%.1f s", time.toNanos() / 1e9);
  }

  /// A size: `640 B`, `12 KB`, `3.4 MB`.
  public static String bytes(long bytes) {
    if (bytes < 1_000) return bytes + " B";
    if (bytes < 1_000_000) return bytes / 1_000 + " KB";
    return String.format(Locale.ROOT, "%.1f MB", bytes / 1e6);
  }
}
