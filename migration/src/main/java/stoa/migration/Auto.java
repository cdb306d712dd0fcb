package stoa.migration;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import stoa.TransactionAction;
import stoa.front.PlacedObject;
import stoa.front.types.SharedMethod;

/// Decides, for a process, where each call executes on objects that may be at the server or at
/// clients ([stoa.Placement#AUTO], [stoa.View.Client]). Thread-safe.
interface Auto {
  /// A call in the tree.
  interface InTree {
    /// Makes it.
    ///
    /// @param meter records its cost
    @Nullable Object call(Meter meter) throws Throwable;
  }

  /// The cost of a call in the tree. One thread uses it.
  final class Meter {
    private final boolean times;
    private long computeNanos = -1;
    private @Nullable RunningOperation running;

    /// Creates a meter.
    ///
    /// @param times whether it measures how long the call runs, which asks a clock three times
    Meter(boolean times) {
      this.times = times;
    }

    /// Notes that the call begins to run.
    void begin() {
      if (times) computeNanos = System.nanoTime();
    }

    /// Notes that it has run.
    void end(RunningOperation ran) {
      running = ran;
      if (times) computeNanos = System.nanoTime() - computeNanos;
    }

    /// Returns how long its method ran; negative when that was not measured.
    long computeNanos() {
      return running == null ? -1 : computeNanos;
    }

    /// Returns the size of the state; negative when that was not measured.
    long stateBytes() {
      var ran = running;
      return ran == null ? -1 : ran.stateBytes();
    }

    /// Returns the operation; null before it has run.
    @Nullable RunningOperation running() {
      return running;
    }
  }

  /// Makes a call where the object is.
  ///
  /// @param caller the calling member
  /// @throws Throwable what the method throws
  @Nullable Object call(
      PlacedObject object,
      SharedMethod method,
      @Nullable Object[] arguments,
      Member caller,
      InTree inTree)
      throws Throwable;

  /// Runs a body that works on objects in the tree.
  ///
  /// @param objects the objects, of which some may be at the server
  /// @throws X what the body throws
  <X extends Exception> void inTree(Collection<PlacedObject> objects, TransactionAction<X> body)
      throws X;
}
