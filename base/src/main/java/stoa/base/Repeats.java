package stoa.base;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/// Keeps a loop that retries from filling the log: of equal lines it lets through the 1st, the
/// 10th, the 100th and so on, with their number. Thread-safe.
public final class Repeats {
  // The most different lines that it remembers.
  private static final int LINES_MAX = 32;

  private static final int STEP = 10;

  // The number of each line's repetitions, the most recent line at the end. Guarded by this.
  private final LinkedHashMap<String, Long> counts = new LinkedHashMap<>(16, 0.75f, true);

  /// Creates one without lines.
  public Repeats() {}

  /// Logs a line, or suppresses it.
  ///
  /// @param log writes the line
  public void tell(String line, Consumer<String> log) {
    long count = count(line);
    if (!isPower(count)) return;
    log.accept(count == 1 ? line : line + " (repeated " + count + " times)");
  }

  private synchronized long count(String line) {
    long count = counts.merge(line, 1L, Long::sum);
    if (counts.size() > LINES_MAX) {
      Map.Entry<String, Long> oldest = counts.firstEntry();
      counts.remove(oldest.getKey());
    }
    return count;
  }

  private static boolean isPower(long count) {
    long rest = count;
    while (rest % STEP == 0) rest /= STEP;
    return rest == 1;
  }
}
