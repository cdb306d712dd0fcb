package stoa.base;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/// Keeps a loop that tries again from filling the log: of equal lines it lets through the 1st, the
/// 10th, the 100th and so on, and those say how many there were. Thread-safe.
public final class Repeats {
  // How many different lines it remembers.
  private static final int LINES_MAX = 32;

  private static final int STEP = 10;

  // How often each line was told, the one that was told last at the end. Guarded by this.
  private final LinkedHashMap<String, Long> counts = new LinkedHashMap<>(16, 0.75f, true);

  /// One that has told nothing yet.
  public Repeats() {}

  /// Tells a line, or keeps it back.
  ///
  /// @param log writes it
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
