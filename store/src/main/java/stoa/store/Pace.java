package stoa.store;

/// What is known of how long a request runs.
public enum Pace {
  /// Nothing, or that it takes long: workers run it.
  LONG,
  /// It is short: a thread that waits for it may run it.
  SHORT,
  /// It is very short, and asks no other key: a thread that others wait for may run it.
  BRIEF
}
