package stoa.migration;

import java.util.Collection;
import org.jspecify.annotations.Nullable;
import stoa.Action;
import stoa.front.PlacedObject;
import stoa.front.types.SharedMethod;

/// Where the calls of a process are made on objects of which each may be at the server or at
/// clients ([stoa.Placement#AUTO], [stoa.View.Client]). Thread-safe.
interface Auto {
  /// Makes a call in the tree.
  interface InTree {
    /// Makes it.
    ///
    /// @param meter is to be told what it took
    @Nullable Object call(Meter meter) throws Throwable;
  }

  /// What a call in the tree took. Used by one thread.
  final class Meter {
    private final boolean times;
    private long computeNanos = -1;
    private @Nullable Running running;

    /// @param times whether it is noted how long it runs; a clock is asked three times for that
    Meter(boolean times) {
      this.times = times;
    }

    /// Notes that the call begins to run.
    void begin() {
      if (times) computeNanos = System.nanoTime();
    }

    /// Notes that it has run.
    void end(Running ran) {
      running = ran;
      if (times) computeNanos = System.nanoTime() - computeNanos;
    }

    /// How long its method ran; negative when that was not seen.
    long computeNanos() {
      return running == null ? -1 : computeNanos;
    }

    /// How large the state was; negative when that was not seen.
    long stateBytes() {
      var ran = running;
      return ran == null ? -1 : ran.stateBytes();
    }

    /// The operation; null before it has run.
    @Nullable Running running() {
      return running;
    }
  }

  /// Makes a call where the object is.
  ///
  /// @param caller who makes it
  /// @throws Throwable what the method throws
  @Nullable Object call(
      PlacedObject object,
      SharedMethod method,
      @Nullable Object[] arguments,
      Member caller,
      InTree inTree)
      throws Throwable;

  /// Runs something that works on objects in the tree.
  ///
  /// @param objects of which some may be at the server
  /// @throws X what it throws
  <X extends Exception> void inTree(Collection<PlacedObject> objects, Action<X> body) throws X;
}
