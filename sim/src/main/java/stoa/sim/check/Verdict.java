package stoa.sim.check;

import java.util.List;
import java.util.Map;

/// The result of [Linearizability] for a history.
///
/// @param <S> the states of the model
/// @param <I> the input of a call
/// @param <O> the answer of a call
public sealed interface Verdict<S, I, O> {

  /// There is an order of the calls that explains every answer.
  ///
  /// @param orders for each part of the model, the calls that took effect, in such an order
  record Linearizable<S, I, O>(Map<Object, List<Operation<I, O>>> orders)
      implements Verdict<S, I, O> {
    @Override
    public String toString() {
      return "linearizable";
    }
  }

  /// No order of the calls explains every answer.
  ///
  /// @param part the part of the model where this shows
  /// @param prefix an order for all events before `culprit` returned
  /// @param state the model's state after that order
  /// @param culprit the first call, by the time of its return, whose answer no order explains
  /// @param underWay calls that had begun when it returned and had not ended
  record NotLinearizable<S, I, O>(
      Object part,
      List<Operation<I, O>> prefix,
      S state,
      Operation<I, O> culprit,
      List<Operation<I, O>> underWay)
      implements Verdict<S, I, O> {
    // The most operations of the prefix, counted from its end, in the report.
    private static final int SHOWN_MAX = 20;

    @Override
    public String toString() {
      var text = new StringBuilder();
      text.append("not linearizable, in ").append(part).append(":\n");
      text.append("  what was seen before it is explained by this order");
      int from = Math.max(0, prefix.size() - SHOWN_MAX);
      if (from > 0) text.append(" (the first ").append(from).append(" left out)");
      text.append('\n');
      for (int i = from; i < prefix.size(); i++) {
        text.append("    ").append(i + 1).append(". ").append(interval(prefix.get(i))).append('\n');
      }
      text.append("    which ends in the state ").append(state).append('\n');
      text.append("  then no order explains\n    ").append(interval(culprit)).append('\n');
      for (var operation : underWay) {
        text.append("  while under way\n    ").append(interval(operation)).append('\n');
      }
      return text.toString();
    }

    private static String interval(Operation<?, ?> operation) {
      String over = operation.over() == Long.MAX_VALUE ? "" : Long.toString(operation.over());
      return operation + "   [events " + operation.began() + ".." + over + "]";
    }
  }

  /// The search ended without an answer. Make histories shorter, less concurrent or the model's
  /// parts smaller; a check that gives up has checked nothing.
  ///
  /// @param part the part of the model that was under search
  /// @param operations how many calls it has
  /// @param stepsMax the steps that were allowed
  record Undecided<S, I, O>(Object part, int operations, long stepsMax)
      implements Verdict<S, I, O> {
    @Override
    public String toString() {
      return "undecided, in %s: %d operations were not decided within %d steps"
          .formatted(part, operations, stepsMax);
    }
  }
}
