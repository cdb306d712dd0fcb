package stoa.migration.core;

/// For how long a node may take it that nobody else is the root, and nobody else has what it has.
/// Thread-safe.
///
/// The process of the root asks the store again and again whether it is still the one. It is the
/// root for some time from when it asked last, which is its mandate, and the next root gives
/// nothing out for as long. Who is below learns from the one above how old the mandate is, measured
/// from a moment of its own clock which that one has echoed: so nobody's clocks are compared, and
/// what an echo takes makes the mandate older, never younger.
public final class Mandate {
  /// How long a root is the root, from when it asked, in nanoseconds.
  public static final long LENGTH_NANOS = 1_000_000_000;

  /// The age of none.
  public static final long NONE = Long.MAX_VALUE;

  private final long length;
  private boolean given;
  private long confirmed;

  /// @param length how long it holds, in whatever the clock counts
  public Mandate(long length) {
    this.length = length;
  }

  /// The store has said so.
  ///
  /// @param asked the clock before it was asked
  public synchronized void confirmed(long asked) {
    if (given && asked - confirmed <= 0) return;
    given = true;
    confirmed = asked;
  }

  /// The node above has said how old it is.
  ///
  /// @param echo a moment of this clock, before that one heard of it
  /// @param age how old the mandate was when it did; [#NONE] when it has none
  public void heard(long echo, long age) {
    if (age != NONE) confirmed(echo - age);
  }

  /// How old it was at some moment, below 0 when it was given later; [#NONE] when it never was.
  public synchronized long age(long at) {
    return given ? at - confirmed : NONE;
  }

  /// Whether it holds now.
  public synchronized boolean holds(long now) {
    return given && now - confirmed < length;
  }
}
