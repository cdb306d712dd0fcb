package stoa.store.calls;

import java.util.List;
import stoa.base.Answer;

/// A question to a handler: the first of some waiting puts that would not wait now, and the puts
/// that would go on with it.
///
/// The answer is a [First]. The handler tries each put on a copy of its state. A put that it cannot
/// try counts as one that would not wait: its execution shows what it does.
///
/// @param puts the values of the puts, in the order in which they are tried
public record Unblocked(List<byte[]> puts) implements HandlerQuery {
  @Override
  public int number() {
    return 0;
  }

  /// The answer.
  ///
  /// @param released the places of the puts that go on together, in the order in which they do,
  ///   from 0; empty when all of the puts would wait. The first one is the first put that would not
  ///   wait. It is followed by those right behind it that would not wait after it, without those
  ///   that must not be overtaken; or, when the puts before it wait, by the front one, if that
  ///   would not wait after it
  /// @param isTimed whether a put before it waits for a condition that depends on the time
  /// @param isHeld whether no put behind the given ones may go on before them
  public record First(List<Integer> released, boolean isTimed, boolean isHeld) implements Answer {
    @Override
    public byte[] encoded() {
      throw new IllegalStateException("no log has this answer");
    }
  }
}
