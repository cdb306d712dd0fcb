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
  void whatATaskGoesOnWithIsDoneBeforeWhatWaits() {
    lane.quick(() -> lane.goOn(() -> done.add("first")));
    lane.quick(() -> lane.goOn(() -> done.add("second")));
    lane.quick(() -> done.add("third"));
    assertEquals(1, executor.size());
    executor.remove().run();
    assertEquals(List.of("first", "second", "third"), done);
  }

  @Test
  void aQuickTaskOfAThingWaitsForTheSlowOnesOfThatThingOnly() {
    var lanes = new Lanes<String>(executor::add);
    lanes.quick("x", () -> done.add("x1"));
    lanes.slow("x", () -> done.add("x2"));
    lanes.quick("x", () -> done.add("x3"));
    lanes.quick("y", () -> done.add("y1"));
    assertEquals(List.of("x1", "y1"), done);
    executor.remove().run();
    assertEquals(List.of("x1", "y1", "x2", "x3"), done);
    assertEquals(0, lanes.size());
  }

  @Test
  void keepsALaneForEachThingWhileItHasTasks() {
    var lanes = new Lanes<String>(executor::add);
    lanes.slow("x", () -> done.add("x1"));
    lanes.slow("y", () -> done.add("y1"));
    lanes.slow("x", () -> done.add("x2"));
    assertEquals(2, lanes.size());
    executor.removeLast().run();
    assertEquals(List.of("y1"), done);
    assertEquals(1, lanes.size());
    executor.remove().run();
    assertEquals(List.of("y1", "x1", "x2"), done);
    assertEquals(0, lanes.size());
    lanes.slow("x", () -> done.add("x3"));
    executor.remove().run();
    assertEquals("x3", done.getLast());
  }

  @Test
  void takesTasksThatATaskBrings() {
    lane.slow(() -> lane.slow(() -> done.add("inner")));
    executor.remove().run();
    assertEquals(List.of("inner"), done);
  }
}
