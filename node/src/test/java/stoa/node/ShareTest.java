package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ShareTest {
  private final ArrayDeque<Runnable> threads = new ArrayDeque<>();
  private final List<String> done = new ArrayList<>();

  @Test
  void aSessionWithManyTasksLeavesRoomForOthers() {
    var greedy = new Share(threads::add, 2);
    var modest = new Share(threads::add, 2);
    for (int i = 1; i <= 4; i++) {
      int number = i;
      greedy.execute(() -> done.add("greedy " + number));
    }
    modest.execute(() -> done.add("modest"));
    assertEquals(3, threads.size());
    while (!threads.isEmpty()) threads.poll().run();
    assertEquals(List.of("greedy 1", "greedy 2", "modest", "greedy 3", "greedy 4"), done);
  }

  @Test
  void aTaskThatFailsGivesItsPlaceToTheNext() {
    var share = new Share(threads::add, 1);
    share.execute(() -> {
      throw new IllegalStateException("it failed");
    });
    share.execute(() -> done.add("next"));
    assertThrows(IllegalStateException.class, () -> threads.remove().run());
    threads.remove().run();
    share.execute(() -> done.add("last"));
    threads.remove().run();
    assertEquals(List.of("next", "last"), done);
  }
}
