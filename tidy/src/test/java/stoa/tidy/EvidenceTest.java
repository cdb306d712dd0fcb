package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvidenceTest {
  @TempDir Path folder;

  @Test
  void namesTestsAndSimulationsThatDoNotExist() throws IOException {
    Samples.write(folder.resolve("a/src/CrashTest.java"), "class CrashTest {}\n");
    Samples.write(folder.resolve("a/src/AScenario.java"), "String name = \"power-loss\";\n");
    Samples.write(
        folder.resolve("docs/guide/guarantees.md"),
        "| failure | seen | shown by |\n| a | `b` | `CrashTest`, `power-loss`, `GoneTest`, `gone` |\n");
    Samples.write(
        folder.resolve("docs/guide/security.md"),
        """
        | role | what |
        |---|---|
        | `read` | `read` |

        | promise | shown by |
        |---|---|
        | a | `CrashTest`, `LostTest` |
        """);
    assertEquals(
        List.of(
            "docs/guide/guarantees.md names no test: GoneTest",
            "docs/guide/guarantees.md names no simulation: gone",
            "docs/guide/security.md names no test: LostTest"),
        Evidence.problems(new Repository(folder)));
  }
}
