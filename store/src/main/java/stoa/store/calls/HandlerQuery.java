package stoa.store.calls;

import stoa.base.Footprint;

/// A question to a handler that the store can distinguish from others.
public interface HandlerQuery {
  /// Returns a number for the question, the same in every process. Two questions may have the same
  /// number. The store does not note that a question with the number 0 runs, see
  /// [stoa.storage.RunningCalls].
  int number();

  /// Returns the part of the state on which its answer depends. Only transactions ask.
  default Footprint footprint() {
    return Footprint.ALL;
  }

  /// Returns how long it is expected to run when a handler asks it.
  default Pace pace() {
    return Pace.LONG;
  }
}
