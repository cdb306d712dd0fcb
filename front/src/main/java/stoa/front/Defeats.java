package stoa.front;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import stoa.Aborted;
import stoa.Ref;
import stoa.TxOptions;

/// Counts by object the aborts of one transaction's attempts. One thread uses it.
final class Defeats {
  // The most objects that it counts. A body that meets more gets one of the first in its exception.
  private static final int OBJECTS_MAX = 1_024;

  private static final class Loss {
    private int times;
    private Aborted last;

    private Loss(Aborted first) {
      last = first;
    }
  }

  private final Map<Ref<?>, Loss> losses = new LinkedHashMap<>();

  /// Counts an aborted attempt.
  void add(Aborted cause) {
    Loss loss = losses.get(cause.object());
    if (loss == null) {
      if (losses.size() == OBJECTS_MAX) return;
      loss = new Loss(cause);
      losses.put(cause.object(), loss);
    }
    loss.times++;
    loss.last = cause;
  }

  /// Returns the exception for a transaction that has reached a limit after at least one abort.
  ///
  /// @param attempts the number of attempts
  /// @param nanos the time that they took
  Aborted told(TxOptions options, int attempts, long nanos) {
    Loss most = losses.values().iterator().next();
    for (Loss loss : losses.values()) if (loss.times > most.times) most = loss;
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
            + " do what the body does with it, make the body shorter, make fewer calls on that object"
            + " meanwhile, or raise the limit that was reached. The last time, "
            + most.last.getMessage(),
        most.last);
  }
}
