package stoa.store.calls;

import stoa.Deadlock;
import stoa.base.Key;

/// The other stores with the same order, as the handlers of one store call their keys: the way
/// there. Their ends are [Store#visit], [Store#follow] and [Store#refuse]. Thread-safe.
///
/// A request may arrive late, twice, or at a server that does not lead the store any more.
public interface Neighbors {
  /// A visit cannot be asked, and was not: why is its answer, the same whenever it is tried.
  final class NotAsked extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final RuntimeException why;

    /// @param why what the handler that calls is told
    public NotAsked(RuntimeException why) {
      super(why.getMessage(), why, false, false);
      this.why = why;
    }

    /// What the handler that calls is told.
    public RuntimeException why() {
      return why;
    }
  }

  /// Of [#visit]: to wait only until the visit itself waits for one to another store, or briefly.
  int UNTIL_IT_WAITS = 0;

  /// Whether one of them has a key.
  boolean have(Key key);

  /// Begins a visit, or asks again what has become of it. Waits for a while at the other end.
  ///
  /// @param ticks how long to wait there, in units of [Threads#TICK_MILLIS], or [#UNTIL_IT_WAITS]
  /// @throws NotAsked when it cannot be asked, which is its answer
  /// @throws RuntimeException when the other store does not answer: the visit may have begun
  Visit.Said visit(Visit visit, int ticks);

  /// The next call in the wait chain of a visit, in the store of its target; used to find
  /// deadlocks.
  ///
  /// @throws stoa.Unavailable when the other store does not answer
  Visit.NextWait follow(Key target, Visit.Id id);

  /// Has a call be refused which waits for its turn on the way of a visit, if it still does.
  ///
  /// @param waits the call, see [Visit.NextWait]
  /// @param why names the circle
  /// @throws stoa.Unavailable when the other store does not answer
  void refuse(Key target, Visit.Id id, long waits, Deadlock why);
}
