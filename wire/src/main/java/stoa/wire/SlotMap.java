package stoa.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import stoa.base.StreamId;

/// The group of each stream: a stream's id determines its slot, and each slot is in one group.
/// Immutable.
///
/// Every process that knows the number of groups computes the same map. With one group more, a
/// share of all slots moves to the new group, and no other slot moves.
///
/// The first 8 groups share the slots by weight: a slot is in the group with the greatest weight
/// for it (rendezvous hashing). The shares of many groups would differ too much that way: of 64
/// groups, some would have 10 slots, and others none. So each group after the first 8 takes its
/// share of all slots, one at a time, from the group that has the most.
///
/// @param owners the group of each slot
public record SlotMap(List<Integer> owners) {
  /// The number of slots.
  public static final int SLOTS = 256;

  /// The most groups of a store: each has at least 4 slots.
  public static final int GROUPS_MAX = 64;

  // How many groups share the slots by weight. Earlier versions had no more groups, and the slots
  // of
  // their stores must stay.
  private static final int WEIGHED_MAX = 8;

  /// The group that has what belongs to the store as a whole.
  public static final int GLOBAL_GROUP = 0;

  /// Checks the values.
  public SlotMap {
    owners = List.copyOf(owners);
    if (owners.size() != SLOTS) {
      throw new IllegalArgumentException(owners.size() + " slots; there are " + SLOTS);
    }
    owners.forEach(SlotMap::requireGroup);
  }

  /// Returns the map of a store with so many groups.
  ///
  /// @throws IllegalArgumentException when that number of groups is invalid
  public static SlotMap of(int groups) {
    if (groups < 1 || groups > GROUPS_MAX) {
      throw new IllegalArgumentException(
          groups + " groups; a store has 1 to " + GROUPS_MAX + " of them");
    }
    var owners =
        IntStream.range(0, SLOTS)
            .mapToObj(slot -> heaviest(slot, Math.min(groups, WEIGHED_MAX)))
            .collect(Collectors.toCollection(ArrayList::new));
    for (int group = WEIGHED_MAX; group < groups; group++) take(owners, group);
    return new SlotMap(owners);
  }

  /// Gives a new group its share of the slots. The group with the most slots gives each of them,
  /// namely the one with the greatest weight for the new group.
  ///
  /// @param owners the group of each slot, of which some change
  private static void take(List<Integer> owners, int group) {
    var counts = new int[group];
    for (int owner : owners) counts[owner]++;
    for (int taken = 0; taken < SLOTS / (group + 1); taken++) {
      int giver = 0;
      for (int other = 1; other < group; other++) {
        if (counts[other] > counts[giver]) giver = other;
      }
      counts[giver]--;
      owners.set(heaviestOf(giver, owners, group), group);
    }
  }

  /// Returns the slot of an owner that has the greatest weight for a group.
  private static int heaviestOf(int owner, List<Integer> owners, int group) {
    int heaviest = owners.indexOf(owner);
    for (int slot = heaviest + 1; slot < SLOTS; slot++) {
      if (owners.get(slot) != owner) continue;
      if (Long.compareUnsigned(weight(slot, group), weight(heaviest, group)) > 0) heaviest = slot;
    }
    return heaviest;
  }

  private static void requireGroup(int group) {
    if (group < 0 || group >= GROUPS_MAX) {
      throw new IllegalArgumentException(
          "group " + group + " is not among 0 to " + (GROUPS_MAX - 1));
    }
  }

  private static int heaviest(int slot, int groups) {
    int owner = 0;
    for (int group = 1; group < groups; group++) {
      if (Long.compareUnsigned(weight(slot, group), weight(slot, owner)) > 0) owner = group;
    }
    return owner;
  }

  /// Spreads the bits of both numbers over all 64, as the finisher of MurmurHash3 does.
  private static long weight(int slot, int group) {
    long bits = ((long) slot << 32 | group) + 0x9e3779b97f4a7c15L;
    bits = (bits ^ bits >>> 33) * 0xff51afd7ed558ccdL;
    bits = (bits ^ bits >>> 33) * 0xc4ceb9fe1a85ec53L;
    return bits ^ bits >>> 33;
  }

  /// Returns the slot of a stream: the first byte of its id, which is a hash.
  public int slot(StreamId stream) {
    return (int) (stream.high() >>> 56);
  }

  /// Returns the group of a stream: that of an object, or of a key of the key-value store.
  public int group(StreamId stream) {
    return owners.get(slot(stream));
  }

  /// Returns the number of groups with slots.
  public int groups() {
    return 1 + owners.stream().mapToInt(Integer::intValue).max().orElseThrow();
  }
}
