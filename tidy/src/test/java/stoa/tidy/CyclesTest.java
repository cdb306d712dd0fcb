package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CyclesTest {
  @TempDir Path folder;

  @BeforeEach
  void writeTheModule() throws IOException {
    Samples.write(folder.resolve("pom.xml"), "<module>one</module>\n");
    write("a", "A", "import java.util.List;\nimport b.inner.B;\n");
  }

  @Test
  void acceptsPackagesInOneDirection() throws IOException {
    write("b/inner", "B", "");
    assertEquals(List.of(), problems());
  }

  @Test
  void findsTwoPackagesThatImportEachOther() throws IOException {
    write("b/inner", "B", "import a.A;\n");
    assertEquals(List.of("packages of one import each other: a -> b.inner -> a"), problems());
  }

  @Test
  void findsACycleOfThreeByAStaticImportOnce() throws IOException {
    write("b/inner", "B", "import c.C.Part;\n");
    write("c", "C", "import static a.A.name;\n");
    assertEquals(List.of("packages of one import each other: a -> b.inner -> c -> a"), problems());
  }

  private List<String> problems() {
    return Cycles.problems(new Repository(folder));
  }

  private void write(String directory, String name, String imports) throws IOException {
    Samples.write(
        folder.resolve("one/src/main/java/%s/%s.java".formatted(directory, name)),
        "package %s;\n%sclass %s {}\n".formatted(directory.replace('/', '.'), imports, name));
  }
}
