package stoa.indexes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.Condition.eq;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Condition;
import stoa.Index;
import stoa.NotUnique;
import stoa.Query;
import stoa.Shared;
import stoa.Stoa;
import stoa.Unique;

/// Versions of a class with and without an index.
class LaterIndexTest {
  @Shared(name = "test.Thing")
  static class Plain {
    private String color = "white";

    @Accessor
    public String color() {
      return color;
    }

    public void paint(String with) {
      color = with;
    }
  }

  @Shared(name = "test.Thing")
  static class Indexed {
    @Index private String color = "white";

    @Accessor
    public String color() {
      return color;
    }

    public void paint(String with) {
      color = with;
    }
  }

  @Shared(name = "test.Thing")
  static class Unequal {
    @Unique private String color = "white";

    @Accessor
    public String color() {
      return color;
    }

    @Index
    @Accessor
    public int length() {
      return color.length();
    }

    public void paint(String with) {
      color = with;
    }
  }

  @Shared(name = "test.Word")
  static class Whole {
    private String text = "";

    @Index
    @Accessor
    public int size() {
      return text.length();
    }

    public void write(String to) {
      text = to;
    }
  }

  @Shared(name = "test.Word")
  static class Trimmed {
    private String text = "";

    @Index
    @Accessor
    public int size() {
      return text.strip().length();
    }

    public void write(String to) {
      text = to;
    }
  }

  @Shared(name = "test.Word")
  static class Versioned {
    private String text = "";

    @Index(version = 1)
    @Accessor
    public int size() {
      return text.strip().length();
    }

    public void write(String to) {
      text = to;
    }
  }

  @Test
  void anAccessorThatComputesOtherValuesHasAnotherVersion(@TempDir Path folder) {
    String url = "file:" + folder.resolve("store");
    try (Stoa stoa = Stoa.open(url)) {
      stoa.get(Whole.class, 1).write(" red ");
      assertEquals(1, stoa.query(Whole.class).where(eq(Whole::size, 5)).count());
      // A put that is the last in the log is executed when the store opens, by the class then.
      stoa.list("others", String.class).add("one");
    }
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(0, stoa.query(Trimmed.class).where(eq(Trimmed::size, 3)).count());
      assertEquals(
          List.of(
              "the index size number of test.Word has test.Word[1] under 5, and the object has 3",
              "the index size number of test.Word lacks test.Word[1], which has 3"),
          stoa.checkIndexes(Trimmed.class));
    }
    try (Stoa stoa = Stoa.open(url)) {
      var sizes = stoa.query(Versioned.class);
      assertEquals(1, sizes.where(eq(Versioned::size, 3)).count());
      check(stoa, Versioned.class);
    }
  }

  private static <T> Query<T> red(Stoa stoa, Class<T> type) {
    return stoa.query(type).where(eq(Condition.<T, String>field("color"), "red"));
  }

  @Test
  void anIndexThatIsDeclaredLaterGetsTheExistingObjects(@TempDir Path folder) {
    String url = "file:" + folder.resolve("store");
    try (Stoa stoa = Stoa.open(url)) {
      for (int i = 0; i < 20; i++) {
        stoa.get(Plain.class, i).paint(i % 4 == 0 ? "red" : "blue " + i);
      }
      assertThrows(IllegalArgumentException.class, () -> stoa.query(Plain.class));
    }
    try (Stoa stoa = Stoa.open(url)) {
      stoa.get(Indexed.class, 20).paint("red");
      assertTrue(red(stoa, Indexed.class).explain().contains("enters existing objects"));
      assertEquals(6, red(stoa, Indexed.class).count());
      assertEquals(
          "test.Thing by its index color text: 1 value", red(stoa, Indexed.class).explain());
      check(stoa, Indexed.class);
    }
    // Earlier code does not keep the index.
    try (Stoa stoa = Stoa.open(url)) {
      stoa.get(Plain.class, 1).paint("red");
      stoa.get(Plain.class, 21).paint("red");
    }
    try (Stoa stoa = Stoa.open(url)) {
      assertEquals(8, red(stoa, Indexed.class).count());
      check(stoa, Indexed.class);
    }
    try (Stoa stoa = Stoa.open(url)) {
      NotUnique refused = assertThrows(NotUnique.class, () -> red(stoa, Unequal.class).count());
      assertTrue(String.valueOf(refused.getMessage()).contains("\"red\""));
      // What has a value of another one stays outside of all indexes, and each call tries again.
      for (int i = 0; i < 2; i++) assertEquals(7, refused(stoa, 0, 1, 4, 8, 12, 16, 20, 21));
      for (int i = 0; i < 22; i++) stoa.get(Unequal.class, i).paint("red " + i);
      assertEquals(10, stoa.query(Unequal.class).where(eq(Unequal::length, 5)).count());
      assertEquals(0, red(stoa, Unequal.class).count());
      check(stoa, Unequal.class);
    }
  }

  /// Returns how many objects are refused the value that they have.
  private static int refused(Stoa stoa, int... objects) {
    int refused = 0;
    for (int object : objects) {
      try {
        stoa.get(Unequal.class, object).paint("red");
      } catch (NotUnique taken) {
        refused++;
      }
    }
    return refused;
  }

  private static void check(Stoa stoa, Class<?> type) {
    assertEquals(List.of(), stoa.checkIndexes(type));
  }
}
