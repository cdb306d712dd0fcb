package stoa.collections;

import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Shared;

/// The base object of a [stoa.ShardedMap]: it keeps the number of children.
@Shared(name = "stoa.ShardedMap")
class ShardedObject {
  private int shards;

  // The names of the classes with which it began; null when they are unknown.
  private @Nullable String classes;

  protected ShardedObject() {}

  /// Returns the number of children, 0 before [#begin].
  @Accessor
  int shards() {
    return shards;
  }

  /// Returns the names of the classes with which it began; null when they are unknown.
  @Accessor
  @Nullable String classes() {
    return classes;
  }

  /// Fixes the number and the classes, unless they are fixed.
  ///
  /// @return the number
  int begin(int wanted, String wantedClasses) {
    if (shards == 0) classes = wantedClasses;
    return begin(wanted);
  }

  /// Fixes the number, unless it is fixed.
  ///
  /// @return the number
  int begin(int wanted) {
    if (shards == 0) shards = wanted;
    return shards;
  }
}
