package stoa.sinks;

import java.util.HashMap;
import java.util.Map;
import stoa.Change;

/// Counts the changes of a transaction in the order in which a sink writes them. One thread uses
/// it.
final class Order {
  /// The place of a change in its transaction.
  ///
  /// @param all which one it is of all changes, from 1
  /// @param ofType which one it is of those of its type, from 1
  /// @param size how many changes there are; 0 while more present objects follow
  record Place(long all, long ofType, long size) {
    /// Returns the same place with more changes behind it.
    Place open() {
      return new Place(all, ofType, 0);
    }
  }

  // By the name of the type, in JSON.
  private final Map<String, Long> ofTypes = new HashMap<>();
  private long all;

  /// Begins with the next transaction.
  void begin() {
    ofTypes.clear();
    all = 0;
  }

  /// Returns how many changes it has counted.
  long count() {
    return all;
  }

  /// Counts a change.
  ///
  /// @param type the name of the object's type, in JSON
  /// @param size see [Place]
  Place next(String type, long size) {
    return new Place(++all, ofTypes.merge(type, 1L, Long::sum), size);
  }

  /// Counts a change of a transaction.
  Place next(Change<?> change, long size) {
    return next(Json.text(change.at().object().type()), size);
  }
}
