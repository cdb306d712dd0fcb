package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class SteadyMembersTest {
  private static final long LEVEL = SteadyMembers.LEVEL_FOR.toNanos();
  private static final long BETWEEN = SteadyMembers.BETWEEN_TRANSFERS.toNanos();

  private final SteadyMembers members = new SteadyMembers();

  private Set<String> among(int group, long nanos, String... level) {
    return members.among(group, new TreeSet<>(List.of(level)), nanos);
  }

  @Test
  void aMemberIsSteadyWhenEveryLookHasFoundItLevelForAWhile() {
    long begin = Long.MAX_VALUE - 5; // the clock of the JVM may pass its greatest number
    assertEquals(Set.of(), among(1, begin, "a"));
    assertEquals(Set.of(), among(1, begin + LEVEL / 2, "a", "b"));
    assertEquals(Set.of("a"), among(1, begin + LEVEL, "a", "b"));
    assertEquals(Set.of("b"), among(1, begin + 2 * LEVEL, "b"));
    // One look without it begins anew.
    assertEquals(Set.of("b"), among(1, begin + 2 * LEVEL + 1, "a", "b"));
    assertEquals(Set.of("b"), among(1, begin + 3 * LEVEL, "a", "b"));
    assertEquals(Set.of("a", "b"), among(1, begin + 3 * LEVEL + 1, "a", "b"));
    // Groups have nothing to do with each other.
    assertEquals(Set.of(), among(2, begin + 4 * LEVEL, "a"));
  }

  @Test
  void noMemberIsSteadySoonAfterATransfer() {
    assertEquals(Set.of(), among(1, 0, "a"));
    assertEquals(Set.of("a"), among(1, LEVEL, "a"));
    members.transfers(1, LEVEL);
    assertEquals(Set.of(), among(1, LEVEL + BETWEEN - 1, "a"));
    assertEquals(Set.of("a"), among(1, LEVEL + BETWEEN, "a"));
  }
}
