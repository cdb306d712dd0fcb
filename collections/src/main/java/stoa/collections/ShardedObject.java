package stoa.collections;

import stoa.Accessor;
import stoa.Shared;

/// The base object of a [stoa.ShardedMap]: it keeps the number of children.
@Shared(name = "stoa.ShardedMap")
class ShardedObject {
  private int shards;

  protected ShardedObject() {}

  /// The number of children, 0 before [#begin].
  @Accessor
  int shards() {
    return shards;
  }

  /// Fixes the number, when it is not yet.
  ///
  /// @return the number
  int begin(int wanted) {
    if (shards == 0) shards = wanted;
    return shards;
  }
}
