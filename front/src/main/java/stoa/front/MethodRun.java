package stoa.front;

import org.jspecify.annotations.Nullable;
import stoa.Schedule;
import stoa.front.marshal.Reference;
import stoa.front.types.SharedMethod;
import stoa.spi.CallContext;
import stoa.spi.Collections;

/// The run of a user's method that a store has begun. It decides itself on the route of the
/// method's calls. The thread that runs the method uses it.
public interface MethodRun extends CallContext {
  /// Returns whether [#call] makes the calls on the objects of a store.
  boolean takes(SharedStoa stoa);

  /// Makes a call for the method.
  ///
  /// @throws Throwable what the called method throws
  @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable;

  /// Returns the reference of an object, if it is the object of the running method.
  @Nullable Reference referenceOf(Object object);

  @Override
  default <T> T schedule(@Nullable String name, Schedule schedule, T target) {
    return Scheduling.of(this::get, this::now, name, schedule, target);
  }

  @Override
  default boolean cancelTimer(String name, Object target) {
    Scheduling.checkName(name);
    var of = Scheduling.targetOf(target).stream();
    return Collections.installed().timers().cancel(this::get, of, name);
  }

  /// Returns the run on the current thread, or null.
  static @Nullable MethodRun current() {
    return CallContext.CURRENT.isBound() && CallContext.CURRENT.get() instanceof MethodRun running
        ? running
        : null;
  }

  /// Refuses an operation that no method of a shared object may use.
  ///
  /// @throws IllegalStateException when a method runs on this thread
  static void refuse(String what) {
    if (!CallContext.CURRENT.isBound()) return;
    CallContext context = CallContext.CURRENT.get();
    if (context instanceof MethodRun) throw refused(what);
    context.refuseOutside(what);
  }

  /// Refuses a transaction in a method of a shared object. A method that runs outside of all stores
  /// may begin one: no object takes part in it.
  ///
  /// @throws IllegalStateException when a method of a store runs on this thread
  static void refuseTransaction() {
    if (current() != null) throw refused("begin a transaction");
  }

  /// Refuses like [#refuse], also where the method runs at clients.
  static void refuseAnywhere(String what) {
    if (CallContext.CURRENT.isBound()) throw refused(what);
  }

  private static IllegalStateException refused(String what) {
    return new IllegalStateException("a method of a shared object cannot " + what);
  }
}
