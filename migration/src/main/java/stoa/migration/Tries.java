package stoa.migration;

import stoa.Unavailable;

/// Counts how often something was tried that has not happened, and ends that. One thread uses it.
final class Tries {
  static final int TRIES_MAX = 1_000;

  private final Object what;
  private int tries;

  /// @param what it is tried on
  Tries(Object what) {
    this.what = what;
  }

  /// It has not happened this time.
  ///
  /// @param why what came between
  /// @throws Unavailable when it was tried often enough
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
