package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WordsTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Thread.sleep(10);",
        "TimeUnit.SECONDS.sleep(1);",
        "// TODO: later",
        "/* FIXME */",
        "@Disabled",
        "@DisabledOnOs(WINDOWS)",
        "e.printStackTrace();",
        "Path.of(\"/home/someone/stoa\")"
      })
  void findsWhatDoesNotBelongInASource(String line) throws IOException {
    Samples.write(folder.resolve("a/src/A.java"), "class A {\n  " + line + "\n}\n");
    assertEquals(1, Words.problems(new Repository(folder)).size());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "// the reader sleeps until a thread wakes it",
        "var todos = list();",
        "// see https://example.org/home/page",
        "Path.of(\"/usr/lib\")"
      })
  void leavesOrdinaryTextAlone(String line) throws IOException {
    Samples.write(folder.resolve("a/src/A.java"), "class A {\n  " + line + "\n}\n");
    assertEquals(List.of(), Words.problems(new Repository(folder)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/// What the caller gets.",
        "// Who asks is answered.",
        "  /* What is sent. */",
        "   * Whoever comes first leads.",
        "/// Waits. What comes next is dropped.",
        "// Nobody holds it."
      })
  void findsSentencesWithoutANoun(String line) throws IOException {
    Samples.write(folder.resolve("a/src/main/java/A.java"), line + "\nclass A {}\n");
    Samples.write(folder.resolve("a/src/test/java/ATest.java"), line + "\nclass ATest {}\n");
    assertEquals(
        List.of(
            "a/src/main/java/A.java:1 has a sentence without a noun; name the thing or the actor: "
                + line.strip()),
        Words.problems(new Repository(folder)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"/// Returns what the method threw.", "String s = \"What is this?\";"})
  void leavesSentencesWithANounAlone(String line) throws IOException {
    Samples.write(folder.resolve("a/src/main/java/A.java"), "class A {\n  " + line + "\n}\n");
    assertEquals(List.of(), Words.problems(new Repository(folder)));
  }

  @Test
  void findsSentencesWithoutANounOnAPage() throws IOException {
    Samples.write(
        folder.resolve("docs/a.md"),
        """
        # What it does

        It waits. What comes next is dropped.
        What happens then? The store answers what was asked.
        Nobody waits, as said.
        """);
    assertEquals(
        List.of(3, 5),
        Words.problems(new Repository(folder)).stream()
            .map(problem -> Integer.valueOf(problem.replaceAll("\\D*(\\d+) .*", "$1")))
            .toList());
  }

  @Test
  void namesThePlace() throws IOException {
    Samples.write(folder.resolve("docs/a.md"), "# A\n\nThe data is in /home/me/data.\n");
    assertEquals(
        List.of("docs/a.md:3 names a path of one machine: The data is in /home/me/data."),
        Words.problems(new Repository(folder)));
  }

  @Test
  void leavesBuildOutputAlone() throws IOException {
    Samples.write(folder.resolve("a/target/gen/A.java"), "// TODO\n");
    Samples.write(folder.resolve(".git/a.md"), "/home/me\n");
    assertEquals(List.of(), Words.problems(new Repository(folder)));
  }
}
