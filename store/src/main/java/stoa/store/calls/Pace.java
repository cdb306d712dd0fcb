package stoa.store.calls;

/// How long a call is expected to run.
public enum Pace {
  /// The call may run for long: workers run it.
  LONG,
  /// The call is short: a thread that waits for it may run it.
  SHORT,
  /// The call is very short and asks no other key: a thread for which others wait may run it.
  BRIEF;

  /// Returns whether a thread that waits for the call may run it.
  public boolean isShort() {
    return this != LONG;
  }

  /// Returns the pace of a call whose caller waits for it and runs it itself when it is short.
  public Pace awaited() {
    return this == LONG ? LONG : SHORT;
  }
}
