package stoa.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.base.StreamId;

class SlotMapTest {
  @Test
  void eachGroupHasItsShareOfTheShards() {
    for (int groups = 1; groups <= SlotMap.GROUPS_MAX; groups++) {
      var map = SlotMap.of(groups);
      assertEquals(groups, map.groups());
      double share = (double) SlotMap.SLOTS / groups;
      for (int group = 0; group < groups; group++) {
        int has = Collections.frequency(map.owners(), group);
        assertTrue(has > share * 0.7 && has < share * 1.3, group + " of " + groups + ": " + has);
        if (groups < 16) continue;
        assertTrue(has > share - 1 && has < share + 1, group + " of " + groups + ": " + has);
      }
    }
  }

  @Test
  void oneGroupMoreTakesShardsAndNoOtherMoves() {
    for (int groups = 1; groups < SlotMap.GROUPS_MAX; groups++) {
      List<Integer> before = SlotMap.of(groups).owners();
      List<Integer> after = SlotMap.of(groups + 1).owners();
      for (int slot = 0; slot < SlotMap.SLOTS; slot++) {
        int owner = after.get(slot);
        assertTrue(owner == before.get(slot) || owner == groups, slot + " moved to " + owner);
      }
    }
  }

  @Test
  void whatClientsAndServersComputeDoesNotChangeWithVersions() {
    var map = SlotMap.of(4);
    assertEquals(-1237606758, map.owners().hashCode());
    assertEquals(map, SlotMap.of(4));
    assertEquals(718589640, SlotMap.of(8).owners().hashCode());
    assertEquals(62180999, SlotMap.of(64).owners().hashCode());
  }

  @Test
  void allShardsHaveStreams() {
    var map = SlotMap.of(4);
    var slots = new HashSet<Integer>();
    for (int i = 0; i < 10_000; i++) {
      var stream = StreamId.of("stream " + i);
      slots.add(map.slot(stream));
      assertEquals(map.owners().get(map.slot(stream)), map.group(stream));
    }
    assertEquals(SlotMap.SLOTS, slots.size());
  }

  @Test
  void thereAreOneTo64Groups() {
    assertThrows(IllegalArgumentException.class, () -> SlotMap.of(0));
    assertThrows(IllegalArgumentException.class, () -> SlotMap.of(65));
  }
}
