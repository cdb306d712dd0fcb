package stoa.sim.check;

/// One call of a [CallHistory], from its beginning to its end.
///
/// Immutable.
///
/// @param call its number in the history
/// @param client the caller
/// @param input the method and arguments
/// @param end how it ended
/// @param began the index of the event with which it began
/// @param over the index of the event after which it takes no effect; [Long#MAX_VALUE] for a
///   pending call
/// @param <I> the input of a call
/// @param <O> the answer of a call
public record Operation<I, O>(int call, String client, I input, End<O> end, long began, long over) {

  /// How a call ended, as its client saw it.
  ///
  /// @param <O> the answer of a call
  public sealed interface End<O> {}

  /// It answered; so it took effect, exactly once, before that.
  ///
  /// @param output the answer
  public record Answered<O>(O output) implements End<O> {}

  /// No client saw the answer, and it is over: it took effect before its end, or never.
  public record Unseen<O>() implements End<O> {}

  /// No client has seen an answer yet: it took effect, or will, or never does.
  public record Pending<O>() implements End<O> {}

  /// Returns whether it must have taken effect.
  public boolean certain() {
    return end instanceof Answered;
  }

  Operation<I, O> ended(End<O> how, long at) {
    return new Operation<>(call, client, input, how, began, at);
  }

  /// Returns this operation as an observer of the events up to `at` sees it.
  Operation<I, O> seenAt(long at) {
    return over <= at ? this : ended(new Pending<>(), Long.MAX_VALUE);
  }

  @Override
  public String toString() {
    String answer =
        switch (end) {
          case Answered<O>(O output) -> " → " + output;
          case Unseen<O> _ -> " → lost";
          case Pending<O> _ -> " → pending";
        };
    return client + ": " + input + answer;
  }
}
