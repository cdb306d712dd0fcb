package stoa.store.calls;

import java.util.List;
import stoa.base.Answer;

/// A question to a handler: the first of some waiting puts that would not wait now.
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
  /// @param index of the put; the number of the puts when all of them would wait
  /// @param isTimed whether a put before it waits for a condition that depends on the time
  /// @param isHeld whether no put behind the given ones may go on before them
  /// @param more how many puts right behind it would not wait either, each after those in front of
  ///   it; without those that must not be overtaken
  public record First(int index, boolean isTimed, boolean isHeld, int more) implements Answer {
    @Override
    public byte[] encoded() {
      throw new IllegalStateException("no log has this answer");
    }
  }
}
