package stoa.tidy;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JavaModulesTest {
  private static final String REASON = "<!-- Without module-info: its library names none. -->";
  private static final String NAME = "<Automatic-Module-Name>stoa.a</Automatic-Module-Name>";

  @TempDir Path folder;

  @BeforeEach
  void writeAModule() throws IOException {
    Samples.write(folder.resolve("pom.xml"), "<module>a</module>");
    Samples.write(folder.resolve("a/src/main/java/stoa/a/One.java"), "class One {}");
  }

  @Test
  void acceptsAModuleInfo() throws IOException {
    Samples.write(folder.resolve("a/src/main/java/module-info.java"), "module stoa.a {}");
    assertEquals(List.of(), problems(""));
    assertEquals(
        List.of("a has a module-info, and its manifest another name"), problems(REASON + NAME));
  }

  @Test
  void acceptsANameInTheManifestWithItsReason() throws IOException {
    assertEquals(List.of(), problems(REASON + NAME));
    assertEquals(1, problems(NAME).size());
    assertEquals(
        List.of("a is named stoa.b in its manifest, and has no such package"),
        problems(REASON + NAME.replace("stoa.a", "stoa.b")));
  }

  @Test
  void findsAModuleForUsersWithoutAName() throws IOException {
    assertEquals(
        List.of(
            "a is for programs outside, and has neither a module-info nor an Automatic-Module-Name"
                + " in the manifest of its jar"),
        problems(REASON));
    assertEquals(List.of(), problems(REASON + "<maven.install.skip>true</maven.install.skip>"));
  }

  private List<String> problems(String pom) throws IOException {
    Samples.write(folder.resolve("a/pom.xml"), pom);
    return JavaModules.problems(new Repository(folder));
  }
}
