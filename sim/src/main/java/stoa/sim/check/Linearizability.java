package stoa.sim.check;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Decides whether a history is linearizable: whether every call has one moment between its
/// beginning and its end, such that the calls in the order of these moments are a run of the
/// [Model] [1].
///
/// A history that cannot be decided within the allowed steps is [Verdict.Undecided], which
/// [#require] treats as a failure. Pure and stateless; safe for any number of threads.
///
/// ```java
/// Linearizability.require(new CounterModel(), recorder.history());
/// ```
public final class Linearizability {
  /*
   * The search is that of Wing and Gong [2] with the memory of Lowe [3]; the parts of a model are
   * checked apart [4]. See Search for the invariants.
   *
   * Being linearizable is closed under prefixes. So the first event at which a bad history becomes
   * bad is found by bisection, and it is always the return of a call: that call is the culprit, and
   * the order found for the events before it is the evidence.
   *
   * [1] M. Herlihy, J. Wing. Linearizability: a correctness condition for concurrent objects. 1990.
   * [2] J. Wing, C. Gong. Testing and verifying concurrent objects. 1993.
   * [3] G. Lowe. Testing for linearizability. 2017.
   * [4] A. Horn, D. Kroening. Faster linearizability checking via P-compositionality. 2015; as in
   *     Porcupine.
   */

  /// The steps that [#check(Model, CallHistory)] and [#require] allow for one part of a model.
  public static final long STEPS_MAX = 5_000_000;

  private Linearizability() {}

  /// Checks a history within [#STEPS_MAX] steps per part.
  public static <S, I, O> Verdict<S, I, O> check(Model<S, I, O> model, CallHistory<I, O> history) {
    return check(model, history, STEPS_MAX);
  }

  /// Checks a history.
  ///
  /// @param stepsMax the most questions to the model, for each part of it
  public static <S, I, O> Verdict<S, I, O> check(
      Model<S, I, O> model, CallHistory<I, O> history, long stepsMax) {
    Map<Object, List<Operation<I, O>>> parts = new LinkedHashMap<>();
    for (Operation<I, O> operation : history.operations()) {
      parts
          .computeIfAbsent(model.partition(operation.input()), _ -> new ArrayList<>())
          .add(operation);
    }
    Map<Object, List<Operation<I, O>>> orders = new LinkedHashMap<>();
    for (var part : parts.entrySet()) {
      var search = new Search<>(model, part.getValue(), stepsMax);
      switch (search.run()) {
        case FOUND -> orders.put(part.getKey(), search.order());
        case IMPOSSIBLE -> {
          return explain(model, part.getKey(), part.getValue(), stepsMax);
        }
        case GAVE_UP -> {
          return new Verdict.Undecided<>(part.getKey(), part.getValue().size(), stepsMax);
        }
      }
    }
    return new Verdict.Linearizable<>(orders);
  }

  /// Throws unless the history is linearizable, within [#STEPS_MAX] steps per part.
  ///
  /// @throws AssertionError with the longest prefix that is linearizable and the operation that
  ///   cannot be placed after it, or saying that the steps did not suffice
  public static <S, I, O> void require(Model<S, I, O> model, CallHistory<I, O> history) {
    var verdict = check(model, history);
    if (!(verdict instanceof Verdict.Linearizable)) throw new AssertionError(verdict.toString());
  }

  private static <S, I, O> Verdict<S, I, O> explain(
      Model<S, I, O> model, Object part, List<Operation<I, O>> operations, long stepsMax) {
    var ends = operations.stream().filter(Operation::certain).mapToLong(Operation::over);
    long[] returns = ends.sorted().toArray();
    // Before the first return any history is linearizable; with the last one this one is not.
    int good = -1;
    int bad = returns.length - 1;
    while (bad - good > 1) {
      int middle = (good + bad) >>> 1;
      var search = new Search<>(model, seenAt(operations, returns[middle]), stepsMax);
      switch (search.run()) {
        case FOUND -> good = middle;
        case IMPOSSIBLE -> bad = middle;
        case GAVE_UP -> {
          return new Verdict.Undecided<>(part, operations.size(), stepsMax);
        }
      }
    }
    long seen = good < 0 ? -1 : returns[good];
    var prefix = new Search<>(model, seenAt(operations, seen), stepsMax);
    prefix.run();
    long moment = returns[bad];
    Optional<Operation<I, O>> culprit =
        operations.stream().filter(operation -> operation.over() == moment).findFirst();
    List<Operation<I, O>> underWay =
        seenAt(operations, moment).stream()
            .filter(operation -> !operation.certain() && operation.over() >= moment)
            .toList();
    return new Verdict.NotLinearizable<>(
        part, prefix.order(), prefix.state(), culprit.orElseThrow(), underWay);
  }

  private static <I, O> List<Operation<I, O>> seenAt(List<Operation<I, O>> all, long moment) {
    return all.stream()
        .filter(operation -> operation.began() <= moment)
        .map(operation -> operation.seenAt(moment))
        .toList();
  }
}
