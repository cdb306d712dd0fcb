package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConformanceTest {
  private static final List<String> JDK = List.of("LockTest: testLock testLock_fair testWait");

  @TempDir Path folder;

  private List<String> problems(String rows) throws IOException {
    Samples.write(
        folder.resolve("a/src/OurTest.java"), "  @Test\n  void locks() {}\n\n  void helps() {}\n");
    Samples.write(
        folder.resolve("docs/conformance.md"),
        "| reason | meaning |\n\n## LockTest\n\n| tests of the JDK | here |\n|---|---|\n" + rows);
    return Conformance.problems(new Repository(folder), JDK);
  }

  @Test
  void acceptsAPageThatHasEachTestOnce() throws IOException {
    assertEquals(
        List.of(),
        problems("| testLock (+fair) | `OurTest.locks`, differs |\n| testWait | interrupt |\n"));
  }

  @Test
  void findsTestsThatAreMissingUnknownOrWithoutAReason() throws IOException {
    assertEquals(
        List.of(
            "docs/conformance.md names no test of the JDK, or twice: LockTest.testGone",
            "docs/conformance.md has neither tests nor a reason: hard",
            "docs/conformance.md has no row for LockTest.testLock_fair",
            "docs/conformance.md has no row for LockTest.testWait",
            "docs/conformance.md names no test: OurTest.helps"),
        problems("| testLock | `OurTest.helps` |\n| testGone | hard |\n"));
  }
}
