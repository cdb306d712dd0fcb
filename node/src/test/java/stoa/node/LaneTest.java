package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class LaneTest {
  private final ArrayDeque<Runnable> executor = new ArrayDeque<>();
  private final Lane lane = new Lane(executor::add);
  private final List<String> done = new ArrayList<>();

  @Test
  void runsQuickTasksAtOnceWhileNothingSlowIsAhead() {
    lane.quick(() -> done.add("a"));
    assertEquals(List.of("a"), done);
  }

  @Test
  void keepsTheOrderBehindASlowTask() {
    lane.slow(() -> done.add("slow"));
    lane.quick(() -> done.add("quick"));
    lane.slow(() -> done.add("last"));
    assertEquals(List.of(), done);
    assertEquals(1, executor.size());
    executor.remove().run();
    assertEquals(List.of("slow", "quick", "last"), done);
    lane.quick(() -> done.add("again"));
    assertEquals("again", done.getLast());
  }

  @Test
  void takesTasksThatATaskBrings() {
    lane.slow(() -> lane.slow(() -> done.add("inner")));
    executor.remove().run();
    assertEquals(List.of("inner"), done);
  }
}
