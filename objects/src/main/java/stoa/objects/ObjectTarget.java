package stoa.objects;

import org.jspecify.annotations.Nullable;
import stoa.History;
import stoa.base.Footprint;
import stoa.front.Service;
import stoa.front.SharedCall;
import stoa.front.types.SharedMethod;
import stoa.store.running.Execution;
import stoa.store.running.Target;

/// An object of the store of this process, as running methods and readers of the log reach it.
/// [LocalObject] is the one implementation: it stands above what executes methods. Thread-safe.
interface ObjectTarget extends Service.Target {
  /// Returns its class as the store knows it.
  ObjectType type();

  /// Returns its place in the store.
  Target at();

  /// Returns the part of the object on which a call works.
  Footprint footprint(SharedMethod method, @Nullable Object[] arguments);

  /// Makes a call for the method of another object, or of this one.
  @Nullable Object nested(
      Execution execution, SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable;

  /// Returns the call of a put as its caller made it: in the code of its time.
  History.Event called(byte[] value, int code);

  /// Returns an argument of the past in the program's classes; unconverted when they have no rule
  /// for it.
  @Nullable Object today(ObjectType then, @Nullable Object argument);
}
