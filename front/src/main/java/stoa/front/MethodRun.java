package stoa.front;

import org.jspecify.annotations.Nullable;
import stoa.front.marshal.Reference;
import stoa.front.types.SharedMethod;
import stoa.spi.CallContext;

/// The run of a user's method that a store has begun, and that decides itself where the calls go
/// which the method makes. Used by the thread that runs the method.
public interface MethodRun extends CallContext {
  /// Returns whether calls on the objects of a store go by [#call].
  boolean takes(SharedStoa stoa);

  /// Makes a call for the method.
  ///
  /// @throws Throwable what the called method throws
  @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable;

  /// The reference of an object, when it is the one whose method runs.
  @Nullable Reference referenceOf(Object object);

  /// The run on the current thread, or null.
  static @Nullable MethodRun current() {
    return CallContext.CURRENT.isBound() && CallContext.CURRENT.get() instanceof MethodRun running
        ? running
        : null;
  }

  /// Refuses what no method of a shared object may do.
  ///
  /// @throws IllegalStateException when one runs on this thread
  static void refuse(String what) {
    if (current() != null) throw refused(what);
  }

  /// As [#refuse], also where the method runs at clients.
  static void refuseAnywhere(String what) {
    if (CallContext.CURRENT.isBound()) throw refused(what);
  }

  private static IllegalStateException refused(String what) {
    return new IllegalStateException("a method of a shared object cannot " + what);
  }
}
