package stoa.objects;

/// Which code executes what is put on the objects of one type now. [LocalService] writes it,
/// anybody reads it.
final class ActiveCode {
  /// The code at one time.
  ///
  /// @param number its number in puts, 0 when the type's classes are in no version
  /// @param type the first face of the type in it
  /// @param settled whether all that the dictionary knows was looked at
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

  /// Has the next caller of [LocalService#active] look at the dictionary again.
  void unsettle() {
    Now known = now;
    now = new Now(known.number(), known.type(), false);
  }
}
