package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NullMarksTest {
  @TempDir Path folder;

  @BeforeEach
  void writeAModule() throws IOException {
    Samples.write(folder.resolve("pom.xml"), "<module>a</module>");
    write("x/One.java", "class One {}");
    write("x/package-info.java", "package x;");
  }

  @Test
  void acceptsAMarkOfTheModuleOrOfThePackage() throws IOException {
    write("module-info.java", "@NullMarked module a {}");
    assertEquals(List.of(), NullMarks.problems(new Repository(folder)));
    write("module-info.java", "module a {}");
    write("x/package-info.java", "@NullMarked package x;");
    assertEquals(List.of(), NullMarks.problems(new Repository(folder)));
  }

  @Test
  void findsAPackageThatIsNotCheckedOrHasNoComment() throws IOException {
    write("x/y/Two.java", "class Two {}");
    assertEquals(
        List.of(
            "a/src/main/java/x is not NullMarked", "a/src/main/java/x/y has no package-info.java"),
        NullMarks.problems(new Repository(folder)));
  }

  private void write(String file, String text) throws IOException {
    Samples.write(folder.resolve("a/src/main/java").resolve(file), text);
  }
}
