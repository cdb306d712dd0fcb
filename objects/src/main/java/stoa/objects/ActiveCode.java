package stoa.objects;

/// The code that executes new puts on the objects of one type. [Catalog] writes it, any thread
/// reads it.
final class ActiveCode {
  /// The code at one time.
  ///
  /// @param number its number in puts, 0 when the type's classes are in no version
  /// @param type the first face of the type in it
  /// @param settled whether the store has examined all names that the dictionary knows
  record Now(int number, ObjectType type, boolean settled) {}

  private volatile Now now;

  ActiveCode(Now now) {
    this.now = now;
  }

  Now now() {
    return now;
  }

  void become(Now next) {
    now = next;
  }

  /// Makes the next caller of [Catalog#active] examine the dictionary again.
  void unsettle() {
    Now known = now;
    now = new Now(known.number(), known.type(), false);
  }
}
