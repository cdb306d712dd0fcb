package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModuleMapTest {
  @TempDir Path folder;

  @BeforeEach
  void writeTwoModules() throws IOException {
    Samples.write(folder.resolve("pom.xml"), "<module>a</module><module>apps/b</module>");
    Samples.write(
        folder.resolve("a/src/main/java/module-info.java"),
        "/// The first\n/// of [two]. It does more.\nmodule a {}\n");
    Samples.write(folder.resolve("apps/b/pom.xml"), "<description>The second.</description>");
  }

  @Test
  void acceptsATrueMap() throws IOException {
    assertEquals(
        List.of(), problems("| [`a`](a) | The first of `two`. |\n| [b](apps/b) | The second. |\n"));
  }

  @Test
  void findsAModuleThatTheMapForgets() throws IOException {
    assertEquals(
        List.of("the map in ARCHITECTURE.md should say of apps/b: The second."),
        problems("| [`a`](a) | The first of `two`. |\n"));
  }

  @Test
  void findsASentenceThatWentStale() throws IOException {
    assertEquals(
        List.of("the map in ARCHITECTURE.md should say of a: The first of `two`."),
        problems("| [`a`](a) | The one and only. |\n| [b](apps/b) | The second. |\n"));
  }

  @Test
  void findsARowWithoutAModule() throws IOException {
    assertEquals(
        List.of("the map in ARCHITECTURE.md lists c, which is no module"),
        problems(
            "| [a](a) | The first of `two`. |\n| [b](apps/b) | The second. |\n| [c](c) | C. |\n"));
  }

  private List<String> problems(String map) throws IOException {
    Samples.write(folder.resolve("ARCHITECTURE.md"), "# Map\n\n" + map);
    return ModuleMap.problems(new Repository(folder));
  }
}
