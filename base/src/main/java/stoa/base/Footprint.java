package stoa.base;

/// The part of a key's state on which a put or a question works, and whether the put commutes.
/// Transactions conflict over it.
///
/// @param keyed whether it works on one part only
/// @param part the number of that part: two parts may have the same number, and one part never has
///   two
/// @param commuting whether it tells its caller nothing, so that others like it may come in between
/// @param code the number of the code that said so: when other code executes the put, it works on
///   everything
public record Footprint(boolean keyed, int part, boolean commuting, int code) {
  /// The whole state.
  public static final Footprint ALL = new Footprint(false, 0, false, 0);

  /// Returns the footprint of a put that commutes and may change the whole state.
  public static Footprint commutingAll(int code) {
    return new Footprint(false, 0, true, code);
  }

  /// Returns whether it works on the whole state, and does not commute.
  public boolean isAll() {
    return !keyed && !commuting;
  }

  /// Returns the same according to the code of a number.
  public Footprint by(int number) {
    return number == code || isAll() ? this : new Footprint(keyed, part, commuting, number);
  }

  /// Returns what remains of it when the code of a number executes the put.
  public Footprint in(int number) {
    return number == code ? this : ALL;
  }
}
