package stoa.base;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RepeatsTest {
  private final List<String> told = new ArrayList<>();
  private final Repeats repeats = new Repeats();

  @Test
  void aLineIsToldMoreAndMoreSeldom() {
    for (int i = 0; i < 38_446; i++) repeats.tell("it fails", told::add);
    assertEquals(
        List.of(
            "it fails",
            "it fails (repeated 10 times)",
            "it fails (repeated 100 times)",
            "it fails (repeated 1000 times)",
            "it fails (repeated 10000 times)"),
        told);
  }

  @Test
  void anotherLineIsToldAtOnce() {
    for (int i = 0; i < 5; i++) {
      repeats.tell("one", told::add);
      repeats.tell("other", told::add);
    }
    assertEquals(List.of("one", "other"), told);
  }

  @Test
  void itRemembersSoManyLinesAndNoMore() {
    for (int i = 0; i < 1_000; i++) repeats.tell("line " + i, told::add);
    repeats.tell("line 0", told::add);
    assertEquals("line 0", told.getLast());
    assertEquals(1_001, told.size());
  }
}
