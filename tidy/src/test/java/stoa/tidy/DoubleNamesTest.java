package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoubleNamesTest {
  private static final Map<String, String> KNOWN = Map.of("Key", "an annotation; a name");

  @TempDir Path folder;

  @BeforeEach
  void writeTwoModules() throws IOException {
    for (String module : List.of("one", "two")) {
      write(module, "Key");
      write(module, "package-info");
    }
    write("one", "Place");
    write("bench", "Place");
  }

  @Test
  void acceptsAListedNameAndNamesOutsideOfTheProduct() {
    assertEquals(List.of(), problems(KNOWN));
  }

  @Test
  void findsANameOfTwoTypes() throws IOException {
    write("two", "Place");
    assertEquals(
        List.of("Place is the name of types in [one/src/main/java/a, two/src/main/java/a]"),
        problems(KNOWN));
  }

  @Test
  void findsAnAcceptedNameThatOneTypeHas() {
    assertEquals(
        List.of("Place is accepted as a name of several types, and is none"),
        problems(Map.of("Key", "", "Place", "")));
  }

  private List<String> problems(Map<String, String> accepted) {
    return DoubleNames.problems(new Repository(folder), accepted);
  }

  private void write(String module, String name) throws IOException {
    Samples.write(folder.resolve(module + "/src/main/java/a/" + name + ".java"), "");
  }
}
