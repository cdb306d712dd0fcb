package stoa.migration;

import stoa.Unavailable;

/// Counts the vain attempts of an action, and ends them at a limit. One thread uses it.
final class Tries {
  static final int TRIES_MAX = 1_000;

  private final Object what;
  private int tries;

  /// Creates a counter.
  ///
  /// @param what the object of the action
  Tries(Object what) {
    this.what = what;
  }

  /// Records a vain attempt.
  ///
  /// @param why the reason
  /// @throws Unavailable at the limit
  void failed(String why) {
    if (++tries < TRIES_MAX) return;
    throw new Unavailable(
        "a call on "
            + what
            + " was begun "
            + tries
            + " times, and each time "
            + why
            + "; it has not happened, look at the connections between the members and call again");
  }
}
