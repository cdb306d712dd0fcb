package stoa.test;

import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.Call1;
import stoa.LimitExceeded;
import stoa.StoaException;
import stoa.Unavailable;
import stoa.sim.check.ObjectModel;
import stoa.sim.world.Recorder;

/// One of the threads of [StoaAssertions#assertLinearizable], through which it makes its calls.
/// Only that thread uses it.
///
/// @param <T> the shared class
public final class Caller<T> {
  private final int number;
  private final RandomGenerator random;
  private final T shared;
  private final Recorder.Client<ObjectModel.Invocation<T>, ObjectModel.Answer> client;

  Caller(
      int number,
      RandomGenerator random,
      T shared,
      Recorder.Client<ObjectModel.Invocation<T>, ObjectModel.Answer> client) {
    this.number = number;
    this.random = random;
    this.shared = shared;
    this.client = client;
  }

  /// Returns the number of this thread, from 0.
  public int number() {
    return number;
  }

  /// Returns random numbers of this thread, the same in every run.
  public RandomGenerator random() {
    return random;
  }

  /// Makes a call on the shared object, and records it. The check makes the same call on a plain
  /// instance of the class.
  ///
  /// @param name the call with its arguments, as a failure shows it: `"take 3"`. Calls of one name
  ///   must be the same call
  /// @param call makes the call on the instance that it gets, and touches nothing else. Several
  ///   calls in it count as one, which must then take effect at one moment
  /// @return what the call returned
  /// @throws Exception what the method threw, which the check compares as it compares an answer: a
  ///   workload that expects it catches it. Or what Stoa threw: a call whose outcome is unknown may
  ///   have taken effect at any time, or not
  public <R extends @Nullable Object> R call(String name, Call1<? super T, R> call)
      throws Exception {
    var open =
        client.begin(new ObjectModel.Invocation<>(name, plain -> onPlain(name, call, plain)));
    R answer;
    try {
      answer = call.on(shared);
    } catch (LimitExceeded | Unavailable refused) {
      open.refused();
      throw refused;
    } catch (StoaException unknown) {
      throw unknown; // the call stays open: it may take effect later, or never
    } catch (Exception thrown) {
      open.returned(new ObjectModel.Answer.Returned(CallOutcome.threw(thrown)));
      throw thrown;
    }
    open.returned(new ObjectModel.Answer.Returned(new CallOutcome(answer, null)));
    return answer;
  }

  /// Makes calls as [#call] does, of methods that return nothing. The check does not see an answer
  /// of a method that returns one.
  ///
  /// @param step makes the calls on the instance that it gets, and touches nothing else
  /// @throws Exception what the method threw, or Stoa
  public void run(String name, Step<? super T> step) throws Exception {
    Object _ =
        call(
            name,
            instance -> {
              step.on(instance);
              return true;
            });
  }

  private static <T> CallOutcome onPlain(String name, Call1<? super T, ?> call, T plain) {
    try {
      return CallOutcome.of(call, plain);
    } catch (Alone.OthersNeeded needed) {
      throw new Alone.OthersNeeded(name, needed);
    }
  }
}
