package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import stoa.Limits;
import stoa.StoaConfig;

class GroupMemoryTest {
  private static final long MEBIBYTE = 1 << 20;

  private static long states(int groups) {
    Limits limits = Limits.standard().withResidentBytesMax(64 * MEBIBYTE);
    StoaConfig whole = StoaConfig.of("memory:").withLimits(limits);
    return GroupMemory.share(whole, groups).limits().residentBytesMax();
  }

  @Test
  void allGroupsTogetherHaveTheStatesOfFourAtMost() {
    assertEquals(64 * MEBIBYTE, states(1));
    assertEquals(64 * MEBIBYTE, states(4));
    assertEquals(32 * MEBIBYTE, states(8));
    assertEquals(4 * MEBIBYTE, states(64));
  }

  @Test
  void moreGroupsThanFitAreRefusedWithTheRemedy() {
    GroupMemory.require(8, 1);
    GroupMemory.require(64, 8192 * MEBIBYTE);
    GroupMemory.require(19, 2048 * MEBIBYTE);
    var refused =
        assertThrows(
            IllegalArgumentException.class, () -> GroupMemory.require(20, 2048 * MEBIBYTE));
    assertEquals(
        "20 groups need a heap of 2134 MiB, and that of this process has 2048; give it more with"
            + " -Xmx, or begin with up to 19 groups",
        refused.getMessage());
    GroupMemory.require(20, 2134 * MEBIBYTE);
  }
}
