package stoa.cluster;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.wire.SlotMap;

/// The properties of a store that all its servers know. Immutable.
///
/// @param store its id, drawn at random; permanent
/// @param groups how many groups keep it; permanent
/// @param replicas how many servers should execute the calls of each group; an operator changes it
record StoreProperties(long store, int groups, int replicas) {
  private static final int MEMBERS_MIN = 3;
  private static final List<Integer> REPLICAS = List.of(1, 2, 3, 5);

  StoreProperties {
    if (groups < 1 || groups > SlotMap.GROUPS_MAX) {
      throw new IllegalArgumentException(
          groups + " groups; a store has 1 to " + SlotMap.GROUPS_MAX + " of them");
    }
    if (!REPLICAS.contains(replicas)) {
      throw new IllegalArgumentException(
          replicas + " replicas; a group has 1, 2, 3 or 5, each on a server of its own");
    }
  }

  /// Returns these with another number of replicas.
  StoreProperties withReplicas(int number) {
    return new StoreProperties(store, groups, number);
  }

  /// Returns whether both are of one store.
  boolean isOfStoreOf(StoreProperties other) {
    return store == other.store && groups == other.groups;
  }

  /// Returns how many servers keep the log of a group. One or two could not go on without one of
  /// them, so log units fill up the number.
  int members() {
    return Math.max(MEMBERS_MIN, replicas);
  }

  /// Returns whether a member of a group executes; others are log units. The leader executes, and
  /// the others with the greatest weight.
  ///
  /// @param members all of the group
  /// @param leader null when it is unknown: then no member has its place
  boolean executes(String member, int group, List<String> members, @Nullable String leader) {
    if (member.equals(leader)) return true;
    List<String> others = members.stream().filter(other -> !other.equals(leader)).toList();
    return ReplicaPlan.heavier(member, group, others) < replicas - 1;
  }

  /// Returns the map of groups.
  SlotMap map() {
    return SlotMap.of(groups);
  }
}
