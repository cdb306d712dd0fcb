package stoa.migration.core;

/// How long a node may assume that no other node is the root, and that no other node has the
/// objects that it has. Thread-safe.
///
/// The process of the root asks the store again and again whether it still leads. It is the root
/// for some time from the last question on, which is its mandate, and the next root gives nothing
/// out for as long. A node learns from the node above how old the mandate is, measured from a
/// moment of its own clock which that node has echoed. So no clocks are compared, and the delay of
/// an echo makes the mandate older, never younger.
public final class Mandate {
  /// How long a root is the root, from its question on, in nanoseconds.
  public static final long LENGTH_NANOS = 1_000_000_000;

  /// The age of no mandate.
  public static final long NONE = Long.MAX_VALUE;

  private final long length;
  private boolean given;
  private long confirmed;

  /// Creates a mandate.
  ///
  /// @param length how long it holds, in units of the clock
  public Mandate(long length) {
    this.length = length;
  }

  /// Records that the store has confirmed it.
  ///
  /// @param asked the clock before the question
  public synchronized void confirmed(long asked) {
    if (given && asked - confirmed <= 0) return;
    given = true;
    confirmed = asked;
  }

  /// Records its age at the node above.
  ///
  /// @param echo a moment of this clock, before that node heard of it
  /// @param age how old the mandate was then; [#NONE] when there is none
  public void heard(long echo, long age) {
    if (age != NONE) confirmed(echo - age);
  }

  /// Returns how old it was at some moment, below 0 when it was given later; [#NONE] when there is
  /// none.
  public synchronized long age(long at) {
    return given ? at - confirmed : NONE;
  }

  /// Returns whether it holds now.
  public synchronized boolean holds(long now) {
    return given && now - confirmed < length;
  }
}
