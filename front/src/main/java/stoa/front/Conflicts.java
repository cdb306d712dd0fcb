package stoa.front;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import stoa.Aborted;
import stoa.Ref;
import stoa.TxOptions;

/// Counts by object the aborts of one transaction's attempts. One thread uses it.
final class Conflicts {
  // The most objects that it counts. A body that meets more gets one of the first in its exception.
  private static final int OBJECTS_MAX = 1_024;

  private static final class Conflict {
    private int times;
    private Aborted last;

    private Conflict(Aborted first) {
      last = first;
    }
  }

  private final Map<Ref<?>, Conflict> conflicts = new LinkedHashMap<>();

  /// Counts an aborted attempt.
  void add(Aborted cause) {
    Conflict conflict = conflicts.get(cause.object());
    if (conflict == null) {
      if (conflicts.size() == OBJECTS_MAX) return;
      conflict = new Conflict(cause);
      conflicts.put(cause.object(), conflict);
    }
    conflict.times++;
    conflict.last = cause;
  }

  /// Returns the exception for a transaction that has reached a limit after at least one abort.
  ///
  /// @param attempts the number of attempts
  /// @param nanos the time that they took
  Aborted told(TxOptions options, int attempts, long nanos) {
    Conflict most = conflicts.values().iterator().next();
    for (Conflict conflict : conflicts.values()) if (conflict.times > most.times) most = conflict;
    return new Aborted(
        "the transaction was run "
            + attempts
            + " times in "
            + TimeUnit.NANOSECONDS.toMillis(nanos)
            + " ms, and other calls always won, most often on "
            + most.last.object()
            + " ("
            + most.times
            + " times); nothing was written. TxOptions.attemptsMax is "
            + options.attemptsMax()
            + " and TxOptions.totalTimeMax is "
            + options.totalTimeMax().toMillis()
            + " ms. Have one method of "
            + most.last.object()
            + " do what the body does with it, name the part that a call works on (@Key), make the"
            + " body shorter, make fewer calls on that"
            + " object meanwhile, or raise the limit that was reached. The last time, "
            + most.last.getMessage(),
        most.last);
  }
}
