package stoa.cluster;

import java.util.List;
import stoa.wire.ShardMap;

/// What a store is for good, from its creation on. Immutable.
///
/// @param store its id, drawn at random
/// @param groups how many groups keep it
/// @param replicas how many servers should keep each group
/// @param spread whether what has an order with others is spread over all groups
record Settings(long store, int groups, int replicas, boolean spread) {
  private static final List<Integer> REPLICAS = List.of(1, 2, 3, 5);

  Settings {
    if (groups < 1 || groups > ShardMap.GROUPS_MAX) {
      throw new IllegalArgumentException(
          groups + " groups; a store has 1 to " + ShardMap.GROUPS_MAX + " of them");
    }
    if (!REPLICAS.contains(replicas)) {
      throw new IllegalArgumentException(
          replicas + " replicas; a group has 1, 2, 3 or 5, each on a server of its own");
    }
  }

  /// Which group has what.
  ShardMap map() {
    return ShardMap.of(groups, spread);
  }
}
