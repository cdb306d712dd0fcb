package stoa.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class MainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  void listsTheBenchmarksWithoutAName() {
    assertEquals(0, run("bench"));
    assertTrue(out.toString().contains("  embedded "), out::toString);
  }

  @Test
  void printsItsUsage() {
    assertEquals(0, run("bench", "--help"));
    assertEquals(0, run("bench", "curves", "-h"));
    assertTrue(out.toString().startsWith("Usage: stoa bench"), out::toString);
    assertEquals("", err.toString());
  }

  @Test
  void refusesANameThatNoBenchmarkHas() {
    assertEquals(2, run("bench", "nonesuch"));
    assertTrue(err.toString().contains("no benchmark is called nonesuch"), err::toString);
  }

  @Test
  void refusesAPartThatABenchmarkDoesNotHave() {
    assertEquals(2, run("bench", "stacksync", "--part", "queue,nonesuch"));
    assertTrue(err.toString().contains("no part nonesuch; there are [server, "), err::toString);
    assertEquals(2, run("bench", "log", "--part", "queue"));
    assertTrue(err.toString().contains("--part is for cluster, migration, "), err::toString);
    assertEquals(2, run("bench", "ycsb", "--part", "nonesuch"));
    assertTrue(err.toString().contains("there are [figure, snapshots, large]"), err::toString);
  }

  private int run(String... arguments) {
    return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
  }
}
