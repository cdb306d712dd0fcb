package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class ProbesTest {
  private final ArrayDeque<Runnable> stuck = new ArrayDeque<>();

  @Test
  void threadsThatTakeTasksAreNeverSilent() {
    var probes = new Probes(List.of(Runnable::run, Runnable::run));
    for (int second = 0; second < 100; second++) assertEquals(0, probes.silentNanos(second));
  }

  @Test
  void oneThreadThatTakesTasksIsEnough() {
    var probes = new Probes(List.of(stuck::add, Runnable::run));
    for (int second = 0; second < 100; second++) assertEquals(0, probes.silentNanos(second));
    assertEquals(1, stuck.size());
  }

  @Test
  void theyAreSilentSinceTheLastOfThemTookNothing() {
    var probes = new Probes(List.of(stuck::add, stuck::add));
    assertEquals(0, probes.silentNanos(10));
    assertEquals(5, probes.silentNanos(15));
    stuck.removeLast().run();
    assertEquals(0, probes.silentNanos(16));
    assertEquals(4, probes.silentNanos(20));
    assertEquals(2, stuck.size());
  }

  @Test
  void threadsThatAreClosedAreNotSilent() {
    var probes =
        new Probes(
            List.of(_ -> {
              throw new RejectedExecutionException();
            }));
    for (int second = 0; second < 100; second++) assertEquals(0, probes.silentNanos(second));
  }
}
