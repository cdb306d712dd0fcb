package stoa.store.calls;

import stoa.Deadlock;
import stoa.base.Key;

/// The other stores with the same order, whose keys the handlers of this store call. They receive
/// the calls at [Store#visit], [Store#follow] and [Store#refuse]. Thread-safe.
///
/// A request may arrive late, twice, or at a server that no longer leads the store.
public interface Neighbors {
  /// Thrown when a visit cannot be sent and was not. The reason is its answer, the same at every
  /// attempt.
  final class NotAsked extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final RuntimeException why;

    /// @param why the answer to the handler that calls
    public NotAsked(RuntimeException why) {
      super(why.getMessage(), why, false, false);
      this.why = why;
    }

    /// Returns the answer to the handler that calls.
    public RuntimeException why() {
      return why;
    }
  }

  /// The time with which [#visit] waits only briefly, or until the visit itself waits for another
  /// store.
  int UNTIL_IT_WAITS = 0;

  /// Returns whether one of these stores has a key.
  boolean have(Key key);

  /// Begins a visit, or asks again for its outcome. The other store waits for a while before it
  /// replies.
  ///
  /// @param ticks how long the other store waits, in units of [Threads#TICK_MILLIS], or
  ///   [#UNTIL_IT_WAITS]
  /// @throws NotAsked when the visit cannot be sent; its reason is the answer
  /// @throws RuntimeException when the other store does not answer: the visit may have begun
  Visit.Reply visit(Visit visit, int ticks);

  /// Returns the next call in the wait chain of a visit, in the store of its target; used to find
  /// deadlocks.
  ///
  /// @throws stoa.Unavailable when the other store does not answer
  Visit.NextWait follow(Key target, Visit.Id id);

  /// Refuses a call in the wait chain of a visit, if that call still waits for its turn.
  ///
  /// @param waits the call, see [Visit.NextWait]
  /// @param why names the circle
  /// @throws stoa.Unavailable when the other store does not answer
  void refuse(Key target, Visit.Id id, long waits, Deadlock why);
}
