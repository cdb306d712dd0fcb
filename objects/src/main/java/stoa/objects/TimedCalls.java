package stoa.objects;

import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.Gone;
import stoa.NotShareable;
import stoa.StoaException;
import stoa.base.Existence;
import stoa.front.ObjectAnswer;
import stoa.front.SharedCall;
import stoa.front.TimerArguments;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.spi.TimerCall;
import stoa.store.running.Execution;

/// The calls of timers, which name their methods and objects in words. Stateless.
///
/// Each takes one number among the nested calls of its run, also when it cannot be made; so a
/// replay, at which the same names may mean something else, finds each answer at its place.
final class TimedCalls {
  private TimedCalls() {}

  /// A call with all that its names mean now.
  private record Found(SharedCall to, SharedMethod method, @Nullable Object[] arguments) {}

  /// Makes a call for a method.
  ///
  /// @return false when the object was deleted
  /// @throws Throwable what the called method throws, or why it cannot be called
  static boolean make(Environment environment, Execution execution, TimerCall call)
      throws Throwable {
    Found found = null;
    StoaException unfit = null;
    try {
      found = find(environment, call);
    } catch (StoaException refused) {
      unfit = refused;
    } catch (RuntimeException | LinkageError broken) {
      unfit =
          new NotShareable(
              "the call of a timer cannot be read: " + broken.getClass().getName(), broken);
    }
    if (found != null) {
      var target = (ObjectTarget) found.to.target();
      try {
        var _ = target.nested(execution, found.to, found.method, found.arguments);
        return true;
      } catch (Gone gone) { // the object itself, or another one, of which its method tells
        if (target.key().deletedText().equals(gone.getMessage())) return false;
        throw gone;
      }
    }
    byte[] refusal =
        new ObjectAnswer.Travelling(
                ObjectAnswer.THREW,
                environment.catalog().marshaller().thrown(java.util.Objects.requireNonNull(unfit)))
            .encoded();
    var _ = ObjectAnswer.get(execution.once(() -> refusal), environment.catalog().marshaller());
    return true;
  }

  private static Found find(Environment environment, TimerCall call) {
    ObjectType type = typeOf(environment, call.type(), call.face());
    ClassLoader loader = type.code().loader();
    ObjectTarget object = environment.catalog().object(type, Keys.decode(call.key(), loader));
    if (type.shared().isPlaced()) {
      throw new NotShareable(object.key() + " is at clients, where no timer can call it");
    }
    SharedMethod method = type.shared().method(call.method());
    if (method.kind().isTransaction()) {
      throw new NotShareable(
          method + " is a transaction, which no timer can make; schedule a method that it calls");
    }
    @Nullable Object[] arguments =
        TimerArguments.decode(
            call.arguments(),
            loader,
            (name, face, key, generation) -> proxy(environment, name, face, key, generation));
    if (arguments.length != method.parameterTypes().size()) {
      throw new NotShareable(
          method + " takes other arguments than when its call was scheduled; schedule it again");
    }
    for (int i = 0; i < arguments.length; i++) checkFits(method, i, arguments[i]);
    return new Found(to(environment, object, call.generation()), method, arguments);
  }

  private static void checkFits(SharedMethod method, int index, @Nullable Object argument) {
    Class<?> type = method.method().getParameterTypes()[index];
    Class<?> boxed = java.lang.invoke.MethodType.methodType(type).wrap().returnType();
    if (argument == null ? !type.isPrimitive() : boxed.isInstance(argument)) return;
    throw new NotShareable(
        "argument "
            + index
            + " of "
            + method
            + " was scheduled as "
            + (argument == null ? "null" : "a " + argument.getClass().getName())
            + "; schedule the call again");
  }

  /// Returns the type of a stored name, in the code that executes its calls now.
  private static ObjectType typeOf(Environment environment, String type, String face) {
    try {
      return environment.catalog().typeNamed(type);
    } catch (NotShareable unknown) {
      // No program has called an object of the type in this group yet.
      try {
        return environment
            .catalog()
            .served(Class.forName(face, false, environment.catalog().loader()));
      } catch (ClassNotFoundException | LinkageError lacking) {
        throw unknown;
      }
    }
  }

  private static SharedCall to(Environment environment, ObjectTarget object, long generation) {
    return SharedCall.of(
        environment.stoa(),
        object,
        generation == 0 ? new Existence.Undeleted(null) : new Existence.Generation(generation));
  }

  private static Object proxy(
      Environment environment, String name, String face, byte[] key, long generation) {
    ObjectType type = typeOf(environment, name, face);
    try {
      ObjectType known =
          environment.catalog().typeOf(Class.forName(face, false, type.code().loader()));
      ObjectTarget object =
          environment.catalog().object(known, Keys.decode(key, known.code().loader()));
      return environment.stoa().proxyOf(to(environment, object, generation));
    } catch (ClassNotFoundException | LinkageError lacking) {
      throw new NotShareable(
          "an argument of a timer's call is an object of " + face + ", which is gone", lacking);
    } catch (Corrupt damaged) {
      throw new NotShareable("an argument of a timer's call cannot be read", damaged);
    }
  }
}
