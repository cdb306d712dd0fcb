package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class FieldCommentsTest {
  @Test
  void acceptsLocksOwnersAndUnitsBehindAField() {
    assertEquals(
        List.of(),
        FieldComments.broken(
            """
            class A {
              private int a; // guarded by lock
              private long b = f(1); // of the thread that reads
              private final long[] c; // bytes
              private static final int MASK = 7; // three bits
              // What it was before.
              private int d;
            }
            """));
  }

  @Test
  void findsAnotherComment() {
    assertEquals(
        List.of("what it was before", "null: all of them"),
        FieldComments.broken(
            """
            class A {
              private int a; // what it was before
              private final Map<String, List<Long>> b = new TreeMap<>(); // null: all of them
            }
            """));
  }

  @Test
  void findsJavadocAboveAField() {
    assertEquals(
        List.of("/// The most of them.", "/// It is taken."),
        FieldComments.broken(
            """
            class A {
              /// The most of them.
              private static final List<String> MAX =
                  List.of();
              /// It is taken.
              private boolean taken;
              /// Returns it.
              private boolean isTaken() {
                return taken;
              }
              /// What it sees.
              int seen;
            }
            """));
  }
}
