package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KnotsTest {
  @TempDir Path folder;

  @BeforeEach
  void writeFilesThatUseEachOther() throws IOException {
    Samples.write(folder.resolve("pom.xml"), "<module>one</module>\n");
    write("a", "A", "", "B b;");
    write("a", "B", "import b.C;\n", "C c;");
    write("b", "C", "import b.inner.*;\n", "/* A */ D d; String text = \"A\";");
    write("b/inner", "D", "import a.A.Part;\n", "A.Part part;");
    write("b/inner", "E", "import a.A;\n", "A a; // E");
  }

  @Test
  void acceptsWhatTheTableHas() throws IOException {
    table("| `one` | 1 | 4 |\n");
    assertEquals(List.of(), problems());
  }

  @Test
  void findsASetThatTheTableDoesNotHave() throws IOException {
    table("");
    String found = "a.A, a.B, b.C, b.inner.D";
    assertEquals(
        List.of(
            "4 files of one use each other, and docs/decisions/modules.md lists null: " + found),
        problems());
  }

  @Test
  void findsASetThatIsSmallerThanTheTableSays() throws IOException {
    write("b", "C", "", "");
    table("| `one` | 1 | 4 |\n");
    assertEquals(
        List.of("1 files of one use each other, and docs/decisions/modules.md lists 4: a.A"),
        problems());
  }

  private void table(String rows) throws IOException {
    Samples.write(folder.resolve("docs/decisions/modules.md"), rows);
  }

  private List<String> problems() {
    return Knots.problems(new Repository(folder));
  }

  private void write(String directory, String name, String imports, String body)
      throws IOException {
    Samples.write(
        folder.resolve("one/src/main/java/%s/%s.java".formatted(directory, name)),
        "package %s;\n%sclass %s { %s }\n"
            .formatted(directory.replace('/', '.'), imports, name, body));
  }
}
