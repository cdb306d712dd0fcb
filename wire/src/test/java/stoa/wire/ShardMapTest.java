package stoa.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;

class ShardMapTest {
  @Test
  void eachGroupHasItsShareOfTheShards() {
    for (int groups = 1; groups <= ShardMap.GROUPS_MAX; groups++) {
      var map = ShardMap.of(groups);
      assertEquals(groups, map.groups());
      double share = (double) ShardMap.SHARDS / groups;
      for (int group = 0; group < groups; group++) {
        int has = Collections.frequency(map.owners(), group);
        assertTrue(has > share * 0.7 && has < share * 1.3, group + " of " + groups + ": " + has);
      }
    }
  }

  @Test
  void oneGroupMoreTakesShardsAndNoOtherMoves() {
    for (int groups = 1; groups < ShardMap.GROUPS_MAX; groups++) {
      List<Integer> before = ShardMap.of(groups).owners();
      List<Integer> after = ShardMap.of(groups + 1).owners();
      for (int shard = 0; shard < ShardMap.SHARDS; shard++) {
        int owner = after.get(shard);
        assertTrue(owner == before.get(shard) || owner == groups, shard + " moved to " + owner);
      }
    }
  }

  @Test
  void whatClientsAndServersComputeDoesNotChangeWithVersions() {
    var map = ShardMap.of(4);
    assertEquals(-1237606758, map.owners().hashCode());
    assertEquals(map, ShardMap.of(4));
  }

  @Test
  void allShardsHaveStreams() {
    var map = ShardMap.of(4);
    var shards = new HashSet<Integer>();
    for (int i = 0; i < 10_000; i++) {
      var stream = StreamId.of("stream " + i);
      shards.add(map.shard(stream));
      assertEquals(map.owners().get(map.shard(stream)), map.group(stream));
    }
    assertEquals(ShardMap.SHARDS, shards.size());
  }

  @Test
  void thereAreOneToEightGroups() {
    assertThrows(IllegalArgumentException.class, () -> ShardMap.of(0));
    assertThrows(IllegalArgumentException.class, () -> ShardMap.of(9));
  }
}
