package stoa.collections;

import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Shared;

/// The base object of a [stoa.ShardedMap]: it keeps the number of children.
@Shared(name = "stoa.ShardedMap")
class ShardedObject {
  private int shards;

  // The names of the classes that it was begun with; null when that was not told.
  private @Nullable String classes;

  protected ShardedObject() {}

  /// The number of children, 0 before [#begin].
  @Accessor
  int shards() {
    return shards;
  }

  /// The names of the classes that it was begun with; null when that was not told.
  @Accessor
  @Nullable String classes() {
    return classes;
  }

  /// Fixes the number and the classes, when they are not yet.
  ///
  /// @return the number
  int begin(int wanted, String wantedClasses) {
    if (shards == 0) classes = wantedClasses;
    return begin(wanted);
  }

  /// Fixes the number, when it is not yet.
  ///
  /// @return the number
  int begin(int wanted) {
    if (shards == 0) shards = wanted;
    return shards;
  }
}
